"""Benchmark records and filler do not get into training: at the call, item by item, and saying why."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from attune_data import BenchmarkTrainingError, Conversation, SettingsError, for_training, load
from attune_data.source.guard import training_stream
from tests.data.builders import conversation, folder, record

WHY = "AttuneBench's authors forbid training on any benchmark conversation, annotation or metadata"
WAYS_ON = ('load("written:train")', "attune data import", 'load(path, provenance="own")',
           "allow_benchmark_training=True")  # fmt: skip


def named(name: str, mark: str | None = "own") -> Conversation:
    return conversation(conversationId=name, provenance=mark)


def refusal(*args: object, **kwargs: object) -> str:
    with pytest.raises(BenchmarkTrainingError) as caught:
        for_training(*args, **kwargs)  # type: ignore[arg-type]  # any of its arguments
    message = str(caught.value)
    assert WHY in message
    assert all(way in message for way in WAYS_ON)
    assert message.isprintable()
    return message


def test_what_may_be_trained_on_has_a_mark() -> None:
    assert for_training(load("sample")) == "own"
    assert for_training([named("a", "own"), named("b", "imported")]) == "imported"  # the most restricted


@pytest.mark.parametrize(("mark", "said"), [
    (None, "not marked, which counts as benchmark"), ("benchmark", "marked benchmark"),
])  # fmt: skip
def test_benchmark_records_are_refused_unless_the_one_flag_says_otherwise(
    mark: str | None, said: str
) -> None:
    one = named("c-9", mark)
    for given in (one, [one]):
        assert refusal(given).startswith(f'this conversation may not be trained on: "c-9" ({said}).')
    message = refusal([named("a"), named("b", "imported"), one])
    assert message.startswith(f'1 of 3 conversations may not be trained on: "c-9" ({said}')
    assert '"a"' not in message
    for allowed in (one, [named("a"), one]):
        assert for_training(allowed, allow_benchmark_training=True) == "benchmark"


def test_what_lies_under_test_samples_cannot_be_declared_your_own(tmp_path: Path) -> None:
    path = folder(tmp_path / "Test Samples" / "Sample200", {1: record(provenance="own")})
    message = refusal(load(path, provenance="own"))
    assert "(marked benchmark; " in message
    assert 'everything in a folder "Test Samples" stays benchmark' in message


@pytest.mark.parametrize("wrong", [record(), "sample", None, 3])
def test_what_is_no_conversation_is_named(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"conversations\[1\] is .*, not a Conversation; see load"):
        for_training([named("a"), wrong])  # type: ignore[list-item]  # the slip under test
    with pytest.raises(TypeError, match=r"item 1 of the stream is .*, not a Conversation"):
        list(training_stream(iter([named("a"), wrong])))  # type: ignore[arg-type]  # the same slip


@pytest.mark.parametrize("allowed", [False, True])
def test_filler_is_never_trained_on(allowed: bool) -> None:
    told = r'^1 of 2 conversations are filler \("b"\): .*; train on load\("written:train"\), on your own data'
    with pytest.raises(SettingsError, match=told):
        for_training([named("a"), named("b", "filler")], allow_benchmark_training=allowed)
    stream = training_stream(iter([named("a"), named("b", "filler")]), allow_benchmark_training=allowed)
    with pytest.raises(SettingsError, match=r'1 of 1 conversations are filler \("b"\)'):
        list(stream)


# --- lazy sources --------------------------------------------------------------------------------


class Stream:
    """Endless, from the start at each iteration; record `bad` and all after it are unmarked."""

    def __init__(self, bad: int | None = None) -> None:
        self.bad = bad
        self.made = 0

    def __iter__(self) -> Iterator[Conversation]:
        for index in itertools.count():
            self.made += 1
            mark = None if self.bad is not None and index >= self.bad else "own"
            yield named(f"s{index}", mark)


def ids(items: Iterator[Conversation], count: int) -> list[str]:
    return [item.conversation_id for item in itertools.islice(items, count)]


def test_an_endless_stream_passes_item_by_item_and_can_be_read_again() -> None:
    source = Stream()
    stream = training_stream(source)
    assert source.made == 1  # only the first was looked at
    assert ids(iter(stream), 3) == ids(iter(stream), 3) == ["s0", "s1", "s2"]


def test_a_stream_of_benchmark_records_is_refused_at_the_call() -> None:
    with pytest.raises(
        BenchmarkTrainingError, match=r'"s0" \(not marked, .*; item 0 of the stream\)'
    ) as caught:
        training_stream(Stream(bad=0))
    assert all(way in str(caught.value) for way in WAYS_ON)


def test_a_benchmark_record_later_in_a_stream_is_refused_when_it_comes() -> None:
    items = iter(training_stream(Stream(bad=2)))
    assert ids(items, 2) == ["s0", "s1"]
    with pytest.raises(BenchmarkTrainingError, match="item 2 of the stream"):
        next(items)


def test_a_generator_loses_nothing_and_says_so_when_read_twice() -> None:
    stream = training_stream(item for item in [named("a"), named("b")])
    assert ids(iter(stream), 5) == ["a", "b"]
    with pytest.raises(SettingsError, match=r"already been read.*give a list, or an object whose"):
        list(stream)
