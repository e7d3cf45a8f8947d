"""A thousand conversations: none twice, and few sentences that anybody has read before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

import pytest

from attune_data.simulate import Simulation
from tests.data.simulate.worlds import Json, written

COUNT = 1000
END = re.compile(r"(?<=[.?!])\s+|\n")
LIMIT = 0.05


@cache
def thousand() -> tuple[Json, ...]:
    world = Simulation(7)
    return tuple(world.record(i) for i in range(COUNT))


def sentences(text: str) -> set[str]:
    """The sentences of more than four words, whatever their capitals."""
    return {part.strip().lower() for part in END.split(text) if len(part.split()) > 4}


def by_turn(some: Iterable[Json], who: set[str]) -> Iterator[set[str]]:
    """The sentences of each turn; those that a turn's texts share count once (edits copy what they keep)."""
    for record in some:
        texts = list(written(record))
        for first in range(0, len(texts), 4):
            yield {
                sentence
                for whose, text in texts[first : first + 4]
                if whose in who
                for sentence in sentences(text)
            }


def repeated(turns: Iterable[set[str]]) -> float:
    """The share of sentences that stand in another turn too."""
    counts = Counter(sentence for turn in turns for sentence in turn)
    return sum(n for n in counts.values() if n > 1) / counts.total()


def test_repeats_by_hand() -> None:
    # "one two three four five" stands in two turns: 2 of the 5 sentences; four words are too few to count
    turns = [
        sentences("One two three four five. Six seven eight nine ten! One two three four five."),
        sentences("one two three four five.\nA b c d. A b c d e f"),
        sentences("Well? Not what I meant at all"),
    ]
    assert [len(turn) for turn in turns] == [2, 2, 1]
    assert repeated(turns) == 2 / 5


def test_no_conversation_stands_twice() -> None:
    texts = Counter(tuple(text for _, text in written(record)) for record in thousand())
    assert len(texts) == COUNT
    messages = Counter(tuple(turn["userMessage"] for turn in record["turns"]) for record in thousand())
    assert len(messages) == COUNT
    assert len({record["conversationId"] for record in thousand()}) == COUNT


@pytest.mark.parametrize("who", [
    "person", "original", "alternate", "person original", "person original alternate human",
])  # fmt: skip
def test_few_sentences_are_repeated(who: str) -> None:
    assert repeated(by_turn(thousand(), set(who.split()))) < LIMIT


def test_messages_and_replies_are_hardly_ever_the_same() -> None:
    for who in ("person", "original"):
        counts = Counter(text for record in thousand() for whose, text in written(record) if whose == who)
        assert sum(n for n in counts.values() if n > 1) / counts.total() < 0.01, who


def test_the_alternates_say_something_else() -> None:
    same = total = 0
    for record in thousand()[:300]:
        texts = [text for _, text in written(record)]
        for first in range(0, len(texts), 4):
            _, original, alternate, human = texts[first : first + 4]
            assert alternate not in (original, human)
            same += human == original
            total += 1
    assert same / total < 0.4  # a person who is content leaves a reply as it is


def test_all_styles_topics_and_families_occur() -> None:
    models = Counter(record["metadata"]["model"] for record in thousand())
    topics = Counter(record["metadata"]["category"] for record in thousand())
    tags = Counter(
        tag["emotion"] for record in thousand() for turn in record["turns"] for tag in turn["moodShiftTags"]
    )
    # five styles and twelve topics, each as likely: a thousand draws hold well over half of the expected
    assert len(models) == 5
    assert min(models.values()) > 100
    assert len(topics) >= 10
    assert min(topics.values()) > 500 / len(topics)
    assert len(tags) == 20
    assert min(tags.values()) > 20
