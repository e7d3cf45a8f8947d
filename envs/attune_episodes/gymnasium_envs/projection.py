"""Typed predictions to flat actions: `to_flat`, which keeps what a flat action can hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from attune_data.affect import EMOTIONS
from attune_data.constants import BRANCHES
from attune_episodes.gymnasium_envs.codec import ONE_OF, SIZES, SLOT, TEXTS
from attune_episodes.gymnasium_envs.spaces import CHANGES, COMPARISONS, FIELDS
from attune_episodes.request import Request
from attune_rewards.predictions import Assess, AssessHP, Draft, Prediction, Prefer, Reflect, Tag, YesNo

UNKNOWN_INTENSITY: Final = 4
"""What a tag without intensity becomes in a flat action: the middle of the scale."""


def no_answer(*, hp: bool = False) -> dict[str, Any]:
    """The flat action that answers nothing: zeros and empty texts.

    Args:
        hp: with the fields of the stage assess_hp.
    """
    action: dict[str, Any] = {name: np.zeros(size, np.int8) for name, (size, _) in SIZES.items()}
    action |= dict.fromkeys(TEXTS, "") | dict.fromkeys(ONE_OF, np.int64(0))
    return {name: action[name] for name in FIELDS if hp or not name.endswith("_hp")}


def to_flat(answers: Iterable[tuple[Request, Prediction]], *, hp: bool = False) -> dict[str, Any]:
    """The flat action that says what typed predictions say, as far as it can.

    It cannot hold reasoning; the order of tags and goals; emotions outside the 20, and an emotion twice; an
    unknown intensity (which becomes 4); questions without a slot, and comparisons beyond the 12th; options
    in words of one's own; an option as follow-up by a bare number, and line ends within an item (which
    become blanks); stated PANAS totals. What it cannot hold is not answered.

    Args:
        answers: requests with their predictions, each stage once at most.
        hp: with the fields of the stage assess_hp, whether it is answered or not.
    """
    given = list(answers)
    action = no_answer(hp=hp or any(isinstance(said, AssessHP) for _, said in given))
    for request, said in given:
        if isinstance(said, Draft):
            action["draft"] = said.text
        elif isinstance(said, Assess):
            _put_tags(action, said.tags)
            _put_yes_no(action["observed"], said.observed)
            _put_yes_no(action["preferred"], said.preferred)
        elif isinstance(said, AssessHP):
            _put_yes_no(action["observed_hp"], said.observed)
            _put_yes_no(action["preferred_hp"], said.preferred)
        elif isinstance(said, Prefer):
            for shown in request.comparisons:
                pick = said.picks.get(shown.index)
                if pick is not None and shown.number <= COMPARISONS:
                    action["picks"][shown.number - 1] = 1 if shown.to_shown(pick) == "A" else 2
        else:
            _put_reflect(action, request, said)
    return action


def _put_tags(action: dict[str, Any], tags: tuple[Tag, ...] | None) -> None:
    if tags == ():
        action["none"][0] = 1
    for tag in reversed(tags or ()):
        if tag.emotion in EMOTIONS:
            known = UNKNOWN_INTENSITY if tag.intensity is None else tag.intensity
            action["emotions"][EMOTIONS.index(tag.emotion)] = known


def _put_yes_no(slots: np.ndarray[Any, Any], answers: Mapping[str, YesNo]) -> None:
    for question, answer in answers.items():
        if question in SLOT:
            slots[SLOT[question]] = 2 if answer == "yes" else 1


def _put_reflect(action: dict[str, Any], request: Request, said: Reflect) -> None:
    options = request.options
    if request.wants_change:
        middle = (CHANGES + 1) // 2
        items = {name: value + middle for name, value in (said.panas_change or {}).items()}
    else:
        items = dict(said.panas)
    for names, values, field in ((EMOTIONS, items, "panas"), (BRANCHES, said.branches, "branches")):
        action[field][:] = [values.get(name, 0) for name in names]
    goals = [_number(text, options["q1_lookingFor"]) for text in said.q1 or ()]
    action["q1"][[number - 1 for number in goals if number]] = 1
    action["none"][1:] = said.q1 == (), said.q3_follow_up == ()
    action["q2"] = np.int64(_number(said.q2, options["q2_emotionClarity"]))
    action["q3"] = np.int64(_number(said.q3, options["q3_modelFit"]))
    action["follow_up"] = "\n".join(item.replace("\n", " ") for item in said.q3_follow_up or ())


def _number(text: str | None, options: tuple[str, ...]) -> int:
    """The 1-based number of an option, whatever its case; 0 where it is none of them."""
    folded = [option.strip().casefold() for option in options]
    wanted = None if text is None else text.strip().casefold()
    return folded.index(wanted) + 1 if wanted in folded else 0
