"""Score one conversation in both variants, under the names used in official score files and our own.

Canonical conventions: means are over the turns in the result; undefined values are left out of them; if there
is no turn, means that are otherwise always defined are 0. Source: AttuneBench v1.0, scoring.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final, Literal

from attune_data.format.schema import Conversation
from attune_data.selection.means import mean
from attune_rewards.metrics.metric import Case, ConversationMetric, ReflectMetric, TurnMetric
from attune_rewards.metrics.registry import METRICS
from attune_rewards.metrics.tree import SCORED_STAGES
from attune_rewards.predictions import ConversationPrediction, Reflect, Stage
from attune_rewards.truth import truth_of

Q1Overlap = Literal["jaccard", "f1"]

_TURN: Final = tuple(metric for metric in METRICS if isinstance(metric, TurnMetric))
_REFLECT: Final = tuple(metric for metric in METRICS if isinstance(metric, ReflectMetric))
_WHOLE: Final = tuple(metric for metric in METRICS if isinstance(metric, ConversationMetric))


def score_conversation(
    conversation: Conversation, prediction: ConversationPrediction, *, q1_overlap: Q1Overlap = "jaccard"
) -> dict[str, Any]:
    """Compute every metric of one conversation, under its name in score files; None = undefined.

    Turn metrics are in `turn_scores` and, averaged, under `avg_<name>`; post-conversation metrics are in
    `post_score`, the strict leaves in `strict_parts`. If stages were left out of the whole run, metrics that
    depend on them are None rather than scored as silence, and the strict total of the rest is called
    `composite_partial`, since it is not a Composite.
    """
    truth, blank = truth_of(conversation), _blank(prediction.not_asked)
    answered = [(turn, prediction.turns[turn.turn]) for turn in truth.turns if turn.turn in prediction.turns]
    turns: list[dict[str, Any]] = [
        {"turnNumber": turn.turn, **{m.name: None if m.name in blank else m.value(turn, said) for m in _TURN}}
        for turn, said in answered
    ]
    scores: dict[str, Any] = {"turn_scores": turns}
    case = Case(truth, prediction, answered, scores)

    def write(metrics: Iterable[ConversationMetric]) -> None:
        for metric in metrics:
            scores[metric.name] = None if metric.name in blank else metric.value(case)

    for metric in _TURN:
        if metric.averaged:
            average = mean(turn[metric.name] for turn in turns)
            always_defined = not metric.undefined and metric.name not in blank
            scores[metric.column] = 0.0 if average is None and always_defined else average
    write(metric for metric in _WHOLE if metric.group == "turn")
    said = prediction.reflect or Reflect()
    scores["post_score"] = {
        m.name: None if m.name in blank else m.by_setting.get(q1_overlap, m.value)(truth, said)
        for m in _REFLECT
    }
    write(metric for metric in _WHOLE if metric.group != "turn")
    if prediction.not_asked.isdisjoint(SCORED_STAGES):
        del scores["composite_partial"]
    return scores


@cache
def _blank(left_out: frozenset[Stage]) -> frozenset[str]:
    """Names of the metrics that require these stages."""
    return frozenset(metric.name for metric in METRICS if not left_out.isdisjoint(metric.needs))
