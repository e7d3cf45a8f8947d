"""The strict reading of a whole conversation: the Composite that training uses.

Turn leaves are means over the turns where they are defined; the tree (`tree.py`) joins them. Read from a
result's whole record here; `reward.py` pays the same total request by request.
"""

from __future__ import annotations

from attune_rewards import leaves
from attune_rewards.predictions import ConversationPrediction
from attune_rewards.tree import COMPOSITE
from attune_rewards.truth import ConversationTruth, TurnTruth


def strict_parts(truth: ConversationTruth, prediction: ConversationPrediction) -> dict[str, float]:
    """Leaf -> its strict score in [0, 1], for the leaves that are defined and were asked.

    A turn absent from the result was asked and not answered: its defined leaves count 0. A stage that
    was not in the plan (`not_asked`) is not scored.
    """
    values: dict[str, list[float]] = {}
    for turn in truth.turns:
        for leaf, score in _turn_scores(turn, prediction).items():
            values.setdefault(leaf, []).append(score)
    if "reflect" not in prediction.not_asked:
        for leaf, score in leaves.score_reflect(truth, prediction.reflect).items():
            values[leaf] = [score]
    return {leaf: sum(values[leaf]) / len(values[leaf]) for leaf in COMPOSITE.leaves() if leaf in values}


def _turn_scores(turn: TurnTruth, prediction: ConversationPrediction) -> dict[str, float]:
    said = prediction.turns.get(turn.turn)
    skipped = prediction.not_asked | (said.not_asked if said else frozenset())
    scores: dict[str, float] = {}
    if "assess" not in skipped:
        scores |= leaves.score_assess(turn, said.assess if said else None)
    if "prefer" not in skipped:
        scores |= leaves.score_prefer(turn, said.prefer if said else None)
    return scores


def unscored_share(truth: ConversationTruth) -> float:
    """Share, in [0, 1], of the places that could be scored but are not annotated.

    Places: five leaves a turn and the ten leaves of the reflect stage, each counting once.
    """
    turn_leaves = [leaf for leaf, stage in leaves.LEAF_STAGE.items() if stage != "reflect"]
    places = len(truth.turns) * len(turn_leaves) + len(leaves.LEAF_STAGE) - len(turn_leaves)
    defined = len(leaves.defined_in_reflect(truth)) + sum(
        len(leaves.defined_in_turn(turn, stage)) for turn in truth.turns for stage in ("assess", "prefer")
    )
    return 1 - defined / places


def fully_annotated(truth: ConversationTruth) -> bool:
    """Whether every part of the protocol is annotated, so that strict = canonical on complete answers.

    Every turn: tags present, a yes/no truth on both sides, comparisons that all have winners. Some PANAS
    total moved. Q1-Q3, the follow-up and all branches present.
    """
    turns = all(
        turn.tags is not None
        and turn.observed
        and turn.preferred
        and turn.comparisons
        and len(turn.winners) == len(turn.comparisons)
        for turn in truth.turns
    )
    wide = set(leaves.defined_in_reflect(truth))
    moved = bool(wide & {"panas_pa", "panas_na"})
    rest = {leaf for leaf in leaves.LEAF_STAGE if leaves.LEAF_STAGE[leaf] == "reflect"} - {
        "panas_pa",
        "panas_na",
    }
    return turns and moved and rest <= wide
