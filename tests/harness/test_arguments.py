"""What `--metadata attune_…` may say, read without lm-eval."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attune_data import DataError
from attune_data.codebook import Codebook
from attune_data.errors import SettingsError, UnknownNameError
from attune_env.lm_eval_tasks.arguments import Asked, read_arguments
from attune_episodes import Settings, plan
from attune_rewards.predictions import STAGES
from tests.data.builders import write
from tests.front.command import data_folder, own


def asked(**given: Any) -> Asked:
    return read_arguments({f"attune_{name}": value for name, value in given.items()}, None)


def test_without_arguments_the_whole_protocol_is_asked_of_the_sample() -> None:
    found = read_arguments({"model": "lab/m", "seed": 5, "mode": "fast"}, None)
    assert found.settings == Settings()
    assert len(found.conversations) == 20
    assert found.settings.codebook.path is None


def test_a_task_of_one_stage_asks_that_one_whatever_the_list_says() -> None:
    found = read_arguments({"attune_stages": "assess,prefer,reflect"}, "draft")
    assert found.settings.stages == ("draft",)


@pytest.mark.parametrize("given", ["assess,prefer,reflect", ["reflect", "assess", "prefer"]])
def test_stages_are_a_list_or_a_text(given: object) -> None:
    assert asked(stages=given).settings.stages == ("assess", "prefer", "reflect")


def test_a_document_says_what_is_asked_and_nothing_of_what_was_annotated() -> None:
    found = asked(number=1, mode="omniscient")
    (doc,) = found.documents
    conversation = found.conversations[0]
    assert doc["requests"] == [request.id for request in plan(conversation, found.settings)]
    assert set(doc) == {"conversation_id", "fingerprint", "requests", "settings"}
    assert json.loads(doc["settings"])["mode"] == "omniscient"


def test_a_simulated_world_is_as_large_as_said() -> None:
    assert len(asked(data="simulated", number=2, world_seed=3).conversations) == 2
    with pytest.raises(SettingsError, match="have no end; say how many conversations: attune_number=20"):
        asked(data="simulated")


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
    with pytest.raises(DataError, match="nothing annotated that reward 'composite' scores"):
        read_arguments({"attune_data": str(place)}, None)


def test_the_official_wording_beside_the_data_is_taken(tmp_path: Path) -> None:
    place = data_folder(tmp_path / "data", ["c-1"])
    assert asked(data=str(place)).settings.codebook.fingerprint == Codebook.own().fingerprint
    (tmp_path / "annotation_codebook.json").write_text("[]", "utf-8")
    with pytest.raises(DataError, match=r"annotation_codebook\.json"):
        asked(data=str(place))


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
    ({"attune_world_seed": 3}, SettingsError, 'describe data="simulated"'),
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
