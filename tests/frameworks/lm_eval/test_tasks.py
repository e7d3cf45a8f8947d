"""What `--metadata attune_…` may say, read without lm-eval."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from attune_data import DataError
from attune_data.errors import SettingsError, UnknownNameError
from attune_data.extras import MissingExtraError
from attune_data.version import SCORING_VERSION
from attune_env.cli.paths import PLACES
from attune_episodes import plan
from attune_episodes.frameworks.lm_eval.arguments import Arguments, read_arguments
from attune_rewards.predictions import STAGES
from tests.command import data_folder, own
from tests.data.builders import write


def asked(**given: Any) -> Arguments:
    return read_arguments({f"attune_{name}": value for name, value in given.items()}, None)


def test_a_document_says_what_is_asked_and_nothing_of_what_was_annotated() -> None:
    found = asked(number=1, mode="omniscient")
    (doc,) = found.documents
    conversation = found.conversations[0]
    assert doc["requests"] == [request.id for request in plan(conversation, found.settings)]
    assert set(doc) == {"conversation_id", "fingerprint", "requests", "settings"}
    assert json.loads(doc["settings"])["mode"] == "omniscient"


def test_an_endless_mixture_is_as_large_as_said() -> None:
    assert len(asked(data="2*written+sample", number=2).conversations) == 2
    with pytest.raises(SettingsError, match="limit the number of conversations: attune_number=20"):
        asked(data="2*written+sample")


def test_conversations_with_nothing_to_ask_in_the_stage_are_left_out(tmp_path: Path) -> None:
    place = data_folder(tmp_path / "data", ["c-1", "c-2"])
    bare = own("c-2", "P2")
    for turn in bare["turns"]:
        turn["annotations"].update(pairwiseComparisons=[], selectedPairwiseQuestions=[])
    write(place / "conversation_2.json", bare)
    given = {"attune_data": str(place)}
    assert [one.conversation_id for one in read_arguments(given, "prefer").conversations] == ["c-1"]
    assert len(read_arguments(given, None).conversations) == 2
    with pytest.raises(DataError, match="nothing to ask in the stages prefer"):
        read_arguments(given | {"attune_where": "conversation_id=c-2"}, "prefer")


def test_nothing_annotated_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    place = data_folder(tmp_path / "data", ["c-1"])
    bare = own("c-1", postPanas=None, conversationWideQuestions=None)
    for turn in bare["turns"]:
        turn["moodShiftTags"] = None
        turn["annotations"] = None
    write(place / "conversation_1.json", bare)
    with pytest.raises(DataError, match="no annotation that reward 'composite' scores"):
        read_arguments({"attune_data": str(place)}, None)


@pytest.mark.parametrize(("given", "kind", "told"), [
    ({"attune_moode": "x"}, UnknownNameError, "did you mean 'attune_mode'"),
    ({"attune_mode": "verbos"}, UnknownNameError, "did you mean 'verbose'"),
    ({"attune_mode": 3}, UnknownNameError, "no mode named"),
    ({"attune_labels": "mask"}, UnknownNameError, "did you mean 'masked'"),
    ({"attune_stages": "assess,prefr"}, UnknownNameError, "did you mean 'prefer'"),
    ({"attune_stages": "assess"}, SettingsError, "leaves out prefer, reflect"),
    ({"attune_stages": 3}, SettingsError, "expected names such as assess,prefer,reflect"),
    ({"attune_seed": "7"}, SettingsError, "seed is '7'"),
    ({"attune_number": 0}, SettingsError, "number is 0"),
    ({"attune_number": "two"}, SettingsError, "number is"),
    ({"attune_where": 3}, SettingsError, "where is 3"),
    ({"attune_data": 2024}, SettingsError, "attune_data is 2024"),
    ({"attune_data": "no/such/ordner 🫠"}, DataError, "no/such/ordner 🫠"),
])  # fmt: skip
def test_a_wrong_argument_is_named(given: dict[str, Any], kind: type[Exception], told: str) -> None:
    with pytest.raises(kind) as caught:
        read_arguments(given, None)
    assert told in str(caught.value)


def test_a_task_of_a_stage_takes_every_stage() -> None:
    for stage in STAGES:
        assert read_arguments({"attune_number": 1}, stage).settings.stages == (stage,)


FOLDER = PLACES["lm-eval"][0]


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
            assert one["class"] == "attune_episodes.frameworks.lm_eval.run.AttuneTask"


def test_without_the_extra_the_class_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lm_eval", "lm_eval.api", "lm_eval.api.instance"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "attune_episodes.frameworks.lm_eval.run", raising=False)
    with pytest.raises(MissingExtraError, match=r'in the clone, pip install "\.\[lm-eval\]"'):
        importlib.import_module("attune_episodes.frameworks.lm_eval.run")
