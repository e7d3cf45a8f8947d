"""One table of every number that `score_conversation` writes: range, gold, what it needs, what pays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from attune_rewards.leaves import LEAF_STAGE

from attune_data.constants import BRANCHES, Q3_OPTIONS
from attune_rewards import (
    LEAVES,
    Assess,
    AssessHP,
    Draft,
    Judged,
    Prefer,
    Reflect,
    Stage,
    Tag,
    TurnPrediction,
)
from tests.rewards.builders import (
    Json,
    comparison,
    conversation,
    judgement,
    panas,
    prediction,
    summing,
    turn,
    wide,
)

Kind = Literal["canonical", "strict", "diagnostic"]


@dataclass(frozen=True)
class Name:
    """What is claimed of one written number."""

    name: str
    kind: Kind
    needs: frozenset[Stage]
    """Stages without which it is None."""
    low: float
    high: float
    gold: float | None
    """What the right answers earn where everything is annotated (strict: on any conversation).

    None: it has no better side, and nothing is claimed of corrections and of silence.
    """
    lower: bool
    """A distance: lower is better."""
    undefined: bool
    """Whether it may be None (or not written) although its stages were asked."""
    silence_pays: bool
    """Whether an answer taken away can make it better, or undefined."""
    fixing_hurts: bool
    """Whether an answer made right can make it worse."""


ASKED_TWICE: tuple[tuple[Stage, str], ...] = (("assess", ""), ("assess_hp", "_hp"))
ALL: tuple[Stage, ...] = ("assess", "prefer", "reflect")


def names(
    kind: Kind, written: str, *needs: Stage, low: float = 0, high: float = 1, gold: float | None = 1,
    lower: bool = False, none: bool = False, silence: bool = False, fixing: bool = False,
) -> list[Name]:  # fmt: skip
    """A row for each of the names, which are written apart by blanks."""
    return [
        Name(name, kind, frozenset(needs), low, high, gold, lower, none, silence, fixing)
        for name in written.split()
    ]


SHOWN: dict[str, Any] = {"gold": None}
"""A number without a better side."""
PAID: dict[str, Any] = {"silence": True}
"""Canonical: empty tags, a missing yes/no answer, a missing turn and the like may count as right."""
SKIPPED: dict[str, Any] = {"silence": True, "fixing": True}
"""A turn without any answer is skipped by the canonical reading: one right answer may bring in many zeros."""

NAMES = [
    # --- a turn
    *names("diagnostic", "turn/turnNumber", low=1, high=math.inf, **SHOWN),
    *names(
        "canonical",
        "turn/emotion_hit_rate turn/emotion_precision turn/emotion_recall turn/emotion_f1"
        " turn/emotion_f1_intensity turn/emotion_va_score turn/emotion_va_intensity_score",
        "assess", **PAID,
    ),
    *names(
        "canonical", "turn/emotion_intensity_mae", "assess", high=6, gold=0, lower=True, none=True, **PAID
    ),
    *names("canonical", "turn/binary_om_accuracy turn/binary_human_accuracy", "assess", **PAID),
    *names("canonical", "turn/binary_om_accuracy_hp turn/binary_human_accuracy_hp", "assess_hp", **PAID),
    *names("canonical", "turn/pairwise_accuracy", "prefer"),
    *names("canonical", "turn/pairwise_kendall_tau", "prefer", low=-1, none=True, **SKIPPED),
    *names("diagnostic", "turn/response_similarity", "draft"),
    *names("diagnostic", "turn/response_similarity_human_edited", "draft", none=True),
    *names("diagnostic", "turn/response_similarity_original", "draft", **SHOWN),
    *names("diagnostic", "turn/response_similarity_llm_improved", "draft", none=True, **SHOWN),
    *names("canonical", "turn/draft_judge_score turn/draft_binary_alignment", "draft", none=True),
    # --- means over the turns that were answered
    *names(
        "canonical",
        "avg_emotion_hit_rate avg_emotion_f1 avg_emotion_f1_intensity avg_emotion_va_score"
        " avg_emotion_va_intensity_score avg_binary_om_accuracy avg_binary_human_accuracy",
        "assess", **SKIPPED,
    ),
    *names("canonical", "avg_emotion_intensity_mae", "assess", high=6, gold=0, lower=True, none=True, **PAID),
    *names("canonical", "avg_binary_om_accuracy_hp avg_binary_human_accuracy_hp", "assess_hp", **SKIPPED),
    *names("canonical", "avg_pairwise_accuracy", "prefer", **SKIPPED),
    *names("canonical", "avg_pairwise_kendall_tau", "prefer", low=-1, none=True, **SKIPPED),
    *names(
        "diagnostic", "avg_response_similarity avg_response_similarity_human_edited", "draft", none=True,
        **SKIPPED,
    ),
    *names("canonical", "avg_draft_judge_score avg_draft_binary_alignment", "draft", none=True, **PAID),
    *names("canonical", "perspective_gap_om_hp", "assess", low=-1, **SHOWN),
    *names("canonical", "hp_perspective_gap", "assess", "assess_hp", low=-1, **SHOWN),
    # --- pooled over the turns that were answered
    *(
        row
        for side in ("om", "human")
        for stage, end in ASKED_TWICE
        for ratio, low, high, how in (
            *((count, 0, math.inf, SHOWN) for count in ("tp", "tn", "fp", "fn")),
            *((share, 0, 1, SKIPPED) for share in ("accuracy", "recall", "f1")),
            ("precision", 0, 1, PAID),
            ("mcc", -1, 1, SKIPPED),
        )
        for row in names(
            "canonical", f"pooled_binary_{side}_metrics{end}/{ratio}", stage, low=low, high=high, **how
        )
    ),
    # --- the end
    *names("canonical", "post/panas_mae", "reflect", high=60, gold=0, lower=True, **PAID),
    *names("canonical", "post/panas_normalized", "reflect", **PAID),
    *names(
        "canonical",
        "post/panas_pa_baseline_adjusted post/panas_na_baseline_adjusted post/panas_baseline_adjusted"
        " post/panas_item_baseline_adjusted",
        "reflect", low=-1, none=True, **PAID,
    ),
    *names("canonical", "post/panas_item_mae", "reflect", high=6, gold=0, lower=True, none=True, **PAID),
    *names("canonical", "post/panas_item_normalized", "reflect", none=True, **PAID),
    *names(
        "canonical",
        "post/q1_looking_for_score post/q1_looking_for_jaccard post/q1_looking_for_f1"
        " post/q2_emotion_clarity_match post/q3_model_fit_match post/q3_follow_up_score"
        " post/four_branch_normalized",
        "reflect", **PAID,
    ),
    *names(
        "diagnostic", "post/q3_model_fit_ordinal_distance", "reflect", high=3, gold=0, lower=True, **PAID
    ),
    *names(
        "canonical",
        "post/four_branch_mae post/four_branch_per_branch/perceiving post/four_branch_per_branch/facilitating"
        " post/four_branch_per_branch/understanding post/four_branch_per_branch/managing",
        "reflect", high=6, gold=0, lower=True, none=True, **PAID,
    ),
    # --- composites
    *names("canonical", "pillar_emotion", "assess", **SKIPPED),
    *names("canonical", "pillar_evaluation turn_level_average", "assess", "prefer", **SKIPPED),
    *names("canonical", "pillar_holistic conversation_wide_average", "reflect", **PAID),
    *names(
        "canonical", "composite_exact composite_score equal_weight_composite", *ALL, high=100, gold=100,
        **SKIPPED,
    ),
    # --- the strict reading
    *(
        row
        for leaf in LEAVES
        for row in names("strict", f"strict_parts/{leaf}", LEAF_STAGE[leaf], none=True)
    ),
    *names("strict", "strict_emotion", "assess", none=True),
    *names("strict", "strict_evaluation", "assess", "prefer", none=True),
    *names("strict", "strict_holistic", "reflect", none=True),
    *names("strict", "composite_strict", *ALL, high=100, gold=100, none=True),
    *names("strict", "answered_share", none=True),
    *names("strict", "composite_partial", high=100, gold=100, none=True),
    *names("diagnostic", "fully_annotated unscored_share", **SHOWN),
]  # fmt: skip
TABLE: Mapping[str, Name] = {row.name: row for row in NAMES}
GROUPS = {row.name.rpartition("/")[0] for row in NAMES}
OVER_WHAT_WAS_ASKED = {"answered_share", "composite_partial"}
"""Numbers that a stage left out changes although they do not need it: they are about the rest."""


def written(scores: Mapping[str, Any]) -> dict[int | None, dict[str, float | None]]:
    """Turn number (None: the conversation) -> name -> value, of everything that was written."""
    found: dict[int | None, dict[str, float | None]] = {
        turn["turnNumber"]: {f"turn/{name}": value for name, value in turn.items()}
        for turn in scores["turn_scores"]
    }
    rest = {name: value for name, value in scores.items() if name != "turn_scores"}
    found[None] = dict(_flat("", {"post" if n == "post_score" else n: v for n, v in rest.items()}))
    return found


def _flat(prefix: str, scores: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    for name, value in scores.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{name}/", value)
        elif f"{prefix}{name}" not in GROUPS:  # a group is None as a whole where its stage was not asked
            yield f"{prefix}{name}", value


# --- witnesses ------------------------------------------------------------------------------------------

YES: Any = {"B1": "yes", "B2": "yes"}
NO: Any = {"B1": "no", "B2": "no"}
MIDDLE = dict.fromkeys(BRANCHES, 4)


def rows(number: int, answers: Mapping[str, str], tags: Sequence[Tag], winners: str) -> Json:
    """A turn with two yes/no questions and each of the three responses compared with each other."""
    pairs = [("original", "alternate"), ("original", "human"), ("alternate", "human")]
    return turn(
        number, tags=tags, judgements=[judgement(q, a, a) for q, a in answers.items()],
        comparisons=[comparison(a, b, winner) for (a, b), winner in zip(pairs, winners, strict=True)],
    )  # fmt: skip


def says(
    number: int, answers: Any, tags: Sequence[Tag], picks: str, draft: str, rating: float
) -> TurnPrediction:
    chosen: Any = dict(enumerate(picks))
    return TurnPrediction(
        number, Draft(draft), Assess(tuple(tags), answers, answers), AssessHP(answers, answers),
        Prefer(chosen), Judged({"helpfulness": rating}, answers),
    )  # fmt: skip


ABOUT = conversation(
    rows(1, NO, [], "AAA"), rows(2, YES, [Tag("Upset", 1)], "AAB"), rows(3, YES, [Tag("Upset", 1)], "AAB"),
    pre=panas(summing(30, 30)), post=panas(summing(40, 40)),
    questions=wide([], None, None, [], MIDDLE),
)  # fmt: skip
WORST = Reflect(summing(70, 70), q1=("a",), q2="a", q3=Q3_OPTIONS[0], q3_follow_up=("a",),
                branches=dict.fromkeys(BRANCHES, 7))  # fmt: skip
QUIETER = prediction(
    says(
        1, YES, [Tag("Upset", 1)], "AAB", "wrong", 1
    ),  # every answer of it wrong, and all tags where none is right
    says(2, NO, [Tag("Upset", 7)], "BBB", "wrong", 1),
    says(3, YES, [Tag("Upset", 1)], "AAB", "the human", 7),
    reflect=WORST,
)
"""Where less would earn more: `silenced` finds it."""
RIGHTER = prediction(
    # turn 2 is absent, so that one right answer in it brings in silence on the rest
    says(1, NO, [], "AAA", "the human", 7), says(3, YES, [Tag("Upset", 1)], "BAA", "the human", 7),
    reflect=WORST,
)  # fmt: skip
"""Where a right answer costs: `corrected` finds it."""
UNANNOTATED = conversation(turn(texts=("the original", None, None)))
"""Nothing to measure anything against."""
