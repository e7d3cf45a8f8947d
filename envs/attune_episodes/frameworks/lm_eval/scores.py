"""The numbers of a conversation's replies, and the functions that aggregate them.

The numbers are those of `attune score`: the replies form the official result record, which is read and scored
like a result file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np

from attune_data.format.schema import Conversation
from attune_data.selection.means import mean
from attune_episodes.play.score import default_spec
from attune_episodes.play.task import Task, replay, scores_of
from attune_episodes.protocol.settings import Settings
from attune_rewards.bootstrap import Bootstrap
from attune_rewards.metrics.registry import LISTED
from attune_rewards.metrics.tree import SCORED_STAGES
from attune_rewards.predictions import STAGES, Stage
from attune_rewards.record.marks import outcome_counts

PARSE_RATE: Final = "parse_rate"
_ERROR: Final = "_stderr"
OF_ALL: Final = tuple(metric.column for metric in LISTED if metric.group == "composite")
"""The metrics of the task of all stages; each is a mean over conversations, and higher is better."""
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


def score_replies(
    conversation: Conversation, settings: Settings, replies: Sequence[str], names: Sequence[str]
) -> dict[str, Any]:
    """Compute the values that lm-eval stores for a conversation from the replies to its plan.

    Returns:
        Metric -> value, None if undefined; `<metric>_stderr` -> [value, participant], for the standard error;
        `parse_rate` -> [number of parsed replies, number of replies].
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
    """Metric -> the function that aggregates the values of all conversations."""
    errors = {name + _ERROR: bootstrap_error for name in names}
    return {PARSE_RATE: pooled_share, **dict.fromkeys(names, mean_of_defined), **errors}


def mean_of_defined(values: Sequence[float | None]) -> float:
    """The mean of the defined values; NaN if there are none, because lm-eval averages over groups."""
    average = mean(values)
    return math.nan if average is None else average


def pooled_share(pairs: Sequence[tuple[int, int]]) -> float:
    """(parsed, asked) of all conversations -> the share of replies that were parsed, in [0, 1]."""
    asked = sum(pair[1] for pair in pairs)
    return sum(pair[0] for pair in pairs) / asked if asked else math.nan


def bootstrap_error(pairs: Sequence[tuple[float | None, str]]) -> float | Literal["N/A"]:
    """The bootstrap standard error of the mean of the defined values in (value or None, participant) pairs.

    The standard deviation (n - 1) of the means of 10,000 resamples, in the metric's own unit. As in
    `attune report`, participants are drawn if one owns several conversations, and otherwise conversations.
    "N/A", lm-eval's word, if fewer than two units have a defined value.
    """
    owners = [owner for _, owner in pairs]
    if len({owner for value, owner in pairs if value is not None}) < 2:
        return "N/A"
    table = np.array([[math.nan if value is None else value] for value, _ in pairs], dtype=np.float64)
    means = Bootstrap(len(owners), owners).means(table)[0]
    return float(np.nanstd(means, ddof=1))
