"""What earns no credit: cues without words of one's own, copies, repetitions, words in no order."""

from __future__ import annotations

import random

import pytest

from attune_data import load
from attune_episodes.reading import READERS, Exchange, reader
from attune_episodes.reading.cues import sentences
from attune_episodes.reading.examples import examples
from attune_episodes.reading.guard import CHARGED, guarded, hollow_sentences

MESSAGE = "My landlord cancelled the lease yesterday and I feel sad about leaving the garden."
OWN = "Nine summers of digging went into those beds before that letter came."


def kept(reply: str, history: tuple[tuple[str, str], ...] = ()) -> list[str]:
    exchange = Exchange(MESSAGE, reply, history)
    hollow = hollow_sentences(exchange)
    return [sentence.text for sentence in sentences(reply) if sentence not in hollow]


def test_only_sentences_with_words_of_their_own_are_kept() -> None:
    said = OWN.lower()
    assert kept(OWN) == [said]
    assert kept(f"{OWN} I hear you. That makes sense.") == [said]  # cues and no more
    assert kept(f"{OWN} {OWN}") == [said]  # twice
    assert kept(f"{OWN} So my landlord cancelled the lease yesterday.") == [said]  # the message again
    assert kept(f"{OWN} What now?", (("Hi", OWN),)) == []  # an earlier reply again, and nothing of its own


def test_the_guard_keeps_every_other_character_in_its_place() -> None:
    reply = f"I hear you. {OWN}"
    assert guarded(Exchange(MESSAGE, reply)).reply == " " * 11 + reply[11:]
    plain = Exchange(MESSAGE, OWN)
    assert guarded(plain) is plain


@pytest.mark.parametrize("name", READERS)
def test_stuffing_and_salad_do_nothing_that_is_wanted(name: str) -> None:
    stuffed = "It makes sense, it sounds hard, maybe, perhaps, because, understandable, you could, I wonder. "
    words = [word for one in examples(load("sample")[:3]) for word in one.exchange.reply.split()]
    salads = [" ".join(random.Random(seed).sample(words, 60)) + "." for seed in range(20)]
    for text in (
        stuffed,
        stuffed * 20,
        MESSAGE,
        MESSAGE * 3,
        "I hear you. That makes sense. It sounds hard.",
    ):
        found = reader(name).read(Exchange(MESSAGE, text))
        assert [q for q in found.probabilities if found.says(q) and q not in CHARGED] == [], text
    credited = [
        sum(found.says(q) for q in found.probabilities if q not in CHARGED)
        for found in (reader(name).read(Exchange(MESSAGE, text)) for text in salads)
    ]
    assert sum(number > 0 for number in credited) <= 10  # most do not pass for English


def test_recorded_replies_are_hardly_touched() -> None:
    those = [one.exchange for one in examples(load("written", split="dev"))]
    hollow = sum(len(hollow_sentences(one)) for one in those)
    assert hollow <= 0.08 * sum(len(sentences(one.reply)) for one in those)
