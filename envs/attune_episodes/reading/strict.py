"""`strict`: combine two readers that must agree."""

from __future__ import annotations

from dataclasses import dataclass

from attune_episodes.reading.exchange import Exchange
from attune_episodes.reading.reading import HALF, Reader, Reading


@dataclass(frozen=True)
class StrictReader:
    """Two readers that must agree; where they do not, a question stays at ½ and earns nothing."""

    first: Reader
    second: Reader

    @property
    def name(self) -> str:
        """`strict(first, second)`."""
        return f"strict({self.first.name}, {self.second.name})"

    @property
    def questions(self) -> frozenset[str]:
        """The questions that both readers read reliably."""
        return self.first.questions & self.second.questions

    def read(self, exchange: Exchange) -> Reading:
        """Read the reply of an exchange: the questions that both read, the feelings that both find.

        The probability is the less certain one, measured from each reader's own cut.
        """
        one, other = self.first.read(exchange), self.second.read(exchange)
        found = {}
        for question in one.probabilities.keys() & other.probabilities.keys():
            a, b = centred(one, question), centred(other, question)
            found[question] = min(a, b, key=lambda p: abs(p - HALF)) if (a > HALF) == (b > HALF) else HALF
        order = [question for question in one.probabilities if question in found]
        spans = {q: one.evidence[q] for q in order if found[q] > HALF and q in one.evidence}
        claims = tuple(claim for claim in one.claims if claim in other.claims)
        return Reading({question: found[question] for question in order}, spans, claims)


def strict(first: Reader, second: Reader) -> StrictReader:
    """Combine two readers that must agree."""
    return StrictReader(first, second)


def centred(reading: Reading, question: str) -> float:
    """A probability rescaled, linearly on each side, so that its cut lies at ½."""
    probability, cut = reading.probabilities[question], reading.cuts.get(question, HALF)
    if probability <= cut:
        return HALF * probability / cut
    return HALF + HALF * (probability - cut) / (1 - cut)
