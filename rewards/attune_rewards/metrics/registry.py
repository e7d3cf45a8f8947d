"""All metrics, with the columns of score rows and the lists for reports and harnesses derived from them.

Each module of this folder that assigns `METRICS` is a topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

from attune_data.format.constants import BRANCHES
from attune_data.registry import by_name, collected
from attune_rewards.metrics.metric import Group, Metric, Role

TOPICS: Final = collected("attune_rewards.metrics", "METRICS", besides=__name__)
METRICS: Final[tuple[Metric, ...]] = tuple(
    by_name(
        "metric", ((topic.__name__, metric.name, metric) for topic in TOPICS for metric in topic.METRICS)
    ).values()
)
"""In the order of score files: by the `PLACE` of their topics, and then as they stand there."""

_GROUPS, _ROLES = get_args(Group), get_args(Role)
SHOWN: Final = tuple(
    sorted(
        (metric for metric in METRICS if metric.role is not None),
        key=lambda metric: (_GROUPS.index(metric.group), _ROLES.index(metric.role)),
    )
)
"""The metrics that reports show, by group and role."""
LISTED: Final = tuple(metric for metric in SHOWN if metric.harness)
"""The metrics among these that lm-eval and Inspect list."""
_BY_COLUMN: Final[Mapping[str, Metric]] = {
    **{metric.column: metric for metric in METRICS},
    **{
        f"four_branch_error_{name}": metric
        for metric in METRICS
        if metric.name == "four_branch_per_branch"
        for name in BRANCHES
    },
}


def better(column: str) -> Literal["higher", "lower"] | None:
    """Whether higher or lower values of a column of `aggregate.flatten` are better; None if neither.

    >>> better("avg_emotion_f1"), better("panas_mae"), better("perspective_gap_om_hp")
    ('higher', 'lower', None)
    """
    metric = _BY_COLUMN.get(column.partition(".")[0])
    return metric.better if metric else "higher"
