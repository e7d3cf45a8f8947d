"""The code of docs/lm-eval.md, run against a real server on the log of a real run."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_episodes.frameworks.lm_eval import rollouts_from
from attune_episodes.frameworks.lm_eval.arguments import ARGUMENTS, PREFIX
from attune_rewards.predictions import STAGES
from tests.endpoint import answers_of, serve
from tests.extras.lm_eval.evaluating import CLOSE, FOLDER
from tests.extras.pages import DOCS, run_page
from tests.frameworks.lm_eval.test_logs import log, samples
from tests.running.playing import sample


def test_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    log(tmp_path / "logs", samples())
    with serve(answers_of(sample(2))) as server:
        quick = 'metadata={"attune_number": 2}, include_defaults=False'
        first, second = run_page("lm-eval.md", f'"{server.url}/chat/completions"', quick)
    assert len(list((tmp_path / "results").iterdir())) == 3
    assert len(rollouts_from("logs")) == 3
    assert first is second
    mean = sum(100 * one.total for one in second["rollouts"]) / 2
    assert second["rollouts"][0].policy == "lab/my-model"
    group = second["found"]["groups"]["attunebench"]
    assert group["composite_strict,none"] == pytest.approx(mean, abs=CLOSE)
    assert capsys.readouterr().out.splitlines()[-1] == str(group["composite_score,none"])


def test_the_page_names_every_task_and_argument() -> None:
    page = (DOCS / "lm-eval.md").read_text(encoding="utf-8")
    for name in (*ARGUMENTS, *STAGES, "all"):
        assert f"`{PREFIX}{name}`" in page
    assert {path.stem for path in FOLDER.glob("*.yaml")} - {"attunebench", "attune"} == {
        f"{PREFIX}{name}" for name in (*STAGES, "all")
    }
