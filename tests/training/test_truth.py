"""The rows of a conversation and their `truth`, by hand; what is in neither; what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as quick

from attune_data import Conversation, DataError, SettingsError
from attune_data.format.constants import Q2_OPTIONS
from attune_data.version import SCORING_VERSION
from attune_episodes import Settings, plan
from attune_episodes.training.rows import RowMaker
from attune_episodes.training.truth import read_truth
from attune_rewards import RewardSpec
from tests.play.builders import EVERY_SETTING, conversation, reannotated, record, setting_id
from tests.play.players import SETTINGS, example
from tests.rewards.strategies import conversations

COMPOSITE = RewardSpec.preset("composite")
Json = dict[str, Any]


def rows(spec: RewardSpec = COMPOSITE, about: Conversation | None = None, **asked: Any) -> list[Json]:
    return list(RowMaker(Settings(**asked), spec).rows(about or example().marked("own")))


def test_one_row_for_each_request_that_a_part_scores() -> None:
    made = rows()
    # draft and assess_hp carry no weight; the weights are worked out in test_episode.py
    assert [row["id"] for row in made] == ["c1/1/assess", "c1/1/prefer", "c1/end/reflect"]
    assert [(row["stage"], row["turn"]) for row in made] == [
        ("assess", 1), ("prefer", 1), ("reflect", None),
    ]  # fmt: skip
    assert [row["weight"] for row in made] == pytest.approx([0.485, 0.245, 0.27], abs=1e-12)
    assert {(row["participant_id"], row["reward"], row["provenance"]) for row in made} == {
        ("c1", "composite", "own")
    }
    asked = {request.id: request.chat() for request in plan(example())}
    assert all(row["prompt"] == asked[row["id"]] for row in made)


def test_the_truth_holds_what_scoring_needs_and_nothing_else() -> None:
    assess, prefer, reflect = (json.loads(row["truth"]) for row in rows())
    assert assess == {
        "scoring": SCORING_VERSION, "conversation": "c1", "turn": 1, "stage": "assess",
        "asked": {"questions": ["B1", "B2"]},
        "parts": [["emotion_f1", 0.12, 0.0], ["emotion_va", 0.12, 0.0],
                  ["binary_om", 0.1225, 0.0], ["binary_hp", 0.1225, 0.0]],
        "annotated": {
            "tags": [{"emotion": "Upset", "intensity": 5}],
            "observed": [["B1", "yes"], ["B2", "no"]],
            "preferred": [["B1", "no"], ["B2", "yes"]],
        },
    }  # fmt: skip
    names = ("questionId", "responseA", "responseB", "winner")
    assert prefer["annotated"]["comparisons"] == [
        dict(zip(names, values, strict=True))
        for values in (("general", "original", "human", "B"), ("PW3", "alternate", "original", "A"))
    ]
    shown = {request.stage: request for request in plan(example())}["prefer"].comparisons
    assert prefer["asked"] == {"comparisons": [[c.number, c.index, c.swapped] for c in shown]}
    # q1, q3, the follow-up and three branches are not annotated, the negative total did not move
    assert reflect["annotated"] == {
        "pre_totals": [30, 20], "post_totals": [40, 20], "q2": Q2_OPTIONS[0], "branches": {"perceiving": 5},
    }  # fmt: skip
    assert [name for name, _, _ in reflect["parts"]] == ["panas_pa", "q2", "branch_perceiving"]


def test_few_parts_take_few_annotations_along_and_changes_the_items_before() -> None:
    (row,) = rows(RewardSpec.weighted("om", {"binary_om": 1}))
    assert set(json.loads(row["truth"])["annotated"]) == {"observed"}
    assert (row["weight"], row["reward"]) == (1.0, "om")
    truth = json.loads(rows(panas_strategy="delta")[-1]["truth"])
    assert truth["asked"]["changes"] is True
    assert sum(truth["annotated"]["pre"].values()) == 50  # 30 positive, 20 negative


def test_format_makes_rows_of_assess_hp_too() -> None:
    made = rows(COMPOSITE.with_format(0.1))
    assert [row["stage"] for row in made] == ["assess", "assess_hp", "prefer", "reflect"]


@quick(max_examples=40, deadline=None)
@given(about=conversations(), asked=SETTINGS)
def test_the_weights_of_a_conversation_sum_to_one(about: Conversation, asked: Settings) -> None:
    weights = [row["weight"] for row in RowMaker(asked, COMPOSITE).rows(about)]
    assert sum(weights) == pytest.approx(1.0 if weights else 0.0, abs=1e-12)


@pytest.mark.parametrize("settings", EVERY_SETTING, ids=setting_id)
def test_no_annotated_answer_moves_a_prompt(settings: Settings) -> None:
    raw, maker = record(), RowMaker(settings, COMPOSITE.with_format(0.1))
    mine, others = (list(maker.rows(Conversation.model_validate(one))) for one in (raw, reannotated(raw)))
    assert {row["stage"] for row in mine} >= {"assess", "prefer", "reflect"} & {*settings.stages}
    assert [row["prompt"] for row in mine] == [row["prompt"] for row in others]
    assert all(row["truth"] != other["truth"] for row, other in zip(mine, others, strict=True)
               if row["stage"] != "assess_hp")  # fmt: skip
    assert not any("FELT-1" in message["content"] for row in mine for message in row["prompt"])
    texts = {turn.user_message for turn in conversation().turns}
    assert not any(text in row["truth"] for text in texts for row in mine)


# --- refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("spec", "stages", "words"), [
    (COMPOSITE.terminal(), ("assess",), r"terminal, but each row is rewarded on its own"),
    (COMPOSITE, ("draft", "assess_hp"), "scores nothing in the stages"),
    (RewardSpec.preset("preference"), ("assess",), "scores nothing in the stages"),
    (RewardSpec.weighted("q", {"q1": 1}).with_format(1), ("draft",), "scores nothing in the stages"),
    (RewardSpec.preset("emotion").with_part("mine", "draft", lambda *_: 1.0, 1), ("prefer",),
     "scores nothing in the stages"),
])  # fmt: skip
def test_a_reward_that_makes_no_row_is_refused(spec: RewardSpec, stages: Any, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        RowMaker(Settings(stages=stages), spec).check()


@pytest.mark.parametrize("truth", ["", "{", "[]", "null", "{}", '{"scoring": "v9"}', '{"scoring": ["v0"]}'])
def test_a_truth_of_another_kind_or_version_is_refused(truth: str) -> None:
    with pytest.raises(DataError, match="make the rows again"):
        read_truth(truth)


def broken() -> Iterator[Any]:
    """Truths with something missing or wrong in them."""
    for row in rows():
        told = json.loads(row["truth"])
        for key in told:
            yield {name: value for name, value in told.items() if name != key}
            yield {**told, key: None if key != "turn" else "one"}
        yield {**told, "parts": []}
        yield {**told, "parts": [["wistful", 1.0, 0.0]]}
        yield {**told, "annotated": {}}
        yield {**told, "asked": []}
        yield {**told, "stage": "judge"}


@pytest.mark.parametrize("told", list(broken()))
def test_a_truth_that_was_tampered_with_is_refused_before_anything_is_scored(told: Any) -> None:
    with pytest.raises(DataError, match="expected the truth that training_dataset wrote"):
        read_truth(json.dumps(told))
