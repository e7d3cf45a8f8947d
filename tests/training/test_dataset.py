"""`training_dataset`: which rows come, from what, in which order, which are drawn, and what is refused."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import datasets
import pytest

from attune_data import (
    BenchmarkTrainingError,
    Conversation,
    Conversations,
    DataError,
    SettingsError,
    UnknownNameError,
    load,
)
from attune_data.format.constants import Provenance
from attune_data.source.source import Source
from attune_data.version import SCORING_VERSION, __version__
from attune_env.testing import filler
from attune_episodes import Settings, plan
from attune_episodes.training import training_dataset
from tests.data.builders import folder
from tests.play.players import example, unannotated

SAMPLE = load("sample")
COLUMNS = ["prompt", "id", "conversation_id", "participant_id", "stage", "turn", "weight", "reward", "truth",
           "provenance"]  # fmt: skip


def ids(rows: Any, count: int = 10**6) -> list[str]:
    return [row["id"] for row in islice(rows, count)]


def mine(mark: str = "own") -> Conversation:
    return example().marked(mark)  # type: ignore[arg-type]  # a plain string, for parametrised tests


# --- conversations -------------------------------------------------------------------------------


def test_a_sequence_makes_a_table_with_fixed_columns_whatever_the_rows_hold() -> None:
    rows = training_dataset(SAMPLE)
    assert isinstance(rows, datasets.Dataset)
    assert rows.column_names == COLUMNS
    assert len(set(rows["id"])) == len(rows) == 214
    assert rows.to_list() == training_dataset("sample").to_list()
    reflect = training_dataset([mine()], settings=Settings(prompts="compact"), stages=["reflect"])
    assert reflect["turn"][:] == [None]
    assert reflect.features == rows.features
    asked = Settings(prompts="compact", stages=("reflect",))
    assert reflect[0]["prompt"] == plan(mine(), asked)[0].chat()
    assert training_dataset([mine()], stages=["reflect"], prompts="full")[0]["prompt"] != reflect[0]["prompt"]


def test_many_conversations_make_one_table_without_those_that_nothing_scores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("attune_episodes.training.rows.CHUNK", 8)
    many = [SAMPLE[0].model_copy(update={"conversation_id": f"c{i}"}) for i in range(10)]
    rows = training_dataset([unannotated().marked("own"), *many], stages=["reflect"])
    assert rows["conversation_id"][:] == [f"c{i}" for i in range(10)]


# --- lazy sources --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Endless:
    """The sample over and over under new names; from `bad` on its records are marked benchmark."""

    bad: int | None = None

    def __iter__(self) -> Iterator[Conversation]:
        for index in itertools.count():
            about = SAMPLE[index % len(SAMPLE)]
            mark: Provenance = "benchmark" if self.bad is not None and index >= self.bad else "own"
            yield about.model_copy(update={"conversation_id": f"s{index}", "provenance": mark})


def test_an_endless_source_starts_again_at_each_pass_and_travels_to_workers() -> None:
    stream = training_dataset(Endless())
    first = ids(stream, 250)
    assert first == ids(stream, 250) == ids(pickle.loads(pickle.dumps(stream)), 250)
    assert len(set(first)) == 250
    assert first[:214] == [f"s{int(i[7:9]) - 1}{i[9:]}" for i in training_dataset(SAMPLE)["id"]]
    assert "no benchmark records." in stream.info.description


def test_a_stream_resumes_where_it_was() -> None:
    stream = training_dataset(Endless())
    rows = iter(stream)
    before = [next(rows)["id"] for _ in range(20)]
    state = stream.state_dict()
    again = training_dataset(Endless())
    again.load_state_dict(state)
    assert before + ids(again, 5) == ids(stream, 25)


def test_shuffling_is_seeded_and_loses_nothing() -> None:
    plain, first, again, other = (
        training_dataset(SAMPLE, prompts="compact", shuffle=seed) for seed in (None, 1, 1, 2)
    )
    assert first["id"][:] == again["id"][:] != plain["id"][:]
    assert first["id"][:] != other["id"][:]
    assert sorted(first["id"]) == sorted(plain["id"])
    stream = training_dataset(Endless(), shuffle=1)
    shuffled = ids(stream, 20)
    assert shuffled == ids(stream, 20)
    assert len({name.split("/")[0] for name in shuffled}) > 10


# --- who may be trained on -----------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["own", "imported"])
def test_each_row_carries_the_mark_of_its_conversation(mark: str) -> None:
    rows = training_dataset([mine(mark)])
    assert set(rows["provenance"]) == {mark}
    assert rows.info.description == (
        f"Training rows of attune-env {__version__} (scoring {SCORING_VERSION}), reward skill, "
        f"provenance {mark}."
    )


def test_benchmark_records_are_refused_at_the_call_or_when_they_come(tmp_path: Path) -> None:
    unmarked = example().model_copy(update={"provenance": None})
    with pytest.raises(BenchmarkTrainingError, match="1 of 21 conversations"):
        training_dataset([*SAMPLE, unmarked])
    under = folder(tmp_path / "Test Samples" / "Sample200", {1: SAMPLE[0].to_record()})
    with pytest.raises(BenchmarkTrainingError, match=r"Sample200.conversation_1\.json"):
        training_dataset(under, provenance="own")
    with pytest.raises(BenchmarkTrainingError, match=r'"s0" \(marked benchmark; item 0 of the stream\)'):
        training_dataset(Endless(bad=0))
    rows = iter(training_dataset(Endless(bad=1)))
    with pytest.raises(BenchmarkTrainingError, match="item 1 of the stream"):
        list(islice(rows, 40))


def test_past_the_guard_every_row_and_the_dataset_say_so() -> None:
    other = example().model_copy(update={"provenance": None, "conversation_id": "c2"})
    rows = training_dataset([mine(), other], allow_benchmark_training=True)
    assert set(zip(rows["conversation_id"], rows["provenance"], strict=True)) == {
        ("c1", "own"), ("c2", "benchmark"),
    }  # fmt: skip
    stream = training_dataset(Endless(bad=1), allow_benchmark_training=True)
    assert [row["provenance"] for row in stream.take(40)][-1] == "benchmark"
    for made in (rows, stream):
        assert "provenance benchmark. Made with allow_benchmark_training=True" in made.info.description


# --- refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "error", "words"), [
    ({"sampling": "weights"}, UnknownNameError, "did you mean 'weight'.*each, weight, stage"),
    ({"shuffle": -1}, SettingsError, "shuffle is -1; it must be a seed"),
    ({"stages": ["judge"]}, UnknownNameError, "no stage named"),
    ({"stages": ["draft"]}, SettingsError, "scores nothing in the stages draft"),
    ({"prompts": "short"}, UnknownNameError, 'no prompt set named "short"; known: full, compact'),
    ({"reward": "skil"}, UnknownNameError, "did you mean 'skill'"),
    ({"reward": 3}, TypeError, "a reward is a RewardSpec or the name of a preset, got int"),
    ({"number": 0}, SettingsError, "at least 1"),
    ({"split": "dev"}, SettingsError, "is kept for evaluation"),
    ({"data": filler(2)}, SettingsError, "filler"),
    ({"data": iter(filler(2)), "allow_benchmark_training": True}, SettingsError, "filler"),
    ({"data": "nowhere"}, DataError, "nowhere"),
    ({"data": iter(SAMPLE), "number": 3}, SettingsError, "not to other objects"),
    ({"data": []}, DataError, "at least one conversation"),
    ({"data": iter(())}, DataError, "at least one conversation to train on"),
    ({"data": [unannotated().marked("own")]}, DataError, "no annotation that reward 'skill' scores"),
    ({"data": mine()}, TypeError, r"several conversations, such as load\(…\)"),
    ({"data": 3}, TypeError, "data is 3"),
    ({"data": iter([SAMPLE[0].to_record()])}, TypeError, "item 0 of the stream is .*, not a Conversation"),
])  # fmt: skip
def test_arguments_that_name_nothing_are_refused_at_the_call(
    given: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        training_dataset(**given)


def test_by_default_rows_are_of_the_train_part_of_the_written_corpus() -> None:
    train = load("written:train")
    rows = training_dataset(stages=["prefer"], prompts="compact")
    assert set(rows["conversation_id"]) == {one.conversation_id for one in train}
    few = training_dataset("written", number=2, stages=["prefer"], prompts="compact")
    assert set(few["conversation_id"]) == {one.conversation_id for one in train[:2]}
    with pytest.raises(SettingsError, match=r"is kept for evaluation; train on \"written:train\""):
        training_dataset("written:test")
    test, whole = load("written:test"), load("written")
    kept = (f"{len(test)} of {len(test)}", f"{len(whole) - len(train)} of {len(whole)}")
    for loaded, held in zip((test, whole), kept, strict=True):
        for source in (loaded, iter(loaded)):  # a stream is refused at the first of them
            with pytest.raises(
                SettingsError, match=r"are kept for evaluation.*train on load\(\"written:train\"\)"
            ):
                list(training_dataset(source, stages=["reflect"], prompts="compact"))
        with pytest.raises(SettingsError, match=f"^{held} conversations"):
            training_dataset(loaded)


def test_mixtures_take_turns_by_weight_and_are_guarded() -> None:
    rows = training_dataset("2*written+sample", stages=["prefer"], prompts="compact")
    assert isinstance(rows, datasets.IterableDataset)
    order = list(dict.fromkeys(row["conversation_id"] for row in islice(rows, 40)))
    train = [one.conversation_id for one in load("written:train")[:3]]
    assert order[:5] == [train[0], "sample-01", train[1], train[2], "sample-02"]
    table = training_dataset("3*sample+written", number=4, stages=["reflect"], prompts="compact")
    assert table["conversation_id"][:] == ["sample-01", "sample-02", train[0], "sample-03"]
    # without weights one follows the other
    both = training_dataset("written+sample", stages=["reflect"], prompts="compact")
    assert len(both) == len(load("written:train")) + 20
    with pytest.raises(SettingsError, match="is kept for evaluation"):
        training_dataset("2*sample+written:test")
    unmarked = SAMPLE[0].model_copy(update={"provenance": None})
    mixture = Source([(SAMPLE, 2), (Conversations([unmarked]), 1)])
    with pytest.raises(BenchmarkTrainingError, match=r'"sample-01" \(not marked'):
        ids(training_dataset(mixture), 100)
