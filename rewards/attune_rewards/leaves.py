"""The strict leaves: per stage, which are defined in a turn and what a prediction earns on each.

A leaf is *defined* by the annotations alone, so its weight is fixed before an episode starts. What was
asked but not answered validly earns 0, the lowest value; `[]` is an answer. Every score is in [0, 1].
"""

from __future__ import annotations

from typing import Final, TypeVar

from attune_data.constants import BRANCHES
from attune_rewards import binary, branches, emotion, panas, questions
from attune_rewards.predictions import Assess, Prediction, Prefer, Reflect, Stage
from attune_rewards.truth import ConversationTruth, TurnTruth

LEAF_STAGE: Final[dict[str, Stage]] = {
    **dict.fromkeys(["emotion_f1", "emotion_va", "binary_om", "binary_hp"], "assess"),
    "pairwise": "prefer",
    **dict.fromkeys(["panas_pa", "panas_na", "q1", "q2", "q3", "q3_follow_up"], "reflect"),
    **dict.fromkeys([f"branch_{name}" for name in BRANCHES], "reflect"),
}
"""Leaf -> the stage that answers it. Stages without a leaf (draft, assess_hp) carry no weight."""


QUESTIONS: Final = ("q1", "q2", "q3", "q3_follow_up")
"""The leaves of the questions at the end; each is called as its truth is."""


def defined_in_turn(turn: TurnTruth, stage: Stage) -> tuple[str, ...]:
    """Leaves of a turn stage that the annotations of this turn define."""
    if stage == "assess":
        names = []
        if turn.tags is not None:
            names += ["emotion_f1", "emotion_va"]
        if turn.observed:
            names.append("binary_om")
        if turn.preferred:
            names.append("binary_hp")
        return tuple(names)
    if stage == "prefer" and turn.winners:
        return ("pairwise",)
    return ()


def defined_in_reflect(truth: ConversationTruth) -> tuple[str, ...]:
    """Leaves of the reflect stage that the annotations of this conversation define."""
    names = []
    for leaf, pre, post in zip(("panas_pa", "panas_na"), truth.pre_totals, truth.post_totals, strict=True):
        if pre is not None and post is not None and pre != post:
            names.append(leaf)
    for leaf in QUESTIONS:
        if getattr(truth, leaf) is not None:
            names.append(leaf)
    names += [f"branch_{name}" for name in BRANCHES if name in truth.branches]
    return tuple(names)


def score_assess(turn: TurnTruth, said: Assess | None) -> dict[str, float]:
    """Scores of the defined assess leaves; all 0 where `said` is None."""
    scores: dict[str, float] = {}
    if turn.tags is not None:
        tags = said.tags if said is not None else None
        scores["emotion_f1"] = emotion.f1(turn.tags, tags) if tags is not None else 0.0
        scores["emotion_va"] = emotion.va_score(turn.tags, tags) if tags is not None else 0.0
    if turn.observed:
        scores["binary_om"] = binary.right_share(turn.observed, said.observed) if said else 0.0
    if turn.preferred:
        scores["binary_hp"] = binary.right_share(turn.preferred, said.preferred) if said else 0.0
    return scores


def score_prefer(turn: TurnTruth, said: Prefer | None) -> dict[str, float]:
    """Score of the pairwise leaf, where it is defined."""
    if not turn.winners:
        return {}
    return {"pairwise": binary.right_share(turn.winners, said.picks) if said else 0.0}


def score_reflect(truth: ConversationTruth, said: Reflect | None) -> dict[str, float]:
    """Scores of the defined reflect leaves; all 0 where `said` is None.

    A PANAS side earns (adjusted + 1)/2, or 0 unless all ten of its predicted items are valid.
    """
    guess = said or _SILENT
    scores: dict[str, float] = {}
    for side, leaf in enumerate(("panas_pa", "panas_na")):
        pre, post = truth.pre_totals[side], truth.post_totals[side]
        if pre is not None and post is not None and pre != post:
            predicted = panas.valid_total(guess.panas, side)
            adjusted = panas.baseline_adjusted(pre, post, predicted)
            scores[leaf] = 0.0 if adjusted is None else (adjusted + 1) / 2
    if truth.q1 is not None:
        scores["q1"] = questions.set_jaccard(truth.q1, guess.q1) if guess.q1 is not None else 0.0
    if truth.q2 is not None:
        scores["q2"] = questions.exact_match(truth.q2, guess.q2)
    if truth.q3 is not None:
        scores["q3"] = questions.exact_match(truth.q3, guess.q3)
    if (felt_off := truth.q3_follow_up) is not None:
        said_off = guess.q3_follow_up
        scores["q3_follow_up"] = questions.fuzzy_f1(felt_off, said_off) if said_off is not None else 0.0
    for name, want in truth.branches.items():
        scores[_BRANCH_LEAF[name]] = branches.strict_score(want, guess.branches.get(name))
    return scores


_SILENT: Final = Reflect()
_BRANCH_LEAF: Final = {name: f"branch_{name}" for name in BRANCHES}


def score_stage(
    truth: ConversationTruth, stage: Stage, turn: TurnTruth | None, said: Prediction | None
) -> dict[str, float]:
    """Scores of every defined leaf of one request; {} for stages without leaves.

    `turn` is None in the reflect stage. `said` of another stage than `stage` raises TypeError: that is a
    bug, not a model's mistake.
    """
    if turn is None:
        return score_reflect(truth, _of(Reflect, stage, said))
    if stage == "assess":
        return score_assess(turn, _of(Assess, stage, said))
    if stage == "prefer":
        return score_prefer(turn, _of(Prefer, stage, said))
    return {}


P = TypeVar("P", Assess, Prefer, Reflect)


def _of(kind: type[P], stage: Stage, said: Prediction | None) -> P | None:
    if said is None or isinstance(said, kind):
        return said
    raise TypeError(f"stage {stage} takes {kind.__name__}, got {type(said).__name__}")
