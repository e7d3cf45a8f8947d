"""The command of the documents, as a person runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attune_env.results import save_results
from attune_episodes import Settings
from attune_episodes.frameworks.lm_eval import rollouts_from
from tests import PATIENCE
from tests.command import attune, read
from tests.endpoint import answers_of, serve
from tests.extras.lm_eval.evaluating import CLOSE
from tests.extras.lm_eval.test_numbers import noisy
from tests.running.playing import sample

COMMAND = """
lm_eval --model local-chat-completions \
  --model_args model=lab/mö,base_url={url}/chat/completions,num_concurrent=8 \
  --tasks attunebench --include_path "$(attune paths lm-eval)" --apply_chat_template \
  --metadata '{{"attune_number": 3, "attune_mode": "verbose"}}' --log_samples --output_path logs
"""


def test_the_command_gives_the_composite_and_its_samples_give_it_again(tmp_path: Path) -> None:
    data = sample()
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    with serve(answers_of(data, settings=Settings(mode="verbose"), change=noisy)) as server:
        done = subprocess.run(
            COMMAND.format(url=server.url),
            shell=True,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        assert server.unknown == []
    assert "|attunebench|" in done.stdout.replace(" ", "")
    (results,) = (tmp_path / "logs").rglob("results_*.json")
    group = json.loads(results.read_text("utf-8"))["groups"]["attunebench"]
    rollouts = rollouts_from(tmp_path / "logs")
    save_results(rollouts, tmp_path / "results")
    attune("score", "--results", "results", "--data", "sample", cwd=tmp_path)
    (ours,) = read(tmp_path / "scores.json")["aggregates"]
    assert (ours["em_model"], ours["mode"], ours["n_conversations"]) == ("lm_eval/lab/mö", "verbose", 3)
    for name in ("composite_score", "composite_strict"):
        assert group[f"{name},none"] == pytest.approx(ours[name], abs=CLOSE)
        assert group[f"{name}_stderr,none"] > 0
    assert rollouts[0].result["run_timestamp"][:10] in results.name
    # nothing that was annotated is in what lm-eval logs of a conversation
    (log,) = (tmp_path / "logs").rglob("samples_attune_all_*.jsonl")
    first = json.loads(log.read_text("utf-8").partition("\n")[0])
    assert set(first["doc"]) == {"conversation_id", "fingerprint", "requests", "settings"}
    assert first["target"] == ""
