"""The strict variant for a whole conversation: its leaves, and the shares annotated and answered."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from attune_data.selection.means import mean
from attune_rewards.metrics.composite import STRICT_METRICS
from attune_rewards.metrics.leaf import Leaf
from attune_rewards.metrics.metric import OWN, ConversationMetric, Metric
from attune_rewards.metrics.tree import COMPOSITE, LEAF, LEAVES
from attune_rewards.predictions import ConversationPrediction, Prediction
from attune_rewards.truth import ConversationTruth, TurnTruth

PLACE: Final = 9
"""Among the topics, in score files and tables."""

Place = TurnTruth | ConversationTruth
"""The truth for a leaf: that of a turn, or of the conversation in the reflect stage."""


def _places(leaf: Leaf[Any, Any], truth: ConversationTruth) -> tuple[Place, ...]:
    return (truth,) if leaf.stage == "reflect" else truth.turns


def _asked(
    leaf: Leaf[Any, Any], truth: ConversationTruth, prediction: ConversationPrediction
) -> Iterator[tuple[Place, Prediction | None]]:
    """Yield each place that is annotated and was asked, with its answer."""
    for place in filter(leaf.annotated, _places(leaf, truth)):
        if isinstance(place, ConversationTruth):
            if "reflect" not in prediction.not_asked:
                yield place, prediction.reflect
        elif leaf.stage not in prediction.not_asked_in(place.turn):
            said = prediction.turns.get(place.turn)
            yield place, getattr(said, leaf.stage) if said else None


def strict_parts(truth: ConversationTruth, prediction: ConversationPrediction) -> dict[str, float]:
    """Leaf -> its strict score in [0, 1], for the leaves that are defined and were asked.

    A turn leaf is the mean over its turns. A turn missing from the result was asked but not answered, so it
    counts as 0. Stages that the run left out (`not_asked`) are ignored.
    """
    parts = {}
    for name in LEAVES:
        leaf = LEAF[name]
        scores = [
            0.0 if said is None else leaf.value(place, said)
            for place, said in _asked(leaf, truth, prediction)
        ]
        if scores:
            parts[name] = math.fsum(scores) / len(scores)
    return parts


def unscored_share(truth: ConversationTruth) -> float:
    """Share, in [0, 1], of places that could be scored but are not annotated; each place counts once."""
    defined = [LEAF[name].annotated(place) for name in LEAVES for place in _places(LEAF[name], truth)]
    return 1 - sum(defined) / len(defined)


def answered_share(truth: ConversationTruth, prediction: ConversationPrediction) -> float | None:
    """Share, in [0, 1], of scored places with a valid answer, right or wrong; None if nothing is scored."""
    return mean(
        0.0 if said is None else LEAF[name].answered(place, said)
        for name in LEAVES
        for place, said in _asked(LEAF[name], truth, prediction)
    )


def fully_annotated(truth: ConversationTruth) -> bool:
    """Whether every part of the protocol is annotated, so that strict = canonical on complete answers.

    This requires in each turn the tags, a yes or no on both the observed and the preferred side, and a winner
    of every comparison; at the end, a PANAS total that changed, the four questions and the four branch
    scores.
    """
    missing = {name for name in LEAVES if not all(map(LEAF[name].annotated, _places(LEAF[name], truth)))}
    winners = all(len(turn.winners) == len(turn.comparisons) for turn in truth.turns)
    return winners and missing < set(COMPOSITE.part("panas").leaves())


_AT_THE_END: Final = sum(LEAF[name].stage == "reflect" for name in LEAVES)

METRICS: Final[tuple[Metric, ...]] = (
    ConversationMetric(
        "strict_parts", "the score of each leaf; in aggregates `strict_emotion_f1` and so on",
        lambda case: strict_parts(case.truth, case.prediction),
        group="strict", needs=(), edges="a leaf that is not annotated or was not asked is left out",
        source=OWN,
    ),
    *STRICT_METRICS,
    ConversationMetric(
        "fully_annotated", "whether every part of the protocol is annotated (see below)",
        lambda case: fully_annotated(case.truth), group="coverage", needs=(), better=None, source=OWN,
    ),
    ConversationMetric(
        "unscored_share",
        f"unannotated leaves / all leaves: {len(LEAVES) - _AT_THE_END} per turn and {_AT_THE_END} at the end",
        lambda case: unscored_share(case.truth), group="coverage", needs=(), better=None, source=OWN,
        label="Unscored share", role="beside",
    ),
    ConversationMetric(
        "answered_share",
        "scored leaves with a valid answer, right or wrong / all scored leaves",
        lambda case: answered_share(case.truth, case.prediction),
        group="coverage", needs=(), undefined="nothing is scored", source=OWN,
        label="Answered share", role="beside",
    ),
)  # fmt: skip
