"""`training_dataset`: which rows come, from what, in which order, which are drawn, and what is refused."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import datasets
import pytest

from attune_data import BenchmarkTrainingError, Conversation, DataError, SettingsError, UnknownNameError, load
from attune_data.constants import Provenance
from attune_data.simulate import LEVELS, Simulation
from attune_data.version import SCORING_VERSION, __version__
from attune_episodes import Settings, plan
from attune_episodes.trainers import training_dataset
from tests.data.builders import folder
from tests.episodes.players import example, unannotated

SAMPLE = load("sample")
COLUMNS = ["prompt", "id", "conversation_id", "participant_id", "stage", "turn", "level", "weight", "reward",
           "truth", "provenance"]  # fmt: skip


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
    assert reflect["turn"][:] == reflect["level"][:] == [None]
    assert reflect.features == rows.features
    asked = Settings(prompts="compact", stages=("reflect",))
    assert reflect[0]["prompt"] == plan(mine(), asked)[0].chat()
    assert training_dataset([mine()], stages=["reflect"], prompts="full")[0]["prompt"] != reflect[0]["prompt"]


def test_many_conversations_make_one_table_without_those_that_nothing_scores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("attune_episodes.trainers.rows.CHUNK", 8)
    many = [SAMPLE[0].model_copy(update={"conversation_id": f"c{i}"}) for i in range(10)]
    rows = training_dataset([unannotated().marked("own"), *many], stages=["reflect"])
    assert rows["conversation_id"][:] == [f"c{i}" for i in range(10)]


# --- simulated conversations ---------------------------------------------------------------------


def test_an_endless_world_is_a_stream_and_a_number_of_it_a_table() -> None:
    asked: dict[str, Any] = {"world_seed": 3, "level": "clear", "prompts": "compact"}
    stream, table = training_dataset(**asked), training_dataset(**asked, number=2)
    assert isinstance(stream, datasets.IterableDataset)
    assert (stream.column_names, stream.features) == (COLUMNS, table.features)
    assert list(stream.take(len(table))) == list(table)
    assert {(row["provenance"], row["level"]) for row in table} == {("simulated", "clear")}
    world = Simulation(3, level="clear")
    assert list(dict.fromkeys(table["conversation_id"])) == [world[i].conversation_id for i in range(2)]
    given = training_dataset(world, prompts="compact")
    assert list(given.take(len(table))) == list(table)
    others = training_dataset(world_seed=4, number=2)
    assert set(table["participant_id"]).isdisjoint(others["participant_id"])


def levels_of(**given: Any) -> list[tuple[str, str]]:
    rows = training_dataset(prompts="compact", stages=["reflect"], world_seed=1, **given)
    return [(row["level"], row["conversation_id"]) for row in islice(rows, 5)]


def test_a_list_of_levels_takes_turns_and_a_schedule_goes_from_one_to_the_next() -> None:
    worlds = {name: Simulation(1, level=name) for name in LEVELS}

    def wanted(*names: str) -> list[tuple[str, str]]:
        return [(name, worlds[name][index].conversation_id) for index, name in enumerate(names)]

    turns = wanted("plain", "default", "plain", "default", "plain")
    assert levels_of(level=["plain", LEVELS["default"]]) == turns
    assert levels_of(level=["plain", "default"], number=4) == turns[:4]
    assert levels_of(level={"plain": 1, "tangled": 2}) == wanted("plain", "tangled", "tangled")


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


@pytest.mark.parametrize("mark", ["own", "imported", "simulated"])
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
    ({"level": "easy"}, UnknownNameError, "easy"),
    ({"level": []}, SettingsError, "level is empty"),
    ({"level": {"plain": 0}}, SettingsError, '"plain" has 0 conversations'),
    ({"level": {"plain": 3}, "number": 3}, SettingsError, "leave out number"),
    ({"number": 0}, SettingsError, "at least 1"),
    ({"split": "dev"}, SettingsError, "split"),
    ({"data": "nowhere"}, DataError, "nowhere"),
    ({"data": "sample", "world_seed": 2}, SettingsError, "world_seed"),
    ({"data": "sample", "level": ["plain"]}, SettingsError, "level"),
    ({"data": Simulation(1), "number": 3}, SettingsError, "to data given by name, not to objects"),
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


def test_rows_of_the_written_corpus_are_of_its_train_part() -> None:
    rows = training_dataset("written", stages=["prefer"], number=2)
    train = load("written", split="train")
    assert {row["conversation_id"] for row in rows} == {one.conversation_id for one in train[:2]}
    with pytest.raises(SettingsError, match=r"is kept for evaluation; train on \"written:train\""):
        training_dataset("written:test")
    with pytest.raises(SettingsError, match="is kept for evaluation"):
        training_dataset("written", split="dev")
    for loaded, held in ((load("written:test"), "59 of 59"), (load("written"), "95 of 309")):
        for source in (loaded, iter(loaded)):  # a stream is refused at the first of them
            with pytest.raises(
                SettingsError, match=r"are kept for evaluation.*train on load\(\"written:train\"\)"
            ):
                list(training_dataset(source, stages=["reflect"], prompts="compact"))
        with pytest.raises(SettingsError, match=f"^{held} conversations"):
            training_dataset(loaded)


def test_mixtures_take_turns_by_weight_and_tell_the_level() -> None:
    rows = training_dataset("2*written+simulated", level="plain", stages=["prefer"], prompts="compact")
    order = list(dict.fromkeys((row["conversation_id"], row["level"]) for row in islice(rows, 40)))
    train, world = load("written", split="train"), Simulation(0, level="plain")
    assert order[:5] == [
        (train[0].conversation_id, None), (world[0].conversation_id, "plain"),
        (train[1].conversation_id, None), (train[2].conversation_id, None),
        (world[1].conversation_id, "plain"),
    ]  # fmt: skip
    table = training_dataset("written+simulated", number=4, stages=["prefer"], prompts="compact")
    assert Counter(table["provenance"]).keys() == {"own", "simulated"}
    # both end: one after the other
    both = training_dataset("written+sample", stages=["reflect"], prompts="compact")
    assert len(both) == len(train) + 20
    for refused in ("written:dev+simulated", "simulated+written:test"):
        with pytest.raises(SettingsError, match="is kept for evaluation"):
            training_dataset(refused)
