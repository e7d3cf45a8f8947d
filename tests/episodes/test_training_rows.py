"""`to_dataset`: which rows there are, what stands in them, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pytest
from hypothesis import given
from hypothesis import settings as quick

from attune_data import BenchmarkTrainingError, Conversation, DataError, SettingsError, UnknownNameError, load
from attune_data.constants import Q2_OPTIONS
from attune_data.version import SCORING_VERSION, __version__
from attune_episodes import Settings, plan, to_dataset
from attune_episodes.training.dataset import CHUNK
from attune_episodes.training.rows import RowMaker
from attune_rewards import STAGES, Draft, RewardSpec, Stage
from tests.data.builders import folder
from tests.episodes.builders import EVERY_SETTING, conversation, reannotated, record, setting_id
from tests.episodes.players import SETTINGS, example, unannotated
from tests.rewards.strategies import conversations

SAMPLE = load("sample")
COLUMNS = ["prompt", "id", "conversation_id", "participant_id", "stage", "turn", "weight", "reward", "nulls",
           "truth", "provenance"]  # fmt: skip
COMPOSITE = RewardSpec.preset("composite")
Json = dict[str, Any]


def mine(mark: str = "own") -> Conversation:
    """The example worked by hand in `test_episode.py`: one turn, all five stages."""
    return example().marked(mark)  # type: ignore[arg-type]  # a plain string, for parametrised tests


def unmarked() -> Conversation:
    return example().model_copy(update={"provenance": None})


# --- the rows by hand ----------------------------------------------------------------------------


def test_one_row_for_each_request_that_a_part_scores() -> None:
    rows = to_dataset([mine()])
    assert isinstance(rows, datasets.Dataset)
    assert rows.column_names == COLUMNS
    # draft and assess_hp carry no weight; the weights are worked out in test_episode.py
    assert rows["id"][:] == ["c1/1/assess", "c1/1/prefer", "c1/end/reflect"]
    assert rows["stage"][:] == ["assess", "prefer", "reflect"]
    assert rows["turn"][:] == [1, 1, None]
    assert rows["weight"][:] == pytest.approx([0.485, 0.245, 0.27], abs=1e-12)
    assert set(rows["conversation_id"]) == set(rows["participant_id"]) == {"c1"}
    assert (set(rows["reward"]), set(rows["nulls"]), set(rows["provenance"])) == (
        {"composite"},
        {"{}"},
        {"own"},
    )


def test_the_prompt_is_the_request_of_the_plan() -> None:
    asked = {request.id: request.chat() for request in plan(mine())}
    for row in to_dataset([mine()]):
        assert row["prompt"] == asked[row["id"]]
        assert row["prompt"][-1]["role"] == "user"


def test_the_truth_holds_what_scoring_needs_and_nothing_else() -> None:
    assess, prefer, reflect = map(json.loads, to_dataset([mine()])["truth"])
    assert assess == {
        "scoring": SCORING_VERSION, "conversation": "c1", "turn": 1, "stage": "assess",
        "asked": {"questions": ["B1", "B2"]},
        "parts": [["emotion_f1", 0.12, 0.0], ["emotion_va", 0.12, 0.0],
                  ["binary_om", 0.1225, 0.0], ["binary_hp", 0.1225, 0.0]],
        "annotated": {
            "tags": [["Upset", 5]],
            "observed": [["B1", "yes"], ["B2", "no"]],
            "preferred": [["B1", "no"], ["B2", "yes"]],
        },
    }  # fmt: skip
    assert prefer["annotated"] == {
        "comparisons": [["general", "original", "human", "B"], ["PW3", "alternate", "original", "A"]]
    }
    shown = {request.stage: request for request in plan(mine())}["prefer"].comparisons
    assert prefer["asked"] == {"comparisons": [[c.number, c.index, c.swapped] for c in shown]}
    # q1, q3, the follow-up and three branches are not annotated, the negative total did not move
    assert reflect["annotated"] == {
        "pre_totals": [30, 20], "post_totals": [40, 20], "q2": Q2_OPTIONS[0], "branches": {"perceiving": 5},
    }  # fmt: skip
    assert [name for name, _, _ in reflect["parts"]] == ["panas_pa", "q2", "branch_perceiving"]
    assert reflect["asked"]["changes"] is False
    assert set(reflect["asked"]["options"]) == {
        "q1_lookingFor", "q2_emotionClarity", "q3_modelFit", "q3_followUp_whatFeltOff",
    }  # fmt: skip


def test_a_reward_of_few_parts_takes_few_annotations_along() -> None:
    (row,) = to_dataset([mine()], reward=RewardSpec.weighted("om", {"binary_om": 1}))
    assert set(json.loads(row["truth"])["annotated"]) == {"observed"}
    assert (row["weight"], row["reward"]) == (1.0, "om")


def test_changes_take_the_items_before_along() -> None:
    row = to_dataset([mine()], Settings(panas_strategy="delta"))[-1]
    truth = json.loads(row["truth"])
    assert truth["asked"]["changes"] is True
    assert sum(truth["annotated"]["pre"].values()) == 50  # 30 positive, 20 negative


def test_nulls_of_the_spec_stand_in_the_row() -> None:
    spec = RewardSpec.preset("skill")
    for row in to_dataset([mine()], reward="skill"):
        parts = json.loads(row["truth"])["parts"]
        assert json.loads(row["nulls"]) == {name: spec.nulls[name] for name, _, _ in parts}


@pytest.mark.parametrize(("stages", "want"), [
    (("assess",), {"assess"}), (("draft", "prefer"), {"prefer"}), (STAGES, {"assess", "prefer", "reflect"}),
])  # fmt: skip
def test_a_subset_of_stages_has_its_own_weights(stages: tuple[Stage, ...], want: set[str]) -> None:
    rows = to_dataset(SAMPLE[:3], Settings(stages=stages))
    assert set(rows["stage"]) == want
    assert sum(rows["weight"]) == pytest.approx(3.0, abs=1e-12)


def test_format_makes_rows_of_assess_hp_too() -> None:
    rows = to_dataset([mine()], reward=COMPOSITE.with_format(0.1))
    assert rows["stage"][:] == ["assess", "assess_hp", "prefer", "reflect"]
    assert sum(rows["weight"]) == pytest.approx(1.0, abs=1e-12)


# --- promises ------------------------------------------------------------------------------------


@quick(max_examples=60, deadline=None)
@given(about=conversations(), asked=SETTINGS)
def test_the_weights_of_a_conversation_sum_to_one(about: Conversation, asked: Settings) -> None:
    weights = [row["weight"] for row in RowMaker(asked, COMPOSITE).rows(about)]
    assert sum(weights) == pytest.approx(1.0 if weights else 0.0, abs=1e-12)


@pytest.mark.parametrize("settings", EVERY_SETTING, ids=setting_id)
def test_no_annotated_answer_moves_a_prompt(settings: Settings) -> None:
    raw = record()
    rows, others = (
        [*RowMaker(settings, COMPOSITE.with_format(0.1)).rows(Conversation.model_validate(one))]
        for one in (raw, reannotated(raw))
    )
    assert [row["prompt"] for row in rows] == [row["prompt"] for row in others]
    assert all(row["truth"] != other["truth"] for row, other in zip(rows, others, strict=True)
               if row["stage"] != "assess_hp")  # fmt: skip
    assert not any("FELT-1" in message["content"] for row in rows for message in row["prompt"])


def test_rows_are_the_same_at_every_call() -> None:
    first, again = (to_dataset(load("sample")) for _ in range(2))
    assert first.to_list() == again.to_list()
    assert len(set(first["id"])) == len(first) == 214


def test_many_conversations_make_one_table() -> None:
    many = [SAMPLE[0].model_copy(update={"conversation_id": f"c{i}"}) for i in range(CHUNK + 2)]
    rows = to_dataset(many, Settings(stages=("reflect",)))
    assert rows["conversation_id"][:] == [f"c{i}" for i in range(CHUNK + 2)]


def test_types_are_fixed_whatever_the_rows_hold() -> None:
    reflect_only = to_dataset([mine()], Settings(stages=("reflect",)))
    assert reflect_only["turn"][:] == [None]
    assert reflect_only.features == to_dataset(SAMPLE).features
    assert reflect_only.features["turn"] == datasets.Value("int32")


def test_what_is_not_annotated_makes_no_row() -> None:
    assert set(to_dataset([unannotated().marked("own"), mine()])["id"]) == set(to_dataset([mine()])["id"])


# --- who may be trained on -----------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["own", "imported", "simulated"])
def test_each_row_carries_the_mark_of_its_conversation(mark: str) -> None:
    rows = to_dataset([mine(mark)])
    assert set(rows["provenance"]) == {mark}
    assert rows.info.description == (
        f"Training rows of attune-env {__version__} (scoring {SCORING_VERSION}), reward composite, "
        f"provenance {mark}."
    )


def test_benchmark_records_are_refused_at_the_call(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkTrainingError, match="1 of 21 conversations"):
        to_dataset([*SAMPLE, unmarked()])
    with pytest.raises(BenchmarkTrainingError, match="marked benchmark"):
        to_dataset([mine("benchmark")])
    under = folder(tmp_path / "Test Samples" / "Sample200", {1: SAMPLE[0].to_record()})
    with pytest.raises(BenchmarkTrainingError, match=r"Sample200.conversation_1\.json"):
        to_dataset(load(under, provenance="own"))


def test_past_the_guard_every_row_and_the_dataset_say_so() -> None:
    rows = to_dataset([mine(), unmarked().model_copy(update={"conversation_id": "c2"})],
                      allow_benchmark_training=True)  # fmt: skip
    assert dict(zip(rows["conversation_id"], rows["provenance"], strict=True)) == {
        "c1": "own",
        "c2": "benchmark",
    }
    assert "provenance benchmark. Made with allow_benchmark_training=True: AttuneBench's authors forbid" in (
        rows.info.description
    )


# --- refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given_", "message"), [
    ("sample", r"got the text 'sample': load\('sample'\) gives them"),
    (mine(), "got one Conversation: put it into a list"), (3, "got int"), (None, "got NoneType"),
])  # fmt: skip
def test_what_is_no_set_of_conversations_is_refused(given_: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        to_dataset(given_)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(TypeError, match=r"settings are a Settings\(…\), got str"):
        to_dataset(SAMPLE, "composite")  # type: ignore[call-overload]  # the slip under test


def test_an_unknown_reward_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'composite'"):
        to_dataset(SAMPLE, reward="compsite")


def test_a_part_of_ones_own_cannot_travel_and_says_what_to_do() -> None:
    for name in ("brevity", "format"):
        spec = COMPOSITE.with_part(name, "draft", lambda truth, turn, said: float(said == Draft("")), 0.1)
        with pytest.raises(
            SettingsError, match=f"part '{name}' of .*a row cannot carry; make the rows without"
        ):
            to_dataset(SAMPLE, reward=spec)


def test_a_terminal_reward_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"terminal, but each row is paid by itself; leave out .terminal"):
        to_dataset(SAMPLE, reward=COMPOSITE.terminal())


@pytest.mark.parametrize(("reward", "stages"), [
    ("composite", ("draft", "assess_hp")), ("preference", ("assess",)),
    (RewardSpec.weighted("q", {"q1": 1}).with_format(1), ("draft",)),
])  # fmt: skip
def test_a_reward_that_scores_no_stage_asked_is_refused(reward: Any, stages: tuple[Stage, ...]) -> None:
    for given_ in (SAMPLE, iter(SAMPLE)):
        with pytest.raises(SettingsError, match="scores nothing in the stages"):
            to_dataset(given_, Settings(stages=stages), reward)


def test_conversations_without_annotations_make_no_dataset() -> None:
    with pytest.raises(DataError, match="nothing annotated that reward 'emotion' scores"):
        to_dataset([unannotated().marked("own")], reward="emotion")
    with pytest.raises(DataError, match="at least one conversation"):
        to_dataset([])


def test_the_record_of_the_rich_conversation_is_whole() -> None:
    # the fixture has annotations in every stage, or the tests above would pass on nothing
    assert {row["stage"] for row in RowMaker(Settings(), COMPOSITE).rows(conversation())} == {
        "assess", "prefer", "reflect",
    }  # fmt: skip
