"""Typed predictions: one frozen class per stage, and the record of a whole conversation.

A field is None if it has no valid answer; a question id or index that is missing from a mapping was not
answered. `()` for tags or options is an answer, namely none. The letters of picks always refer to the sides
in the conversation's own comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from attune_data.format.constants import Side

Stage = Literal["draft", "assess", "assess_hp", "prefer", "reflect"]
STAGES: Final[tuple[Stage, ...]] = ("draft", "assess", "assess_hp", "prefer", "reflect")
"""The stages of the protocol in the order in which they are asked; `reflect` comes once, at the end."""
TURN_STAGES: Final[tuple[Stage, ...]] = STAGES[:-1]

YesNo = Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Tag:
    """A predicted emotion; `emotion` in the benchmark's spelling if it is one of the 20."""

    emotion: str
    """Its name."""
    intensity: int | None = None
    """1–7, or None if no valid one was given."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The reply that the model would have given."""

    text: str
    """The whole reply, never empty."""
    reasoning: str | None = None
    """The model's reasons, if it gave any; never scored by the package."""


@dataclass(frozen=True, slots=True)
class Assess:
    """Predictions of what the HP felt, what the OM did, and what the HP would have wanted."""

    tags: tuple[Tag, ...] | None = None
    """The feelings; None = no valid answer; () = neutral."""
    observed: Mapping[str, YesNo] = field(default_factory=dict)
    """Question id -> what the recorded reply did."""
    preferred: Mapping[str, YesNo] = field(default_factory=dict)
    """Question id -> what the person would have wanted."""
    reasoning: str | None = None
    """As in `Draft`."""


@dataclass(frozen=True, slots=True)
class AssessHP:
    """The same yes/no questions, re-asked in HP-facing wording."""

    observed: Mapping[str, YesNo] = field(default_factory=dict)
    """As in `Assess`."""
    preferred: Mapping[str, YesNo] = field(default_factory=dict)
    """As in `Assess`."""
    reasoning: str | None = None
    """As in `Draft`."""


@dataclass(frozen=True, slots=True)
class Prefer:
    """The HP's predicted choices: index of the comparison -> A or B, by its sides in the conversation."""

    picks: Mapping[int, Side] = field(default_factory=dict)
    """Index in the turn's `comparisons` -> "A" or "B"."""
    reasoning: str | None = None
    """As in `Draft`."""


@dataclass(frozen=True, slots=True)
class Reflect:
    """Predictions of how the HP felt after the conversation and what they said about it."""

    panas: Mapping[str, int] = field(default_factory=dict)
    """Item -> 1–7 after the conversation."""
    panas_totals: tuple[float | None, float | None] = (None, None)
    """Stated totals, positive and negative (10–70); used only if no item of that side is known."""
    panas_change: Mapping[str, int] | None = None
    """Item -> change (-6 to 6) if changes were asked for; `panas` is then derived from the pre items."""
    q1: tuple[str, ...] | None = None
    """Options of Q1; None = no valid answer."""
    q2: str | None = None
    """An option of Q2; None = no valid answer."""
    q3: str | None = None
    """An option of Q3; None = no valid answer."""
    q3_follow_up: tuple[str, ...] | None = None
    """What felt off; None = no valid answer; () = nothing."""
    branches: Mapping[str, int] = field(default_factory=dict)
    """Branch -> 1–7."""
    reasoning: str | None = None
    """As in `Draft`."""


Prediction = Draft | Assess | AssessHP | Prefer | Reflect
PREDICTION_OF: Final[Mapping[Stage, type[Prediction]]] = {
    "draft": Draft,
    "assess": Assess,
    "assess_hp": AssessHP,
    "prefer": Prefer,
    "reflect": Reflect,
}
"""Stage -> the class of its predictions."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The answers of a judge model about the draft."""

    scores: Mapping[str, float] = field(default_factory=dict)
    """Dimension -> 1–7 (the mean if there are several judges)."""
    binary: Mapping[str, YesNo] | None = None
    """Question id -> answer about the draft; None without an assessment."""


@dataclass(frozen=True, slots=True)
class TurnPrediction:
    """Everything a result file says about one turn; a stage without an answer is None."""

    turn: int
    draft: Draft | None = None
    assess: Assess | None = None
    assess_hp: AssessHP | None = None
    prefer: Prefer | None = None
    judged: Judged | None = None
    not_asked: frozenset[Stage] = frozenset()
    """Stages that were not in the plan: the strict variant does not score them."""


@dataclass(frozen=True, slots=True)
class ConversationPrediction:
    """Everything a result file says about one conversation."""

    conversation_id: str
    turns: Mapping[int, TurnPrediction] = field(default_factory=dict)
    """Turn number -> prediction. A missing turn is one that the model never answered."""
    reflect: Reflect | None = None
    not_asked: frozenset[Stage] = frozenset()
    """Stages left out of the whole conversation (in a run with a subset of stages)."""

    def not_asked_in(self, turn: int) -> frozenset[Stage]:
        """Stages that were not asked in that turn, including those left out of the whole run."""
        said = self.turns.get(turn)
        return self.not_asked | said.not_asked if said else self.not_asked
