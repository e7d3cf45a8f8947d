"""Predictions as numbers: one row of small whole numbers that can answer any request but for its texts.

An *answer* is a row of `WIDTH` numbers, laid out by `LAYOUT`. 0 is no answer throughout, and places that a
request does not ask are ignored, so that any row within `VALUES` answers any request. `typed` reads a row as
a prediction, `coded` writes one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from attune_data.affect import EMOTIONS, SCALE, canonical_emotion
from attune_data.constants import BINARY_IDS, BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS, Side
from attune_rewards.predictions import Assess, Prediction, Prefer, Reflect, Stage, Tag, YesNo

Ints = npt.NDArray[np.integer[Any]]

PICKS: Final = 12
"""Comparisons that an answer has room for; further ones stay unanswered."""
_FIELDS: Final[tuple[tuple[str, int, int], ...]] = (
    ("emotions", len(EMOTIONS), SCALE[1] + 1),
    ("emotions_none", 1, 2),
    ("observed", len(BINARY_IDS), 3),
    ("preferred", len(BINARY_IDS), 3),
    ("picks", PICKS, 3),
    ("panas", len(EMOTIONS), SCALE[1] + 1),
    ("q1", len(Q1_OPTIONS), 2),
    ("q1_none", 1, 2),
    ("q2", 1, len(Q2_OPTIONS) + 1),
    ("q3", 1, len(Q3_OPTIONS) + 1),
    ("branches", len(BRANCHES), SCALE[1] + 1),
)


def _layout() -> Mapping[str, slice]:
    found, start = {}, 0
    for name, width, _ in _FIELDS:
        found[name] = slice(start, start + width)
        start += width
    return MappingProxyType(found)


LAYOUT: Final = _layout()
"""Field -> its places in an answer."""
VALUES: Final[npt.NDArray[np.int8]] = np.repeat(
    np.array([values for _, _, values in _FIELDS], np.int8), [width for _, width, _ in _FIELDS]
)
"""How many values each place takes, 0 included, shape (`WIDTH`,)."""
VALUES.setflags(write=False)
WIDTH: Final = len(VALUES)
"""Length of an answer."""
FIELDS_OF: Final[Mapping[Stage, tuple[str, ...]]] = {
    "assess": ("emotions", "emotions_none", "observed", "preferred"),
    "prefer": ("picks",),
    "reflect": ("panas", "q1", "q1_none", "q2", "q3", "branches"),
}
"""The stages that numbers can answer -> the fields that they read."""
Shown = Sequence[tuple[int, bool]]
"""Place of a pick -> (index of the comparison in the conversation, whether its sides are swapped)."""


def asked(stage: Stage, questions: Sequence[str] = (), comparisons: int = 0) -> npt.NDArray[np.bool_]:
    """Which places of an answer a request reads, shape (`WIDTH`,).

    Args:
        stage: one of `FIELDS_OF`.
        questions: ids of the yes/no questions asked (assess).
        comparisons: how many are shown (prefer).
    """
    found = np.zeros(WIDTH, np.bool_)
    for name in FIELDS_OF[stage]:
        found[LAYOUT[name]] = True
    if stage == "assess":
        applicable = [question in questions for question in BINARY_IDS]
        found[LAYOUT["observed"]] = found[LAYOUT["preferred"]] = applicable
    if stage == "prefer":
        found[LAYOUT["picks"]] = np.arange(PICKS) < comparisons
    return found


def typed(stage: Stage, answer: Ints, questions: Sequence[str] = (), shown: Shown = ()) -> Prediction:
    """The prediction that an answer stands for.

    Args:
        stage: one of `FIELDS_OF`.
        answer: shape (`WIDTH`,), values as `VALUES` has them.
        questions: ids of the yes/no questions asked.
        shown: the comparisons, in the order of the picks.
    """
    said = {name: answer[LAYOUT[name]].tolist() for name in FIELDS_OF[stage]}
    if stage == "assess":
        felt = zip(EMOTIONS, said["emotions"], strict=True)
        tags = tuple(Tag(name, value) for name, value in felt if value)
        known = [(i, question) for i, question in enumerate(BINARY_IDS) if question in questions]
        observed, preferred = (
            {q: _YES_NO[values[i]] for i, q in known if values[i]}
            for values in (said["observed"], said["preferred"])
        )
        return Assess(tags if tags or said["emotions_none"][0] else None, observed, preferred)
    if stage == "prefer":
        return Prefer(
            {
                index: _SIDES[value if not swapped else 3 - value]
                for (index, swapped), value in zip(shown, said["picks"], strict=False)
                if value
            }
        )
    q1 = tuple(option for option, value in zip(Q1_OPTIONS, said["q1"], strict=True) if value)
    return Reflect(
        panas={name: value for name, value in zip(EMOTIONS, said["panas"], strict=True) if value},
        q1=q1 if q1 or said["q1_none"][0] else None,
        q2=(None, *Q2_OPTIONS)[said["q2"][0]],
        q3=(None, *Q3_OPTIONS)[said["q3"][0]],
        branches={name: value for name, value in zip(BRANCHES, said["branches"], strict=True) if value},
    )


def coded(said: Prediction, shown: Shown = ()) -> npt.NDArray[np.int8]:
    """The answer that stands for a prediction: `typed` undone.

    Lost are what numbers cannot hold: emotions outside the 20, unknown intensities (they become 4), options
    outside the lists, the follow-up, drafts. TypeError for a prediction of another stage.
    """
    answer = np.zeros(WIDTH, np.int8)
    if isinstance(said, Assess):
        for tag in said.tags or ():
            if (name := canonical_emotion(tag.emotion)) is not None:
                answer[LAYOUT["emotions"].start + _EMOTION[name]] = tag.intensity or 4
        answer[LAYOUT["emotions_none"]] = said.tags == ()
        for field, answers in (("observed", said.observed), ("preferred", said.preferred)):
            answer[LAYOUT[field]] = [CODES[answers.get(question)] for question in BINARY_IDS]
    elif isinstance(said, Prefer):
        for place, (index, swapped) in enumerate(shown[:PICKS]):
            code = CODES[said.picks.get(index)]
            answer[LAYOUT["picks"].start + place] = 3 - code if swapped and code else code
    elif isinstance(said, Reflect):
        answer[LAYOUT["panas"]] = [said.panas.get(name, 0) for name in EMOTIONS]
        goals = {_fold(goal) for goal in said.q1 or ()}
        answer[LAYOUT["q1"]] = [_fold(option) in goals for option in Q1_OPTIONS]
        answer[LAYOUT["q1_none"]] = said.q1 == ()
        for field, options, value in (("q2", Q2_OPTIONS, said.q2), ("q3", Q3_OPTIONS, said.q3)):
            answer[LAYOUT[field]] = max(0, option_number(options, value))
        answer[LAYOUT["branches"]] = [said.branches.get(name, 0) for name in BRANCHES]
    else:
        raise TypeError(f"numbers answer {', '.join(FIELDS_OF)}; got {type(said).__name__}")
    return answer


def _fold(text: str) -> str:
    return text.strip().casefold()


def option_number(options: Sequence[str], said: str | None) -> int:
    """The number from 1 of an option, found without case; 0 for None, -1 for a text that is none of them."""
    if said is None:
        return 0
    folded = [_fold(option) for option in options]
    return folded.index(_fold(said)) + 1 if _fold(said) in folded else -1


_YES_NO: Final[tuple[YesNo, ...]] = ("no", "no", "yes")
"""Code -> answer; 0 is never looked up."""
_SIDES: Final[tuple[Side, ...]] = ("A", "A", "B")
CODES: Final[Mapping[str | None, int]] = {None: 0, "no": 1, "yes": 2, "A": 1, "B": 2}
"""Answer -> code."""
_EMOTION: Final = {name: i for i, name in enumerate(EMOTIONS)}
