"""The scorer's work: the numbers of `attune score`, per conversation. Free of Inspect."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from attune_episodes.inspect_env.tasks import replies_in
from attune_episodes.settings import Settings
from attune_episodes.task import Task, replay, scores_of
from attune_rewards.metrics import LISTED
from attune_rewards.predictions import Stage
from attune_rewards.tree import LEAF, LEAVES, SCORED_STAGES

_NEEDED: Final[dict[str, tuple[Stage, ...]]] = {
    **{m.column: m.needs for m in LISTED if set(SCORED_STAGES).issubset(m.needs)},
    **{m.column: m.needs for m in LISTED if m.group in ("composite", "strict")},
    **{m.column: m.needs for m in LISTED},
    **{f"strict_{name}": (LEAF[name].stage,) for name in LEAVES},
}
"""Metric, by its name in score files -> the stages without which it means nothing. The Composites lead."""


def metrics_of(settings: Settings) -> tuple[str, ...]:
    """The metrics that a task with these settings reports, the headline first.

    Where a scored stage is left out, the strict total is no Composite, and its name `composite_partial`.
    """
    asked = set(settings.stages)
    names = tuple(name for name, needed in _NEEDED.items() if asked.issuperset(needed))
    first = () if asked.issuperset(SCORED_STAGES) else ("composite_partial",)
    return (*first, *names, "parse_rate", "complete")


def score_replies(task: Task, store: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an Inspect score, by the replies in a sample's store.

    Returns:
        `value`: each of `metrics_of`; NaN, which Inspect leaves out of means, where it is not defined.
        `explanation`. `metadata`: `outcomes`, request id -> `ok`, `unparsed:<code>` or `missing`; and
        `complete`. Where requests have no reply, because a limit ended the sample, nothing but `complete`
        has a value: these replies are not known, which is something else than a model that was silent.
    """
    replies, names = replies_in(store, task), metrics_of(task.settings)
    if missing := task.missing(replies):
        value = dict.fromkeys(names, math.nan) | {"complete": 0.0}
        outcomes = {r.id: "missing" if r.id in missing else "answered" for r in task.requests}
        why = f"not scored: {_listed(missing)} of {len(task.requests)} requests have no reply"
    else:
        played = replay(task, replies)
        found = scores_of(played) | {"parse_rate": played.parse_rate, "complete": 1.0}
        value = {name: math.nan if (one := found.get(name)) is None else float(one) for name in names}
        outcomes = {step.request.id: step.status for step in played.steps}
        why = _explained(value, outcomes)
    return {
        "value": value, "explanation": why, "metadata": {"outcomes": outcomes, "complete": not missing}
    }  # fmt: skip


def _explained(values: Mapping[str, float], outcomes: Mapping[str, str]) -> str:
    """In words: the headline, what could not be read and why, what is not scored."""
    leading = [name for name in values if name.startswith("composite_")]
    told = ", ".join(f"{name} {values[name]:.2f}" for name in leading if not math.isnan(values[name]))
    unread = defaultdict(list)
    for name, status in outcomes.items():
        if status != "ok":
            unread[status].append(name)
    read = len(outcomes) - sum(map(len, unread.values()))
    lines = [told or "nothing here is annotated that is scored"]
    lines.append(f"{read} of {len(outcomes)} replies could be read")
    for status, these in sorted(unread.items()):
        lines.append(f"{status}: {_listed(these) if len(these) > 1 else these[0]}")
    if values["unscored_share"]:
        lines.append(f"not annotated, so not scored: {values['unscored_share']:.0%} of what could be")
    return "\n".join(lines)


def _listed(names: list[str], shown: int = 3) -> str:
    """How many, and the first of them."""
    more = ", …" if len(names) > shown else ""
    return f"{len(names)} ({', '.join(names[:shown])}{more})"
