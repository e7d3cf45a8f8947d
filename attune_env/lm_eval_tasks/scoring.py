"""From the replies of a conversation to metrics, and from the metrics of conversations to means and errors.

The numbers are those of `attune score`: the replies make the official result record, the record is read and
scored as a result file is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np

from attune_data.means import mean
from attune_data.schema import Conversation
from attune_env.results.scores import outcome_counts
from attune_env.statistics.bootstrap import Bootstrap
from attune_episodes.score import default_spec
from attune_episodes.settings import Settings
from attune_episodes.task import Task, replay, scores_of
from attune_rewards.metrics import LISTED
from attune_rewards.predictions import STAGES, Stage
from attune_rewards.tree import SCORED_STAGES

PARSE_RATE: Final = "parse_rate"
_ERROR: Final = "_stderr"
OF_ALL: Final = tuple(metric.column for metric in LISTED if metric.group == "composite")
"""The metrics of the task of all stages; each a mean over conversations, higher is better."""
OF_STAGE: Final[Mapping[Stage, tuple[str, ...]]] = {
    stage: (
        *(
            metric.column
            for metric in LISTED
            if metric.needs == (stage,) and metric.better == "higher" and metric.group != "strict"
        ),
        *(("composite_partial",) if stage in SCORED_STAGES else ()),
    )
    for stage in STAGES
}
"""The metrics of the task of one stage, under their names in scores files."""


def metrics_of(
    conversation: Conversation, settings: Settings, replies: Sequence[str], names: Sequence[str]
) -> dict[str, Any]:
    """The values that lm-eval keeps for a conversation, by the `replies` to the requests of its plan.

    Returns:
        Metric -> value, None where it is undefined; `<metric>_stderr` -> [value, participant], what a
        standard error is made of; `parse_rate` -> [replies that were parsed, replies].
    """
    task = Task(conversation, settings, default_spec())
    said = {request.id: reply for request, reply in zip(task.requests, replies, strict=True)}
    played = replay(task, said)
    scores, outcomes = scores_of(played), outcome_counts(played.result)
    owner = conversation.participant or conversation.conversation_id
    kept: dict[str, Any] = {}
    for name in names:
        # lm-eval knows no error of a mean of ours, and writes "N/A" under this name; what is kept under it
        # comes later and takes its place
        kept |= {name: scores.get(name), name + _ERROR: [scores.get(name), owner]}
    return {**kept, PARSE_RATE: [outcomes["ok"], sum(outcomes.values())]}


def aggregations(names: Sequence[str]) -> dict[str, Callable[[Sequence[Any]], Any]]:
    """Metric -> what makes one number of the values of all conversations."""
    errors = {name + _ERROR: bootstrap_error for name in names}
    return {PARSE_RATE: pooled_share, **dict.fromkeys(names, mean_of_defined), **errors}


def mean_of_defined(values: Sequence[float | None]) -> float:
    """The mean of the defined values; NaN without any, as lm-eval averages over groups."""
    found = mean(values)
    return math.nan if found is None else found


def pooled_share(pairs: Sequence[tuple[int, int]]) -> float:
    """(parsed, asked) of all conversations -> the share of replies that were parsed, in [0, 1]."""
    asked = sum(pair[1] for pair in pairs)
    return sum(pair[0] for pair in pairs) / asked if asked else math.nan


def bootstrap_error(pairs: Sequence[tuple[float | None, str]]) -> float | Literal["N/A"]:
    """The bootstrap standard error of the mean of the defined values, of (value or None, participant) each.

    The standard deviation (n - 1) of the means of 10,000 resamples, in the metric's own unit. As in
    `attune report`, participants are drawn where one owns several conversations, else conversations. "N/A",
    lm-eval's word, where fewer than two units have a defined value.
    """
    owners = [owner for _, owner in pairs]
    if len({owner for value, owner in pairs if value is not None}) < 2:
        return "N/A"
    table = np.array([[math.nan if value is None else value] for value, _ in pairs], dtype=np.float64)
    means = Bootstrap(len(owners), owners).means(table)[0]
    return float(np.nanstd(means, ddof=1))
