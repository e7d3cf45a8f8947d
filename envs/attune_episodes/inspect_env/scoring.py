"""The scorer's work: the numbers of `attune score`, per conversation. Free of Inspect."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from attune_episodes.inspect_env.tasks import replies_in
from attune_episodes.settings import Settings
from attune_episodes.task import Task, replay, scores_of
from attune_rewards.metrics import LISTED
from attune_rewards.predictions import Stage
from attune_rewards.tree import LEAF, LEAVES, SCORED_STAGES

UNSCORED: Final = math.nan
"""The value that Inspect leaves out of means, standard errors and reductions over epochs, per metric."""
_NEEDED: Final[dict[str, tuple[Stage, ...]]] = {
    **{m.column: m.needs for m in LISTED if set(SCORED_STAGES).issubset(m.needs)},
    **{m.column: m.needs for m in LISTED if m.group in ("composite", "strict")},
    **{m.column: m.needs for m in LISTED},
    **{f"strict_{name}": (LEAF[name].stage,) for name in LEAVES},
}
"""Metric, by its name in score files -> the stages without which it means nothing. The Composites lead."""
PARTIAL: Final = "composite_partial"
"""The name of the strict total if a scored stage is left out: it is not a Composite."""
PARSED: Final = "parse_rate"
COMPLETE: Final = "complete"
"""1 where every request has a reply, else 0: the one metric of a conversation that is not complete."""


def metrics_of(settings: Settings) -> tuple[str, ...]:
    """The metrics that a task with these settings reports, the headline first."""
    asked = set(settings.stages)
    names = tuple(name for name, needed in _NEEDED.items() if asked.issuperset(needed))
    first = () if asked.issuperset(SCORED_STAGES) else (PARTIAL,)
    return (*first, *names, PARSED, COMPLETE)


@dataclass(frozen=True, slots=True)
class Scored:
    """The outcome of a conversation."""

    values: dict[str, float]
    """Of each of `metrics_of`; NaN where it is not defined, or not every request was answered."""
    explanation: str
    outcomes: dict[str, str]
    """Request id -> `ok`, `unparsed:<code>` or `missing`."""
    complete: bool


def score_replies(task: Task, store: Mapping[str, Any]) -> Scored:
    """The numbers of a conversation, by the replies in a sample's store.

    Where requests have no reply, because a limit ended the sample, nothing is scored: these replies are not
    known, which is something else than a model that was silent.
    """
    replies, names = replies_in(store, task), metrics_of(task.settings)
    missing = task.missing(replies)
    if missing:
        values = dict.fromkeys(names, UNSCORED) | {COMPLETE: 0.0}
        outcomes = {r.id: "missing" if r.id in missing else "answered" for r in task.requests}
        why = f"not scored: {_listed(missing)} of {len(task.requests)} requests have no reply"
        return Scored(values, why, outcomes, complete=False)
    played = replay(task, replies)
    flat = scores_of(played)
    own = {PARSED: played.parse_rate, COMPLETE: 1.0}
    values = {name: _number(own.get(name, flat.get(name))) for name in names}
    outcomes = {step.request.id: step.status for step in played.steps}
    return Scored(values, _explained(values, outcomes), outcomes, complete=True)


def _number(value: float | None) -> float:
    return UNSCORED if value is None else float(value)


def _explained(values: Mapping[str, float], outcomes: Mapping[str, str]) -> str:
    """In words: the headline, what could not be read and why, what is not scored."""
    leading = [name for name in values if name.startswith("composite_")]
    told = ", ".join(f"{name} {values[name]:.2f}" for name in leading if not math.isnan(values[name]))
    lines = [told or "nothing here is annotated that is scored"]
    unread = {name: status for name, status in outcomes.items() if status != "ok"}
    lines.append(f"{len(outcomes) - len(unread)} of {len(outcomes)} replies could be read")
    counts = Counter(unread.values())
    for status, count in sorted(counts.items()):
        these = [name for name, found in unread.items() if found == status]
        lines.append(f"{status}: {_listed(these) if count > 1 else these[0]}")
    if values["unscored_share"]:
        lines.append(f"not annotated, so not scored: {values['unscored_share']:.0%} of what could be")
    return "\n".join(lines)


def _listed(names: list[str], shown: int = 3) -> str:
    """How many, and the first of them."""
    more = ", …" if len(names) > shown else ""
    return f"{len(names)} ({', '.join(names[:shown])}{more})"
