"""`rollouts_from`: logs as lm-eval writes them, read without lm-eval."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attune_data import DataError, load
from attune_data.errors import SettingsError
from attune_env.results import read_results, save_results
from attune_episodes import builtin_policy, rollout
from attune_episodes.frameworks.lm_eval import rollouts_from
from attune_episodes.frameworks.lm_eval.arguments import read_arguments
from attune_rewards.predictions import STAGES, Stage
from tests.command import data_folder, own
from tests.data.builders import Json, write
from tests.running.playing import book, sample, without_times

DATE = "2026-01-31T12-30-59.123456"


def samples(stage: Stage | None = None, **given: Any) -> list[Json]:
    """What lm-eval logs of three conversations, as far as it is read."""
    asked = read_arguments({f"attune_{k}": v for k, v in ({"number": 3} | given).items()}, stage)
    answers = {ids[0]: reply for ids, reply in book().pages.values()}
    return [
        {"doc": doc, "resps": [[answers[name]] for name in doc["requests"]], "target": ""}
        for doc in asked.documents
    ]


def log(folder: Path, lines: list[Json], task: str = "attune_all", model: str | None = "lab/m") -> Path:
    """A run's folder: samples, and the results that name the model."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"samples_{task}_{DATE}.jsonl"
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    if model is not None:
        write(folder / f"results_{DATE}.json", {"model_name": model})
    return file


def test_a_log_gives_the_rollouts_of_the_same_answers(tmp_path: Path) -> None:
    log(tmp_path / "logs" / "lab__m", samples())
    found = rollouts_from(tmp_path / "logs")
    for played, conversation in zip(found, sample(), strict=True):
        ours = rollout(conversation, builtin_policy("lexicon", sample()))
        assert without_times(played.result) == without_times(ours.result)
        assert played.total == ours.total
        assert played.result["em_model"] == played.policy == "lm_eval/lab/m"
        assert played.result["run_timestamp"] == "2026-01-31T12:30:59"
    paths = save_results(found, tmp_path / "results")
    read, problems, warnings = read_results(tmp_path / "results", sample())
    assert (len(paths), len(read), problems, warnings) == (3, 3, [], [])


def test_samples_of_single_stages_make_whole_results() -> None:
    whole = rollouts_from(samples())
    stages = [one for stage in reversed(STAGES) for one in samples(stage)]
    joined = rollouts_from(stages)
    assert [r.conversation.conversation_id for r in joined] == [c.conversation_id for c in sample()]
    for one, other in zip(whole, joined, strict=True):
        assert without_times(one.result) == without_times(other.result)


def test_data_that_differ_from_those_of_the_run_are_refused(tmp_path: Path) -> None:
    place = data_folder(tmp_path / "data", ["c-1"])
    asked = read_arguments({"attune_data": str(place)}, "draft")
    lines: list[Json] = [{"doc": doc, "resps": [["x"]] * len(doc["requests"])} for doc in asked.documents]
    assert len(rollouts_from(lines, place)) == len(rollouts_from(lines, load(place))) == 1
    with pytest.raises(DataError, match="name the data of the run"):
        rollouts_from(lines)
    changed = own("c-1", "P1")
    changed["turns"][0]["userMessage"] += "!"
    write(place / "conversation_1.json", changed)
    with pytest.raises(DataError, match="has changed since the run"):
        rollouts_from(lines, place)
    with pytest.raises(SettingsError, match="is endless"):
        rollouts_from(lines, "2*written+sample")


def test_other_prompts_or_wording_than_those_of_the_run_are_refused() -> None:
    for what in ("prompts", "codebook"):
        (one,) = samples("draft", number=1)
        told = json.loads(one["doc"]["settings"])
        told["fingerprints"][what] = "0123456789abcdef"
        one["doc"]["settings"] = json.dumps(told)
        with pytest.raises(DataError, match=rf"settings\.{what}: .*0123456789abcdef"):
            rollouts_from([one])


def test_what_is_no_log_of_ours_is_named_with_its_place(tmp_path: Path) -> None:
    (good,) = samples("draft", number=1)
    fewer = {**good, "resps": good["resps"][1:]}
    wrong: Any
    for wrong in ({"doc": {"question": "2 + 2?"}}, {"doc": None}, [], 3, None, fewer):
        with pytest.raises(DataError, match=r"sample 2: .*is it the log of another task"):
            rollouts_from([good, wrong])
    file = log(tmp_path, [good])
    file.write_text(file.read_text("utf-8") + '{"doc": {', "utf-8")
    with pytest.raises(DataError, match=r"jsonl:2: .*JSONDecodeError"):
        rollouts_from(file)
    missing = {**good["doc"], "requests": good["doc"]["requests"][1:]}
    with pytest.raises(DataError, match="is not in both"):
        rollouts_from([{"doc": missing, "resps": good["resps"][1:]}])
