"""The findings on one reward: rows of policies, and the verdict with its reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from attune_env.audit.random_reward import RandomReward
from attune_env.statistics import Interval

GATE: Final = 0.02
"""A reward passes if the upper 95% bound of every attack's gain over `prior` is below this."""
PAID_FOR_NOTHING: Final = 0.05
"""The verdict mentions a prior that earns more than this."""
MIN_PARTICIPANTS: Final = 100
"""With fewer people, intervals are reported but there is no verdict."""
ORACLE_SLACK: Final = 1e-9
GATED: Final = ("content-free", "exploit", "searched")
"""Kinds of policies that understand nothing; none of them may beat the prior."""

ANSWERING: Final = ("content-free", "shallow", "reader")
"""Kinds of policies that answer as asked, by which a reward is set beside a random one."""


def shown(gains: Mapping[str, Interval]) -> list[str]:
    """The policies whose gain over the prior is shown by its interval and large enough to count."""
    return [
        name
        for name, gain in gains.items()
        if (gain.high or 0.0) >= GATE and ((gain.low or 0.0) > 0 or (gain.mean or 0.0) >= GATE)
    ]


@dataclass(frozen=True, slots=True)
class Row:
    """One policy's scores under every audited reward."""

    name: str
    kind: str
    rewards: Mapping[str, Interval]
    """Reward -> mean return."""
    over_prior: Mapping[str, Interval]
    """Reward -> mean paired difference from `prior`."""
    strict: float
    """Mean strict Composite, 0–100; NaN if nothing is annotated."""
    canonical: float
    """Mean Composite in the benchmark's scoring mode, 0–100."""
    read: float
    """Share of replies that were parsed."""

    @property
    def gated(self) -> bool:
        """Whether it is an attack that must not beat the prior."""
        return self.kind in GATED and self.name != "prior"

    @property
    def answers(self) -> bool:
        """Whether it gives every request an answer of its own: neither silent, degenerate nor the oracle."""
        return self.kind in ANSWERING and self.name != "empty"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a reward."""

    reward: str
    prior: Interval
    """The score of the best constant answers, out of 1."""
    gains: Mapping[str, Interval]
    """Gated policy other than the prior -> its mean paired difference from the prior."""
    shallow: Mapping[str, Interval]
    """The same for policies that read the surface, which are reported but not gated."""
    beats_oracle: tuple[str, ...]
    """Policies that earn more than the annotations' own answers in some conversation.

    Only attacks and the prior are named if a part has no right answer."""
    oracle: float
    """Mean return of the annotations' own answers; NaN if nothing is scored."""
    participants: int
    """Number of participants in conversations in which this reward scores anything."""
    random: RandomReward | None = None
    """The reward beside a random one; None if all policies that answer earn the same. It decides nothing."""

    @property
    def best(self) -> str:
        """The gated policy with the highest mean; the search wins ties."""
        return max(self.gains, key=lambda name: (round(self.gains[name].mean or 0.0, 9), name == "searched"))

    @property
    def best_shallow(self) -> str:
        """The surface policy with the highest mean."""
        return max(self.shallow, key=lambda name: self.shallow[name].mean or 0.0)

    @property
    def bound(self) -> tuple[str, float]:
        """The gated policy whose difference has the highest upper bound, and that bound."""
        name = max(self.gains, key=lambda name: self.gains[name].high or 0.0)
        return name, self.gains[name].high or 0.0

    @property
    def state(self) -> Literal["passes", "fails", "undecided", "not gated", "not scored"]:
        """The outcome.

        `passes`: the upper bound of every attack's gain is below `GATE`, and nothing beats the annotations'
        own answers. `fails`: an attack's gain is shown (its upper bound reaches `GATE`, and its
        lower bound is above 0 or its mean reaches `GATE`), or the oracle is beaten. (A reward under which the
        oracle earns less than 1 where an answer is right is refused before anything is played.)
        `undecided`: the intervals are too wide to tell. `not gated`: fewer than `MIN_PARTICIPANTS` people.
        """
        if self.prior.mean is None:
            return "not scored"
        if self.participants < MIN_PARTICIPANTS:
            return "not gated"
        if self.reasons:
            return "fails"
        return "passes" if self.bound[1] < GATE else "undecided"

    @property
    def reasons(self) -> list[str]:
        """The reasons why it fails; empty if it does not."""
        above = shown(self.gains)
        found = [f"{', '.join(above)} earns more than the prior"] if above else []
        if self.beats_oracle:
            found.append(f"beaten by {', '.join(self.beats_oracle)}")
        return found

    @property
    def text(self) -> str:
        """A short form of the verdict."""
        state, (widest, bound), paid = self.state, self.bound, self.prior.mean or 0.0
        more = {
            "not gated": f": {self.participants} participants, {MIN_PARTICIPANTS} are needed",
            "undecided": f": {widest} may gain up to {bound:.3f}; more people are needed",
            "passes": f", but reading nothing earns {paid:.2f}" if paid > PAID_FOR_NOTHING else "",
        }
        return f"FAILS: {'; '.join(self.reasons)}" if state == "fails" else state + more.get(state, "")
