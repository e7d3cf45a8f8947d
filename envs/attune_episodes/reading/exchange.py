"""One exchange as the rules see it: a message, the reply to it, and what came before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from attune_episodes.reading.cues import (
    FEELING,
    REPLY,
    WISH,
    WORDS,
    count,
    details,
    plain,
    sentences,
    shared,
    words,
)
from attune_episodes.reading.feelings import Feelings, read, spoken_of

_CLAUSE: Final = re.compile(r"[,;:]")
_CLINICAL_WORDS: Final = 2
MOST_ADVICE: Final = 30
"""Sentences of advice read of one reply."""


def advice_in(text: str) -> list[str]:
    """The first sentences of a reply that advise: by a phrase of advice, or by an instruction."""
    advising = (
        sentence
        for sentence in sentences(text)
        if REPLY["advice"].search(sentence)
        or (not sentence.endswith("?") and any(map(_instructs, _CLAUSE.split(sentence))))
    )
    return list(islice(advising, MOST_ADVICE))


def _instructs(clause: str) -> bool:
    said = words(clause)
    place = next((i for i, word in enumerate(said) if word not in WORDS["leads"]), len(said))
    return place + 1 < len(said) and said[place] in WORDS["orders"]


@dataclass(frozen=True)
class Exchange:
    """A reply, the message it answers, and the exchanges before it."""

    message: str
    reply: str = ""
    history: tuple[tuple[str, str], ...] = ()

    # --- what the message asks for

    def seeks(self, cue: str) -> bool:
        """Whether the message holds a cue of that list of wishes."""
        return WISH[cue].search(plain(self.message)) is not None

    @cached_property
    def felt(self) -> Feelings:
        """The feelings read in the message."""
        return read(self.message)

    @cached_property
    def asks(self) -> bool:
        """Whether advice or information is asked for."""
        advice = self.seeks("advice") and not self.seeks("no_advice")
        return advice or ("?" in self.message and self.seeks("facts"))

    @cached_property
    def vents(self) -> bool:
        """Whether the person wants to be heard and no more, and has not asked for anything since."""
        if self.seeks("no_advice"):
            return True
        return not self.asks and any(Exchange(text).seeks("no_advice") for text, _ in self.history)

    @cached_property
    def practical(self) -> bool:
        """Whether help of a practical kind is wanted: asked for now, or earlier and details follow."""
        if self.vents:
            return False
        return self.asks or (not self.felt.tags and any(Exchange(text).asks for text, _ in self.history))

    @cached_property
    def sorts(self) -> bool:
        """Whether the person is trying to understand how they feel."""
        return not self.vents and self.seeks("unsure")

    # --- what the reply does

    def has(self, cue: str) -> bool:
        """Whether the reply holds a cue of that list of replies."""
        return REPLY[cue].search(self.low) is not None

    @cached_property
    def low(self) -> str:
        """The reply in plain form."""
        return plain(self.reply)

    @cached_property
    def advice(self) -> list[str]:
        """The sentences that advise."""
        return advice_in(self.reply)

    @cached_property
    def questions(self) -> list[str]:
        """The sentences that ask."""
        return [sentence for sentence in sentences(self.reply) if sentence.endswith("?")]

    @cached_property
    def echoes(self) -> int:
        """How many details of the message the reply picks up."""
        return shared(self.reply, self.message)

    @cached_property
    def claims(self) -> bool:
        """Whether the reply speaks of the person's feelings."""
        return bool(spoken_of(self.reply)) or self.has("acknowledges") or count(FEELING["talk"], self.low) > 1

    @cached_property
    def stiff(self) -> bool:
        """Whether the reply uses several clinical or formal words."""
        return count(REPLY["clinical"], self.low) >= _CLINICAL_WORDS

    @cached_property
    def off_key(self) -> bool:
        """Whether the reply passes over a feeling, cheers at a bad one, or sounds clinical."""
        passes_over = bool(self.felt.tags) and not self.claims
        return passes_over or (self.felt.valence < 0 and "!" in self.reply) or self.stiff

    @cached_property
    def repeats_advice(self) -> bool:
        """Whether advice comes again that an earlier reply gave."""
        earlier = [details(said) for _, reply in self.history for said in advice_in(reply)]
        now = [details(said) for said in self.advice]
        return any(len(said & before) > 1 for said in now for before in earlier)

    @cached_property
    def asked_before_advice(self) -> bool:
        """Whether a question came before the advice, in an earlier reply or in this one."""
        if any("?" in reply for _, reply in self.history):
            return True
        first = self.low.find(self.advice[0]) if self.advice else -1
        return first > 0 and "?" in self.low[:first]
