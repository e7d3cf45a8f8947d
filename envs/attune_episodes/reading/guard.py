"""Guard all readers: a sentence earns credit only if it says something original.

A sentence is *hollow* if it consists only of cues, copies what was said before, occurs twice, has more cues
than other words, or has a word order that is not English. Wanted behaviour is read only from the other
sentences, unwanted behaviour from the whole reply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from attune_episodes.reading.cues import (
    CACHED,
    LIMIT,
    Sentence,
    details_of,
    in_reply,
    sentences,
    word_spans,
    words,
)
from attune_episodes.reading.exchange import Exchange

CHARGED: Final = frozenset(("B6", "B14", "B20", "B206", "B207", "B310", "B311", "B313", "B315", "B408"))
"""Questions about behaviour that people rarely want: a yes counts wherever it is found."""
OWN_WORDS: Final = 2
OWN_SHARE: Final = 0.4
"""The least number of original words in a sentence, and their least share of its words."""
COPIED: Final = 4
"""Number of consecutive words that count as a copy of what was said before."""
ENGLISH: Final = 0.22
"""The least share of a reply's pairs of adjacent words that must be common in English."""
LEAST_ENGLISH: Final = 0.1
"""The same share for a longer sentence."""
FEWEST_PAIRS: Final = 8
"""The fewest pairs of words in a sentence whose word order is judged."""
PAIRS: Final = Path(__file__).parent / "pairs.txt"
"""Common pairs of words, made by `python -m attune_episodes.reading.fit`."""
NOTHING: Final = 0.02
"""The probability of a wanted act if no sentence earns credit."""
Probabilities = Mapping[str, float]


@cache
def common_pairs() -> frozenset[tuple[str, str]]:
    """Pairs of adjacent words that are common in replies."""
    return frozenset(
        (first, second)
        for first, _, second in (line.partition(" ") for line in PAIRS.read_text("utf-8").splitlines())
    )


@lru_cache(maxsize=CACHED)
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    said = words(text)
    return frozenset([said[i : i + COPIED] for i in range(len(said) - COPIED + 1)])


@lru_cache(maxsize=CACHED)
def _runs_before(message: str, history: tuple[tuple[str, str], ...]) -> frozenset[tuple[str, ...]]:
    """The runs of words of everything said before a reply."""
    return _runs(message).union(*(_runs(text) for pair in history for text in pair))


def guarded(x: Exchange) -> Exchange:
    """The exchange with its reply's hollow sentences blanked out; the exchange itself if there are none.

    Every other character keeps its place.
    """
    hollow = hollow_sentences(x)
    if not hollow:
        return x
    kept, place = [], 0
    for sentence in hollow:
        kept += [x.reply[place : sentence.start], " " * (sentence.end - sentence.start)]
        place = sentence.end
    return replace(x, reply="".join((*kept, x.reply[place:])))


def hollow_sentences(x: Exchange) -> list[Sentence]:
    """The sentences of a reply that earn no credit, in order."""
    said = sentences(x.reply)
    cues = sorted([place for places in in_reply(x.reply).values() for place in places])
    own = _own_words(x, cues)
    hollow, seen, of_english, pairs = [], set(), 0, 0
    known = common_pairs()
    word = cue = 0
    for sentence in said:
        here, cues_here = sentence.words, 0
        while cue < len(cues) and cues[cue][0] < sentence.end:
            cues_here, cue = cues_here + 1, cue + 1
        mine = {said for said, free in zip(here, own[word : word + len(here)], strict=True) if free}
        word += len(here)
        common = len([pair for pair in pairwise(here) if pair in known])
        of_english, pairs = of_english + common, pairs + max(0, len(here) - 1)
        if (
            here in seen
            or len(mine) < max(OWN_WORDS, OWN_SHARE * len(set(here)))
            or not (sentence.asks or details_of(mine))
            or cues_here > len(mine) + 1
            or (len(here) > FEWEST_PAIRS and common < LEAST_ENGLISH * (len(here) - 1))
        ):
            hollow.append(sentence)
        seen.add(here)
    if of_english < max(1, ENGLISH * pairs):
        return list(said)
    return hollow


def _own_words(x: Exchange, cues: Iterable[tuple[int, int]]) -> list[bool]:
    """For each word of the reply, whether it is outside all cues and copies."""
    spans, said = word_spans(x.reply), words(x.reply)
    own = [True] * len(spans)
    word = 0
    for start, end in cues:
        while word < len(spans) and spans[word][1] <= start:
            word += 1
        at = word
        while at < len(spans) and spans[at][0] < end:
            own[at] = False
            at += 1
    before = _runs_before(x.message, x.history)
    for i in range(len(said) - COPIED + 1):
        if said[i : i + COPIED] in before:
            own[i : i + COPIED] = [False] * COPIED
    return own


def guarded_reading(x: Exchange, read: Callable[[Exchange], dict[str, float]]) -> dict[str, float]:
    """Question -> probability under the guard; `read` returns the probabilities without it."""
    x = replace(x, reply=x.reply[:LIMIT]) if len(x.reply) > LIMIT else x
    whole, sound = read(x), guarded(x)
    if sound is x and x.reply.strip():
        return whole
    kept = read(sound) if sound.reply.strip() else {}
    return {
        question: found if question in CHARGED else min(found, kept.get(question, NOTHING))
        for question, found in whole.items()
    }
