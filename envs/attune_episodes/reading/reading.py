"""`Reading`: the answers found in one reply, with evidence. `Reader`: anything that makes one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol, runtime_checkable

from attune_episodes.reading.exchange import Exchange
from attune_rewards.predictions import YesNo

HALF: Final = 0.5
"""The default cut of a question, and the probability that leaves it undecided."""


class Span(NamedTuple):
    """A part of a text: `text[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A feeling that a reply attributes to the person, or that a message shows in its writer."""

    family: str
    """A family of feelings of the simulated world, such as `tension`."""
    item: str | None
    """The PANAS item; None if the word names only the family."""
    sign: Literal[-1, 1]
    span: Span


@dataclass(frozen=True, slots=True)
class Reading:
    """The answers to yes/no questions about one reply."""

    probabilities: Mapping[str, float]
    """Question id -> probability of yes, in [0, 1]. A question that is missing was not read."""
    evidence: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """Question id -> the parts of the reply that support a yes, in order; missing if there are none."""
    claims: tuple[Claim, ...] = ()
    """The feelings that the reply attributes to the person, in order."""
    cuts: Mapping[str, float] = field(default_factory=dict)
    """Question id -> the probability above which it is read as yes, if not ½."""

    def says(self, question: str) -> bool:
        """Whether the question is read as yes, that is, above its cut; at its cut or not read, it is no."""
        return self.probabilities.get(question, 0.0) > self.cuts.get(question, HALF)

    def answers(self, questions: Iterable[str] | None = None) -> dict[str, YesNo]:
        """Question -> yes or no, by default for all that were read, without those exactly at their cut."""
        asked = self.probabilities if questions is None else questions
        return {
            question: "yes" if self.says(question) else "no"
            for question in asked
            if self.probabilities.get(question, HALF) != self.cuts.get(question, HALF)
            and question in self.probabilities
        }


@runtime_checkable
class Reader(Protocol):
    """Anything that reads replies: deterministically, and without errors for any text."""

    @property
    def name(self) -> str:
        """A short name for tables and files."""

    @property
    def questions(self) -> frozenset[str]:
        """The questions that it reads reliably enough to be rewarded or penalised."""

    def read(self, exchange: Exchange) -> Reading:
        """Read the reply of an exchange. It may answer more questions than `questions`."""
