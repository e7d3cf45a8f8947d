"""`Exchange`: a message, the reply to it and what came before, as the rules see them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final

from attune_rewards.reading.cues import (
    CACHED,
    WORDS,
    Sentence,
    details,
    in_message,
    in_reply,
    sentences,
    shared,
    word_list,
)
from attune_rewards.reading.feelings import Feelings, read
from attune_rewards.reading.scan import Found

_CLAUSE: Final = re.compile(r"[,;:]")
_CLINICAL_WORDS: Final = 2
MOST_ADVICE: Final = 30
"""The most sentences of advice read in one reply."""


@lru_cache(maxsize=CACHED)
def advice_in(text: str) -> tuple[Sentence, ...]:
    """The first sentences of a reply that advise, by a phrase of advice or an instruction."""
    phrases = in_reply(text).get(("replies", "advice"), ())
    advising = (
        sentence
        for sentence in sentences(text)
        if any(sentence.start <= start < sentence.end for start, _ in phrases)
        or (not sentence.asks and any(map(_instructs, _CLAUSE.split(sentence.text))))
    )
    return tuple(islice(advising, MOST_ADVICE))


def _instructs(clause: str) -> bool:
    said = word_list(clause)
    place = next((i for i, word in enumerate(said) if word not in WORDS["leads"]), len(said))
    return place + 1 < len(said) and said[place] in WORDS["orders"]


class Before:
    """A message and the exchanges before it, which are read once for all replies to it."""

    def __init__(self, message: str, history: tuple[tuple[str, str], ...] = ()) -> None:
        self.message, self.history = message, history

    def seeks(self, cue: str) -> bool:
        """Whether the message has a cue from that list of wishes."""
        return ("wishes", cue) in in_message(self.message)

    @cached_property
    def felt(self) -> Feelings:
        """The feelings read in the message."""
        return read(self.message)

    @cached_property
    def asks(self) -> bool:
        """Whether the message asks for advice or information."""
        advice = self.seeks("advice") and not self.seeks("no_advice")
        return advice or ("?" in self.message and self.seeks("facts"))

    @cached_property
    def vents(self) -> bool:
        """Whether the person only wants to be heard, and has not asked for anything since saying so."""
        if self.seeks("no_advice"):
            return True
        return not self.asks and any(Before(text).seeks("no_advice") for text, _ in self.history)

    @cached_property
    def practical(self) -> bool:
        """Whether practical help is wanted: asked for now, or earlier with details following now."""
        if self.vents:
            return False
        return self.asks or (not self.felt.tags and any(Before(text).asks for text, _ in self.history))

    @property
    def sorts(self) -> bool:
        """Whether the person is trying to understand how they feel."""
        return not self.vents and self.seeks("unsure")

    @cached_property
    def told(self) -> frozenset[str]:
        """The details of all messages so far."""
        return details(self.message).union(*(details(message) for message, _ in self.history))

    @cached_property
    def replied(self) -> frozenset[str]:
        """The details of the earlier replies."""
        return frozenset[str]().union(*(details(reply) for _, reply in self.history))

    @cached_property
    def known(self) -> frozenset[str]:
        """The details of everything said so far."""
        return self.told | self.replied

    @cached_property
    def advised(self) -> tuple[frozenset[str], ...]:
        """The details of each advising sentence of the earlier replies."""
        return tuple([s.details for _, reply in self.history for s in advice_in(reply)])

    @cached_property
    def said(self) -> tuple[frozenset[str], ...]:
        """The details of each sentence of the earlier replies."""
        return tuple([s.details for _, reply in self.history for s in sentences(reply)])


@lru_cache(maxsize=CACHED)
def before(message: str, history: tuple[tuple[str, str], ...]) -> Before:
    """The `Before` of a message, cached for the next reply to it."""
    return Before(message, history)


@dataclass(frozen=True)
class Exchange:
    """A reply, the message it answers, and the exchanges before it."""

    message: str
    reply: str = ""
    history: tuple[tuple[str, str], ...] = ()

    @cached_property
    def before(self) -> Before:
        """The message and what came before it."""
        return before(self.message, self.history)

    @cached_property
    def found(self) -> Found:
        """The cues of the reply."""
        return in_reply(self.reply)

    def has(self, cue: str) -> bool:
        """Whether the reply has a cue from that list for replies."""
        return ("replies", cue) in self.found

    def count(self, cue: str, table: str = "replies") -> int:
        """How many cues from a list the reply has."""
        return len(self.found.get((table, cue), ()))

    def with_cue(self, sentence: Sentence, *cues: str, table: str = "replies") -> bool:
        """Whether a sentence of the reply has a cue from one of these lists."""
        for cue in cues:
            for start, _ in self.found.get((table, cue), ()):
                if sentence.start <= start < sentence.end:
                    return True
        return False

    def having(self, cue: str) -> list[Sentence]:
        """The sentences of the reply that have a cue from that list for replies."""
        return [s for s in self.sentences if self.with_cue(s, cue)] if self.has(cue) else []

    @cached_property
    def named(self) -> frozenset[str]:
        """The PANAS items that the reply names, whoever feels them."""
        return frozenset([name for table, name in self.found if table == "named"])

    def names(self, sentence: Sentence) -> bool:
        """Whether a sentence of the reply names a feeling, whoever feels it."""
        return any(self.with_cue(sentence, item, table="named") for item in self.named)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of the reply."""
        return sentences(self.reply)

    @cached_property
    def advice(self) -> tuple[Sentence, ...]:
        """The sentences that advise."""
        return advice_in(self.reply)

    @cached_property
    def reflects(self) -> list[Sentence]:
        """The questions that make the person reflect, rather than ask for facts."""
        return [s for s in self.having("reflects") if s.asks and not self.with_cue(s, "facts")]

    @cached_property
    def echoes(self) -> int:
        """How many details of the message the reply picks up."""
        return shared(self.reply, self.message)

    @cached_property
    def claims(self) -> bool:
        """Whether the reply speaks of the person's feelings."""
        return bool(self.named) or self.has("acknowledges") or self.count("talk", "feelings") > 1

    @property
    def stiff(self) -> bool:
        """Whether the reply uses several clinical or formal words."""
        return self.count("clinical") >= _CLINICAL_WORDS

    @cached_property
    def off_key(self) -> bool:
        """Whether the reply ignores a feeling, is cheerful about a bad one, or sounds clinical."""
        felt = self.before.felt
        passes_over = bool(felt.tags) and not self.claims
        return passes_over or (felt.valence < 0 and "!" in self.reply) or self.stiff

    @cached_property
    def repeats_advice(self) -> bool:
        """Whether the reply repeats advice from an earlier reply."""
        return any(len(said.details & old) > 1 for said in self.advice for old in self.before.advised)

    @cached_property
    def asked_before_advice(self) -> bool:
        """Whether a question came before the advice, in an earlier reply or in this one."""
        if any("?" in reply for _, reply in self.history):
            return True
        return bool(self.advice) and "?" in self.reply[: self.advice[0].start]
