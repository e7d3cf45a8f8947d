"""`Metric`: the full description of one number in score files, with the function that computes it.

Metrics are defined in the module of their topic. `metrics.METRICS` collects them; score files, means, blanks,
reports, the metric lists for lm-eval and Inspect, and the tables in `docs/metrics.md` are derived from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final, Literal

from attune_rewards.predictions import ConversationPrediction, Reflect, Stage, TurnPrediction
from attune_rewards.truth import ConversationTruth, TurnTruth

Role = Literal["total", "input", "beside", "diagnostic"]
"""`total`: the canonical Composite; `input`: enters it; `beside`: reported with it; `diagnostic`: related."""
Group = Literal["turn", "wide", "composite", "strict", "coverage"]
Value = float | Mapping[str, float] | None
"""Value of a metric; None = undefined."""

BENCHMARK: Final = "AttuneBench v1.0"
PORT: Final = "public port of the benchmark's scorer"
OWN: Final = "this project"


@dataclass(frozen=True)
class Metric:
    """The description of a metric; `TurnMetric`, `ReflectMetric` and `ConversationMetric` compute one."""

    name: str
    """Its name in score files."""
    formula: str
    _: KW_ONLY
    group: Group
    """Its section in reports and on the reference page."""
    needs: tuple[Stage, ...]
    """Stages that it requires: it is None if one of them was not asked."""
    label: str = ""
    """Its name in reports."""
    role: Role | None = None
    """Its role in reports; None if it is only in score files."""
    harness: bool = True
    """Whether lm-eval and Inspect list it, provided that it has a role."""
    better: Literal["higher", "lower"] | None = "higher"
    low: float = 0.0
    high: float = 1.0
    scale: float = 1.0
    """The factor by which reports multiply it."""
    edges: str = ""
    """Its values when truth or answer is missing."""
    undefined: str = ""
    """When it is None even though its stages were asked; empty if never."""
    source: str = BENCHMARK

    @property
    def column(self) -> str:
        """Its name in a row of a conversation's scores."""
        return self.name

    @property
    def places(self) -> int:
        """Decimal places in reports."""
        return 2 if self.high * self.scale >= 100 else 3


@dataclass(frozen=True)
class TurnMetric(Metric):
    """A metric of one turn."""

    value: Callable[[TurnTruth, TurnPrediction], float | None]
    _: KW_ONLY
    group: Group = "turn"
    averaged: bool = True
    """Whether its mean over the answered turns is also written, as `avg_<name>`."""

    @property
    def column(self) -> str:
        """The name of the mean, if it is averaged."""
        return f"avg_{self.name}" if self.averaged else self.name


@dataclass(frozen=True)
class ReflectMetric(Metric):
    """A metric of the answers given after the conversation, written under `post_score`."""

    value: Callable[[ConversationTruth, Reflect], Value]
    _: KW_ONLY
    group: Group = "wide"
    needs: tuple[Stage, ...] = ("reflect",)
    by_setting: Mapping[str, Callable[[ConversationTruth, Reflect], Value]] = field(default_factory=dict)
    """Value of the setting `q1_overlap` -> the function that replaces `value`."""


@dataclass(frozen=True, slots=True)
class Case:
    """The input to a metric of a whole conversation: conversation, prediction, and the scores so far."""

    truth: ConversationTruth
    prediction: ConversationPrediction
    answered: Sequence[tuple[TurnTruth, TurnPrediction]]
    """The turns in the prediction."""
    scores: Mapping[str, Any]
    """The scores computed so far, under their names in score files."""

    def __getitem__(self, column: str) -> Any:
        """A score by its name, either of the whole conversation or of the questions after it."""
        return self.scores[column] if column in self.scores else self.scores["post_score"][column]


@dataclass(frozen=True)
class ConversationMetric(Metric):
    """A metric of a whole conversation, computed from its turns or from other scores.

    Those in the group `turn` are computed before the post-conversation scores, the others after them; each
    may use those computed before it.
    """

    value: Callable[[Case], Any]
