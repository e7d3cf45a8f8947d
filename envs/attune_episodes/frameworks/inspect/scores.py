"""The scores of a conversation's replies, which are those of `attune score`. Does not import Inspect."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from attune_episodes.frameworks.inspect.tasks import replies_in
from attune_episodes.play.task import Task, replay, scores_of
from attune_episodes.protocol.settings import Settings
from attune_rewards.metrics.registry import LISTED
from attune_rewards.metrics.tree import LEAF, LEAVES, SCORED_STAGES
from attune_rewards.predictions import Stage

_NEEDED: Final[dict[str, tuple[Stage, ...]]] = {
    **{m.column: m.needs for m in LISTED if set(SCORED_STAGES).issubset(m.needs)},
    **{m.column: m.needs for m in LISTED if m.group in ("composite", "strict")},
    **{m.column: m.needs for m in LISTED},
    **{f"strict_{name}": (LEAF[name].stage,) for name in LEAVES},
}
"""Name of a metric in score files -> the stages that it requires. The Composites come first."""


def metric_names(settings: Settings) -> tuple[str, ...]:
    """The metrics reported by a task with these settings, the headline metric first.

    If a scored stage is left out, the strict total is not a Composite and is called `composite_partial`.
    """
    asked = set(settings.stages)
    names = tuple(name for name, needed in _NEEDED.items() if asked.issuperset(needed))
    first = () if asked.issuperset(SCORED_STAGES) else ("composite_partial",)
    return (*first, *names, "parse_rate", "complete")


def score_replies(task: Task, store: Mapping[str, Any]) -> dict[str, Any]:
    """Compute the fields of an Inspect score from the replies in a sample's store.

    Returns:
        `value`: the metrics of `metric_names`; undefined ones are NaN, which Inspect leaves out of means.
        `explanation`. `metadata`: `outcomes` (request id -> `ok`, `unparsed:<code>` or `missing`) and
        `complete`. If a limit ended the sample before every request was answered, only `complete` has a
        value: an unknown reply is not the same as a silent model.
    """
    replies, names = replies_in(store, task), metric_names(task.settings)
    if missing := task.missing(replies):
        value = dict.fromkeys(names, math.nan) | {"complete": 0.0}
        outcomes = {r.id: "missing" if r.id in missing else "answered" for r in task.requests}
        why = f"not scored: {_listed(missing)} of {len(task.requests)} requests have no reply"
    else:
        played = replay(task, replies)
        scores = scores_of(played) | {"parse_rate": played.parse_rate, "complete": 1.0}
        value = {name: math.nan if (one := scores.get(name)) is None else float(one) for name in names}
        outcomes = {step.request.id: step.status for step in played.steps}
        why = _explained(value, outcomes)
    return {
        "value": value, "explanation": why, "metadata": {"outcomes": outcomes, "complete": not missing}
    }  # fmt: skip


def _explained(values: Mapping[str, float], outcomes: Mapping[str, str]) -> str:
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
    more = ", …" if len(names) > shown else ""
    return f"{len(names)} ({', '.join(names[:shown])}{more})"
