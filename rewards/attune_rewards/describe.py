"""What each part and preset is, in words: what `attune rewards list` and `explain` print."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from attune_data.constants import BRANCHES
from attune_rewards.leaves import LEAF_STAGE
from attune_rewards.parts import CustomPart, Format, Part


@dataclass(frozen=True, slots=True)
class PartText:
    """A part in words."""

    stage: str
    what: str
    score: str
    """The formula; its range is always 0 to 1."""
    defined: str
    """Where it is scored; elsewhere its weight goes to its siblings."""
    zero: str
    """What earns the lowest value beside plainly wrong answers."""


_TAGS: Final = ("tags are annotated; an empty list is an annotation", "no valid list of tags")
_BRANCH: Final = PartText(
    "reflect",
    "how well the model did at {} feelings, as the person rated it from 1 to 7",
    "1 − |predicted − rated|/6",
    "the branch is rated",
    "no whole number from 1 to 7",
)
_PANAS: Final = PartText(
    "reflect",
    "the person's {} affect after the conversation: the sum of ten items",
    "(a + 1)/2 with a = (s − naive)/(1 − naive), s = 1 − |post − predicted|/60, naive = 1 − |post − pre|/60, "
    "a clamped to −1…1",
    "both totals are known and the total moved",
    "any of the ten items without a valid answer",
)

PART_TEXTS: Final[Mapping[str, PartText]] = {
    "emotion_f1": PartText(
        "assess", "which of the 20 feelings the person had", "F1 of the tag sets; both empty 1", *_TAGS
    ),
    "emotion_va": PartText(
        "assess",
        "how near the feelings named are to those felt, on the valence–arousal plane",
        "mean similarity of the best one-to-one matching × coverage; both empty 1, one empty 0",
        *_TAGS,
    ),
    "binary_om": PartText(
        "assess",
        "what the recorded reply did, by the person's yes or no to each question",
        "right answers / questions with a yes or no",
        "at least one question has a yes or no",
        "each question without an answer",
    ),
    "binary_hp": PartText(
        "assess",
        "what the person would have wanted the reply to do",
        "right answers / questions with a yes or no",
        "at least one question has a yes or no",
        "each question without an answer",
    ),
    "pairwise": PartText(
        "prefer",
        "which of two replies the person preferred, in each comparison",
        "right picks / comparisons with a winner",
        "at least one comparison has a winner",
        "each comparison without a pick",
    ),
    **{
        leaf: PartText(_PANAS.stage, _PANAS.what.format(side), _PANAS.score, _PANAS.defined, _PANAS.zero)
        for leaf, side in (("panas_pa", "positive"), ("panas_na", "negative"))
    },
    "q1": PartText(
        "reflect",
        "what the person was looking for",
        "intersection / union of the options; both empty 1",
        "annotated",
        "no valid list of options",
    ),
    "q2": PartText(
        "reflect", "how clear the feelings were", "1 for the same option, else 0", "annotated", "no option"
    ),
    "q3": PartText(
        "reflect", "how well the model fitted", "1 for the same option, else 0", "annotated", "no option"
    ),
    "q3_follow_up": PartText(
        "reflect",
        "what felt off",
        "fuzzy F1: 1 for an exact match, else the best token overlap of at least 0.3; both empty 1",
        "annotated; an empty list is an annotation",
        "no valid list",
    ),
    **{
        f"branch_{name}": PartText(
            _BRANCH.stage, _BRANCH.what.format(name), _BRANCH.score, _BRANCH.defined, _BRANCH.zero
        )
        for name in BRANCHES
    },
    "format": PartText(
        "every stage but draft",
        "whether what was asked was answered validly, whatever it says; no metric of the benchmark",
        "valid answers / asked fields",
        "every request but drafts",
        "an unreadable reply",
    ),
}
"""Part -> what it is. The formulas are those of `docs/metrics.md`."""

PRESET_TEXTS: Final[Mapping[str, str]] = {
    "composite": "the benchmark's strict Composite: to measure with",
    "emotion": "the feelings in each turn",
    "behaviour": "the yes/no questions about each reply",
    "preference": "the comparisons of replies",
    "holistic": "what is asked after the conversation",
    "skill": "the Composite with each part measured from what reading nothing earns: to train with",
}
"""Preset -> what it is for."""


def text_of(part: Part) -> PartText:
    """A part in words; of a part of one's own, its function's docstring."""
    if part.name in LEAF_STAGE or part == Format():
        return PART_TEXTS[part.name]
    stage = part.stage if isinstance(part, CustomPart) else "its own"
    told = inspect.getdoc(part.function) if isinstance(part, CustomPart) else inspect.getdoc(part)
    return PartText(
        stage,
        " ".join((told or "a part of one's own, without a docstring").split()),
        "its function's",
        f"every request of stage {stage}",
        "an unreadable reply",
    )
