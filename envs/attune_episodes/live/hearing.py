"""Turns the reading of a reply into what the person hears: which sentences earn what they seem to do.

A reader tells what a reply does and skips sentences that say nothing (`attune_episodes.reading.guard`), but
not whether it is said to this person in particular. Each wanted act is credited to a different sentence, and
only if that sentence

* has at least four original words: words copied from the person do not count, even with "my" turned into
  "your";
* has not been said before;
* speaks to the person, not about the reply;
* is about what moves the person, that is, restates a detail of it in other words. With another detail of the
  conversation, it earns `HERE` of the credit; without any, `ANYBODY`. Taking up what the person said (B3,
  B15) then earns nothing.

Unwanted acts are penalised wherever the reader finds them; a yes to a question about advice counts only if
the reader finds advice. The less sure the reader is, the less a yes earns or costs: its strength grows from ½
at the cut to 1 halfway between the cut and certainty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from attune_data.simulate.hearing import Heard
from attune_data.simulate.story import Message
from attune_episodes.reading import Exchange, Reading, Span
from attune_episodes.reading.cues import details, details_of, plain, sentences, words

RUN: Final = 4
"""Number of consecutive words that count as copied, not taken up."""
FEWEST: Final = 4
"""The fewest original words that a sentence must have."""
HERE: Final = 0.6
"""The credit of a sentence about this conversation, but not about what moves the person."""
ANYBODY: Final = 0.3
"""The credit of a sentence that could be said to anybody."""
OWN: Final = 0.4
"""The least share of original words in a sentence; below it, the sentence is a copy and claims nothing."""
STALE: Final = 0.5
"""The share of a sentence's word runs said before above which the sentence counts as repeated."""
OF_ADVICE: Final = frozenset({"B310", "B313", "B316", "B408"})
ECHOES: Final = frozenset({"B3", "B15"})
MOST: Final = 60
"""How many sentences of a reply are weighed; later ones earn nothing."""
_OF_THE_REPLY: Final = re.compile(
    r"\b(?:th(?:e|is)|my) (?:reply|response|answer|message|text|assistant|model|reader|judge|reward|score)\b"
    r"|\bthe (?:person|user|participant)(?:'s)?\b|\bb\d{1,3}\b|\byes/no\b"
)
_TURNED: Final = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "our": "your", "we": "you", "us": "you",
    "am": "are", "i'm": "you're", "i've": "you've", "i'd": "you'd", "i'll": "you'll",
    "was": "were", "myself": "yourself",
}  # fmt: skip


class Weighed(NamedTuple):
    """One sentence of a reply, with what decides its credit."""

    start: int
    end: int
    size: int
    """How many words it has."""
    own: int
    """How many of them are not copied."""
    stale: bool
    sound: bool
    """Whether it can earn anything."""
    details: frozenset[str]
    """The details among its original words."""


def heard(
    exchange: Exchange,
    reading: Reading,
    questions: Iterable[str],
    wants: Mapping[str, float],
    message: Message,
) -> Heard:
    """Find what the person hears in a reply.

    Args:
        exchange: the reply, the message, and the earlier exchanges.
        reading: the reading of that exchange.
        questions: those that count; what the reader reads poorly is neither rewarded nor penalised.
        wants: construct -> what doing it is worth now.
        message: the simulated message, which knows what moves the person.
    """
    said = weighed(exchange)
    about = exchange.before.told
    moving = moving_details(message) & details(exchange.message) or details(exchange.message)
    done = dict.fromkeys(sorted(set(questions) & wants.keys()), 0.0)
    free = [sentence for sentence in said if sentence.sound]
    for question in sorted(set(questions) & wants.keys() if said else (), key=lambda q: (-wants[q], q)):
        if not reading.says(question):
            continue
        if question in OF_ADVICE and "B11" in reading.probabilities and not reading.says("B11"):
            continue
        cut = reading.cuts.get(question, 0.5)
        strength = min(1.0, 0.5 + (reading.probabilities[question] - cut) / (1.0 - cut))
        if wants[question] <= 0:
            done[question] = strength
            continue
        on = reading.evidence.get(question, ())
        best, credit = None, 0.0
        for sentence in free:
            if on and not _overlap(sentence, on):
                continue
            if sentence.details & moving:
                worth = 1.0
            else:
                worth = 0.0 if question in ECHOES else HERE if sentence.details & about else ANYBODY
            if worth > credit:
                best, credit = sentence, worth
        if best is not None:
            free.remove(best)
            done[question] = strength * credit
    copies = [sentence for sentence in said if sentence.own < OWN * sentence.size]
    total = sum(sentence.size for sentence in said)
    said_before = sum(sentence.size for sentence in said if sentence.stale)
    return Heard(
        done,
        tuple(dict.fromkeys(claim.family for claim in reading.claims if not _within(claim.span, copies))),
        len(words(exchange.reply)) if len(exchange.reply) < 20_000 else exchange.reply.count(" ") + 1,
        sum(sentence.own for sentence in said if not sentence.stale),
        said_before / total if total else 0.0,
        question=next((s.text for s in reversed(sentences(exchange.reply)) if s.text.endswith("?")), ""),
        advice=_said(exchange.reply, reading.evidence.get("B11", ())) if reading.says("B11") else "",
    )


def weighed(exchange: Exchange) -> list[Weighed]:
    """The first `MOST` sentences of a reply, each with what decides its credit."""
    copied = runs(exchange.message).union(*(runs(text) for text, _ in exchange.history))
    before = frozenset[tuple[str, ...]]().union(*(runs(reply) for _, reply in exchange.history))
    found = []
    earlier: set[tuple[str, ...]] = set()
    for sentence in sentences(exchange.reply)[:MOST]:
        said = turned(sentence.words)
        here = [said[i : i + RUN] for i in range(len(said) - RUN + 1)]
        again = len([run for run in here if run in before or run in earlier])
        stale = again > STALE * len(here) if here else (said in earlier)
        own = _not_copied(said, here, copied)
        sound = (
            not stale and len(own) >= max(FEWEST, OWN * len(said)) and not _OF_THE_REPLY.search(sentence.text)
        )
        found.append(
            Weighed(sentence.start, sentence.end, len(said), len(own), stale, sound, details_of(own))
        )
        earlier.update(here)
        earlier.add(said)
    return found


def moving_details(message: Message) -> frozenset[str]:
    """The details of what moves the person, with which a reply can take it up."""
    return frozenset[str]().union(*(_source_details(e.template.source) for e in message.echoes if e.moving))


@lru_cache(maxsize=4096)
def _source_details(source: str) -> frozenset[str]:
    return details(re.sub(r"\{[^}]*\}|[\[\]|]", " ", source))


def turned(said: Iterable[str]) -> tuple[str, ...]:
    """Words with the first person turned into the second."""
    return tuple([_TURNED.get(word, word) for word in said])


@lru_cache(maxsize=256)
def runs(text: str) -> frozenset[tuple[str, ...]]:
    """Every run of `RUN` words in a text."""
    said = turned(words(text))
    return frozenset([said[i : i + RUN] for i in range(len(said) - RUN + 1)])


def _not_copied(
    said: tuple[str, ...], here: Sequence[tuple[str, ...]], copied: frozenset[tuple[str, ...]]
) -> list[str]:
    taken = {i + k for i, run in enumerate(here) if run in copied for k in range(RUN)}
    return [word for i, word in enumerate(said) if i not in taken]


def _within(span: Span, those: Sequence[Weighed]) -> bool:
    return any(sentence.start <= span.start < sentence.end for sentence in those)


def _overlap(sentence: Weighed, spans: Sequence[Span]) -> bool:
    return any(span.start < sentence.end and sentence.start < span.end for span in spans)


def _said(text: str, spans: Sequence[Span]) -> str:
    return " ".join(plain(text)[span.start : span.end] for span in spans)
