"""`to_dataset`: which rows there are, what stands in them, and what is refused."""

from __future__ import annotations

import itertools
import json
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import datasets
import pytest
from hypothesis import given
from hypothesis import settings as quick

from attune_data import BenchmarkTrainingError, Conversation, SettingsError, load
from attune_data.constants import Q2_OPTIONS, Provenance
from attune_data.version import SCORING_VERSION, __version__
from attune_episodes import Settings, plan, to_dataset
from attune_episodes.training.rows import RowMaker
from attune_rewards import Draft, RewardSpec, Stage
from tests.data.builders import folder
from tests.episodes.players import SETTINGS, example
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


def test_format_makes_rows_of_assess_hp_too() -> None:
    rows = to_dataset([mine()], reward=COMPOSITE.with_format(0.1))
    assert rows["stage"][:] == ["assess", "assess_hp", "prefer", "reflect"]
    assert sum(rows["weight"]) == pytest.approx(1.0, abs=1e-12)


# --- promises ------------------------------------------------------------------------------------


@quick(max_examples=25, deadline=None)
@given(about=conversations(), asked=SETTINGS)
def test_the_weights_of_a_conversation_sum_to_one(about: Conversation, asked: Settings) -> None:
    weights = [row["weight"] for row in RowMaker(asked, COMPOSITE).rows(about)]
    assert sum(weights) == pytest.approx(1.0 if weights else 0.0, abs=1e-12)


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


SAMPLE = load("sample")


@dataclass(frozen=True)
class Endless:
    """The sample over and over under new names; from `bad` on its records are marked benchmark."""

    bad: int | None = None

    def __iter__(self) -> Iterator[Conversation]:
        for index in itertools.count():
            about = SAMPLE[index % len(SAMPLE)]
            mark: Provenance = "benchmark" if self.bad is not None and index >= self.bad else "own"
            yield about.model_copy(update={"conversation_id": f"s{index}", "provenance": mark})


@dataclass(frozen=True)
class Once:
    """The sample as a lazy source that can be read again."""

    def __iter__(self) -> Iterator[Conversation]:
        return iter(SAMPLE)


def ids(rows: Any, count: int) -> list[str]:
    return [row["id"] for row in islice(rows, count)]


def test_a_lazy_source_gives_the_rows_of_the_table() -> None:
    stream = to_dataset(Once(), Settings(panas_strategy="delta"), "skill")
    assert isinstance(stream, datasets.IterableDataset)
    table = to_dataset(SAMPLE, Settings(panas_strategy="delta"), "skill")
    assert list(stream) == table.to_list()
    assert stream.features == table.features
    assert "reward skill, no benchmark records." in stream.info.description


def test_an_endless_source_is_endless_and_starts_anew_at_each_pass() -> None:
    stream = to_dataset(Endless())
    first = ids(stream, 300)
    assert first == ids(stream, 300)
    assert len(set(first)) == 300
    assert ids(stream.take(5), 9) == first[:5]
    assert ids(stream.skip(5), 5) == first[5:10]


def test_a_stream_resumes_where_it_was() -> None:
    stream = to_dataset(Endless())
    rows = iter(stream)
    before = [next(rows)["id"] for _ in range(20)]
    state = stream.state_dict()
    after = [next(rows)["id"] for _ in range(5)]
    again = to_dataset(Endless())
    again.load_state_dict(state)
    assert ids(again, 5) == after
    assert ids(to_dataset(Endless()), 25) == before + after


def test_a_stream_travels_to_a_worker_process() -> None:
    stream = to_dataset(Once(), reward="skill")
    assert ids(pickle.loads(pickle.dumps(stream)), 400) == ids(stream, 400)


def test_benchmark_records_are_refused_at_the_call_or_when_they_come() -> None:
    with pytest.raises(BenchmarkTrainingError, match=r'"s0" \(marked benchmark; item 0 of the stream\)'):
        to_dataset(Endless(bad=0))
    good = len(to_dataset(SAMPLE[:1]))
    rows = iter(to_dataset(Endless(bad=1)))
    assert {row["conversation_id"] for row in islice(rows, good)} == {"s0"}
    with pytest.raises(BenchmarkTrainingError, match="item 1 of the stream"):
        next(rows)
