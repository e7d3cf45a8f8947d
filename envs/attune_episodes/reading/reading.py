"""`Reading`: the answers found in one reply, with their evidence; `Reader`: whatever makes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol, runtime_checkable

from attune_episodes.reading.exchange import Exchange
from attune_rewards.predictions import YesNo

HALF: Final = 0.5
"""The cut of a question where a reader names no other, and the probability that says nothing."""


class Span(NamedTuple):
    """A part of a text: `text[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A feeling that a reply says the person has, or that a message shows its writer to have."""

    family: str
    """A family of feelings of the simulated world, such as `tension`."""
    item: str | None
    """The PANAS item; None where the word is the family's and of no item."""
    sign: Literal[-1, 1]
    span: Span


@dataclass(frozen=True, slots=True)
class Reading:
    """The answers to yes/no questions about one reply."""

    probabilities: Mapping[str, float]
    """Question id -> probability of yes, in [0, 1]. A question that is not here was not read."""
    evidence: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """Question id -> the parts of the reply that a yes rests on, in order; none where there are none."""
    claims: tuple[Claim, ...] = ()
    """The feelings that the reply says the person has, in order."""
    cuts: Mapping[str, float] = field(default_factory=dict)
    """Question id -> the probability above which yes is read, where it is not ½."""

    def says(self, question: str) -> bool:
        """Whether yes is read: above the question's cut. A question at the cut or not read is no."""
        return self.probabilities.get(question, 0.0) > self.cuts.get(question, HALF)

    def answers(self, questions: Iterable[str] | None = None) -> dict[str, YesNo]:
        """Question -> yes or no, of these (all that were read); those not read or at the cut are left out."""
        asked = self.probabilities if questions is None else questions
        return {
            question: "yes" if self.says(question) else "no"
            for question in asked
            if self.probabilities.get(question, HALF) != self.cuts.get(question, HALF)
            and question in self.probabilities
        }


@runtime_checkable
class Reader(Protocol):
    """Reads replies. The same exchange gives the same reading; no text raises."""

    @property
    def name(self) -> str:
        """Short name for tables and files."""

    @property
    def questions(self) -> frozenset[str]:
        """The questions that it reads well enough to be paid or charged for."""

    def read(self, exchange: Exchange) -> Reading:
        """Read the reply of an exchange. It may answer more questions than `questions`."""
