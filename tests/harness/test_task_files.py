"""The task files, read without lm-eval."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from attune_data.extras import MissingExtraError
from attune_data.version import SCORING_VERSION
from attune_env.cli.paths import PLACES
from attune_rewards.predictions import STAGES

FOLDER = PLACES["lm-eval"].folder


class Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads `!function package.name` as that text."""


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(path.read_text("utf-8"), Loader=Loader)
    if "include" in found:
        found = read(path.parent / found.pop("include")) | found
    return found


def files() -> dict[str, dict[str, Any]]:
    return {path.stem: read(path) for path in sorted(FOLDER.glob("*.yaml"))}


def test_there_is_a_task_a_stage_one_of_all_and_two_groups_of_that() -> None:
    found = files()
    tasks = {name: one for name, one in found.items() if "group" not in one}
    groups = {name: one for name, one in found.items() if "group" in one}
    assert {name: one["task"] for name, one in tasks.items()} == {name: name for name in tasks}
    stages = {name: (one.get("dataset_kwargs") or {}).get("stage") for name, one in tasks.items()}
    assert stages == {"attune_all": None} | {f"attune_{stage}": stage for stage in STAGES}
    assert sorted(groups) == ["attune", "attunebench"]
    for name, one in groups.items():
        assert (one.pop("group"), one["task"]) == (name, ["attune_all"])
        # lm-eval leaves sizes out of one task's number and error only so
        assert [(m["metric"], m["weight_by_size"]) for m in one["aggregate_metric_list"]] == [
            ("composite_score", False),
            ("composite_strict", False),
        ]
        assert one["metadata"]["version"] == SCORING_VERSION
    assert groups["attune"] == groups["attunebench"]


def test_no_answer_is_cut_at_a_blank_line_and_no_example_is_shown() -> None:
    for one in files().values():
        if "group" not in one:
            assert one["generation_kwargs"]["until"] == ["<|im_end|>"]
            assert one["num_fewshot"] == 0
            assert one["class"] == "attune_env.lm_eval_tasks.task.AttuneTask"


def test_without_the_extra_the_class_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import attune_env.lm_eval_tasks as package

    for name in ("lm_eval", "lm_eval.api", "lm_eval.api.instance"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "attune_env.lm_eval_tasks.task", raising=False)
    monkeypatch.delitem(vars(package), "AttuneTask", raising=False)
    with pytest.raises(MissingExtraError, match=r'pip install "attune-env\[harness\]"'):
        _ = package.AttuneTask
    with pytest.raises(AttributeError, match="no attribute 'AttuneTusk'"):
        _ = package.AttuneTusk
