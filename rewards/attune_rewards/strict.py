"""The strict reading of a whole conversation: the Composite that training uses.

Turn leaves are means over the turns where they are defined; the tree (`tree.py`) joins them. Read from a
result's whole record here; `reward.py` pays the same total request by request.
"""

from __future__ import annotations

import math

from attune_data.means import mean
from attune_rewards import leaves, panas
from attune_rewards.predictions import Assess, ConversationPrediction, Reflect
from attune_rewards.tree import COMPOSITE
from attune_rewards.truth import ConversationTruth, TurnTruth


def strict_parts(truth: ConversationTruth, prediction: ConversationPrediction) -> dict[str, float]:
    """Leaf -> its strict score in [0, 1], for the leaves that are defined and were asked.

    A turn absent from the result was asked and not answered: its defined leaves count 0. Stages that the
    run left out (`not_asked`) take no part.
    """
    values: dict[str, list[float]] = {}
    for turn in truth.turns:
        for leaf, score in _turn_scores(turn, prediction).items():
            values.setdefault(leaf, []).append(score)
    if "reflect" not in prediction.not_asked:
        for leaf, score in leaves.score_reflect(truth, prediction.reflect).items():
            values[leaf] = [score]
    return {
        leaf: math.fsum(values[leaf]) / len(values[leaf]) for leaf in COMPOSITE.leaves() if leaf in values
    }


def _turn_scores(turn: TurnTruth, prediction: ConversationPrediction) -> dict[str, float]:
    said = prediction.turns.get(turn.turn)
    skipped = prediction.not_asked_in(turn.turn)
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


def answered_share(truth: ConversationTruth, prediction: ConversationPrediction) -> float | None:
    """Share, in [0, 1], of what is scored that was answered validly, whatever it says; None without any.

    Each scored place counts once: tags twice (two leaves), each side of the yes/no questions and the
    comparisons by the share of their items, each leaf of the reflect stage.
    """
    shares: list[float] = []
    for turn in truth.turns:
        said = prediction.turns.get(turn.turn)
        skipped = prediction.not_asked_in(turn.turn)
        assess = (said.assess if said else None) or _NO_ASSESS
        picks = said.prefer.picks if said and said.prefer else {}
        if "assess" not in skipped:
            if turn.tags is not None:
                shares += [float(assess.tags is not None)] * 2
            for pairs, answers in ((turn.observed, assess.observed), (turn.preferred, assess.preferred)):
                if pairs:
                    shares.append(sum(question in answers for question, _ in pairs) / len(pairs))
        if "prefer" not in skipped and turn.winners:
            shares.append(sum(index in picks for index, _ in turn.winners) / len(turn.winners))
    if "reflect" not in prediction.not_asked:
        guess = prediction.reflect or Reflect()
        given = {
            "panas_pa": panas.valid_total(guess.panas, 0),
            "panas_na": panas.valid_total(guess.panas, 1),
            "q1": guess.q1,
            "q2": guess.q2,
            "q3": guess.q3,
            "q3_follow_up": guess.q3_follow_up,
            **{f"branch_{name}": guess.branches.get(name) for name in truth.branches},
        }
        shares += [float(given[leaf] is not None) for leaf in leaves.defined_in_reflect(truth)]
    return mean(shares)


_NO_ASSESS = Assess()


def fully_annotated(truth: ConversationTruth) -> bool:
    """Whether every part of the protocol is annotated, so that strict = canonical on complete answers.

    In each turn the tags, a yes or no on the observed and on the preferred side, and a winner of every
    comparison; at the end a PANAS total that changed, the four questions and the four branch scores.
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
