"""Structured actions, texts and typed predictions as answers to requests.

In a structured action 0 (or "") means no answer, so the action of zeros answers nothing. Three answers may be
empty, which is an answer too: the field `none` says so for emotions, q1 and follow_up; a slot of it counts
only where that answer is empty otherwise. Picks are in the frame of the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from gymnasium.error import InvalidAction

from attune_data.affect import EMOTIONS
from attune_data.constants import BINARY_IDS, BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS, Side
from attune_data.errors import show
from attune_episodes.gymnasium_envs.spaces import (
    COMPARISONS,
    FIELDS,
    NO_CHANGE,
    NONE_OF,
    TEXTS,
    YES_NO,
)
from attune_episodes.parsing import Unparsed, extract_object, parse, sound
from attune_episodes.parsing.extract import MAX_CHARS
from attune_episodes.parsing.parse import read_options
from attune_episodes.plan import OPTION_FIELDS
from attune_episodes.request import Request
from attune_rewards.predictions import (
    PREDICTION_OF,
    Assess,
    AssessHP,
    Draft,
    Prediction,
    Prefer,
    Reflect,
    Tag,
    TurnPrediction,
    YesNo,
)

Structured = Mapping[str, Any]
"""A structured action: field -> array, number or text."""
Action = Structured | str | Prediction | TurnPrediction
Answer = tuple[Prediction | Unparsed, str | None]
"""A reply as it was read, and its raw text if it had one."""
_UP_TO: Final = tuple(frozenset(range(highest + 1)) for highest in range(2 * NO_CHANGE))
"""Highest value -> the values allowed."""
_SHAPES: Final[dict[str, tuple[tuple[int, ...], frozenset[int]]]] = {
    "emotions": ((len(EMOTIONS),), _UP_TO[7]),
    "none": ((len(NONE_OF),), _UP_TO[1]),
    **dict.fromkeys(YES_NO, ((len(BINARY_IDS),), _UP_TO[2])),
    "picks": ((COMPARISONS,), _UP_TO[2]),
    "panas": ((len(EMOTIONS),), _UP_TO[7]),
    "q1": ((len(Q1_OPTIONS),), _UP_TO[1]),
    "q2": ((), _UP_TO[len(Q2_OPTIONS)]),
    "q3": ((), _UP_TO[len(Q3_OPTIONS)]),
    "branches": ((len(BRANCHES),), _UP_TO[7]),
}
"""Field of numbers -> its shape and the values allowed."""
_SLOT: Final = {name: slot for slot, name in enumerate(BINARY_IDS)}
_TAGS: Final = tuple(tuple(Tag(name, value) for value in range(8)) for name in EMOTIONS)
_ANSWERS: Final[tuple[YesNo, ...]] = ("no", "no", "yes")
"""Value -> answer; 0 is never looked up."""
_SIDES: Final[tuple[Side, Side]] = ("A", "B")
UNKNOWN_INTENSITY: Final = 4
"""The intensity that a tag without one gets in a structured action."""


# --- reading ----------------------------------------------------------------------------------------------


def read_action(requests: Sequence[Request], action: object) -> list[Answer]:
    """The answers that an action gives to the requests of a step.

    A text is read as `parse` reads it, that to several requests as an object with a key per stage. Raises
    InvalidAction, naming what was found and expected, for what is no action or answers something else.
    """
    if isinstance(action, (dict, Mapping)):  # the first is the faster
        return [(read_structured(request, action), None) for request in requests]
    if isinstance(action, str):
        return _read_text(requests, sound(action))
    return _read_typed(requests, action)


def _read_text(requests: Sequence[Request], text: str) -> list[Answer]:
    if len(requests) == 1:
        return [(parse(requests[0], text), text)]
    found = extract_object(text)
    if isinstance(found, Unparsed):
        return [(found, text) for _ in requests]
    answers: list[Answer] = []
    for request in requests:
        part = found.get(request.stage)
        if part is None:
            answers.append((Unparsed("no_fields", f"no {request.stage}"), ""))
        else:
            own = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
            answers.append((parse(request, own), own))
    return answers


def _read_typed(requests: Sequence[Request], said: object) -> list[Answer]:
    turn = requests[0].turn
    if isinstance(said, TurnPrediction) and turn is not None:
        if said.turn != turn:
            raise InvalidAction(f"the action answers turn {said.turn}, expected turn {turn}")
        given = [getattr(said, request.stage) for request in requests]
    elif len(requests) == 1:
        given = [said]
    else:
        asked = ", ".join(one.stage for one in requests)
        raise InvalidAction(
            f"turn {turn} asks {asked}: expected a structured action, a text or a TurnPrediction, found "
            f"{show(said)} ({type(said).__name__})"
        )
    for request, one in zip(requests, given, strict=True):
        wanted = PREDICTION_OF[request.stage]
        if not isinstance(one, wanted) and (one is not None or one is said):
            raise InvalidAction(
                f"stage {request.stage} takes a structured action, a text or {wanted.__name__}, found "
                f"{show(one)} ({type(one).__name__}; {request.id})"
            )
    return [(Unparsed("empty"), "") if one is None else (one, None) for one in given]


def read_structured(request: Request, action: Structured) -> Prediction | Unparsed:
    """The prediction of a structured action; an empty draft is unparsed, as an empty reply is.

    Only the fields of the stage are read. Raises InvalidAction naming the field, what was found and expected.
    """
    if request.stage == "draft":
        text = _text(action, "draft")
        if len(text) > MAX_CHARS:
            return Unparsed("too_long", f"{len(text)} characters")
        return Draft(sound(text).strip()) if text.strip() else Unparsed("empty")
    if request.stage == "assess":
        felt, none = _numbers(action, "emotions"), _numbers(action, "none")
        tags = tuple([tag[value] for tag, value in zip(_TAGS, felt, strict=True) if value])
        observed, preferred = _yes_no(request, action, "observed"), _yes_no(request, action, "preferred")
        return Assess(tags if tags or none[0] else None, observed, preferred)
    if request.stage == "assess_hp":
        return AssessHP(_yes_no(request, action, "observed_hp"), _yes_no(request, action, "preferred_hp"))
    if request.stage == "prefer":
        return Prefer(_picks(request, _numbers(action, "picks")))
    return _reflect(request, action)


def _yes_no(request: Request, action: Structured, name: str) -> dict[str, YesNo]:
    asked, values = _places(request.questions), _numbers(action, name)
    return {question: _ANSWERS[value] for question, slot in asked if (value := values[slot])}


@lru_cache(maxsize=1024)
def _places(questions: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """The questions that have a slot, with it."""
    return tuple((question, _SLOT[question]) for question in questions if question in _SLOT)


def _picks(request: Request, values: list[int]) -> dict[int, Side]:
    return {
        shown.index: _SIDES[(value == 2) != shown.swapped]
        for shown in request.comparisons
        if shown.number <= COMPARISONS and (value := values[shown.number - 1])
    }


def _reflect(request: Request, action: Structured) -> Reflect:
    goals, clarity, fit, felt_off = (request.options[name] for name in OPTION_FIELDS)
    changes, none = request.wants_change, _numbers(action, "none")
    items = _numbers(action, "panas", _UP_TO[-1] if changes else None)
    moved = NO_CHANGE if changes else 0
    panas = {name: value - moved for name, value in zip(EMOTIONS, items, strict=True) if value}
    q1 = tuple([goal for goal, bit in zip(goals, _numbers(action, "q1"), strict=True) if bit])
    (q2,), (q3,) = _numbers(action, "q2"), _numbers(action, "q3")
    lines = [line for line in map(str.strip, sound(_text(action, "follow_up")).split("\n")) if line]
    branches = zip(BRANCHES, _numbers(action, "branches"), strict=True)
    return Reflect(
        panas={} if changes else panas,
        panas_change=panas if changes else None,
        q1=q1 if q1 or none[1] else None,
        q2=clarity[q2 - 1] if q2 else None,
        q3=fit[q3 - 1] if q3 else None,
        q3_follow_up=read_options(lines, felt_off) if lines or none[2] else None,
        branches={name: value for name, value in branches if value},
    )


def _numbers(action: Structured, name: str, allowed: frozenset[int] | None = None) -> list[int]:
    """The numbers of a field, checked; one in a list where the field is a single number."""
    shape, usual = _SHAPES[name]
    allowed = allowed or usual
    try:
        found = np.asarray(action[name])
        numbers: list[int] = found.tolist() if shape else [found.item()]
        if found.shape == shape and found.dtype.kind in "iub" and allowed.issuperset(numbers):
            return numbers
    except (KeyError, TypeError, ValueError):
        pass  # no such field, or lists of different lengths
    wanted = f"{shape[0]} whole numbers" if shape else "a whole number"
    raise _invalid(action, name, f"{wanted} from 0 to {max(allowed)}")


def _text(action: Structured, name: str) -> str:
    value = action.get(name)
    if not isinstance(value, str):
        raise _invalid(action, name, "a text")
    return value


def _invalid(action: Structured, name: str, wanted: str) -> InvalidAction:
    if name not in action:
        fields = ", ".join(map(show, action))
        return InvalidAction(
            f"the action has no field {name!r}; found {fields}, expected {', '.join(FIELDS)}"
        )
    shape = getattr(action[name], "shape", None)
    kind = type(action[name]).__name__ + (f" of shape {tuple(shape)}" if shape is not None else "")
    return InvalidAction(f"action[{name!r}] is {show(action[name])} ({kind}); expected {wanted}")


# --- writing ----------------------------------------------------------------------------------------------


def no_answer(*, hp: bool = False) -> dict[str, Any]:
    """The structured action that answers nothing: zeros and empty texts.

    Args:
        hp: with the fields of the stage assess_hp.
    """
    action: dict[str, Any] = dict.fromkeys(TEXTS, "")
    for name, (shape, _) in _SHAPES.items():
        action[name] = np.zeros(shape, np.int8 if shape else np.int64)[()]
    return {name: action[name] for name in FIELDS if hp or not name.endswith("_hp")}


def to_action(answers: Iterable[tuple[Request, Prediction]], *, hp: bool = False) -> dict[str, Any]:
    """The structured action that says what typed predictions say, as far as it can.

    It cannot hold reasoning; the order of tags and goals; emotions outside the 20, and an emotion twice; an
    unknown intensity (which becomes 4); questions without a slot, and comparisons beyond the 12th; free-text
    options; line ends within an item of the follow-up (which become blanks); stated PANAS totals.

    Args:
        answers: requests with their predictions, each stage at most once.
        hp: with the fields of the stage assess_hp, whether it is answered or not.
    """
    given = list(answers)
    action = no_answer(hp=hp or any(isinstance(said, AssessHP) for _, said in given))
    for request, said in given:
        if isinstance(said, Draft):
            action["draft"] = said.text
        elif isinstance(said, Prefer):
            for shown in request.comparisons[:COMPARISONS]:
                if (pick := said.picks.get(shown.index)) is not None:
                    action["picks"][shown.number - 1] = 1 if shown.to_shown(pick) == "A" else 2
        elif isinstance(said, Reflect):
            _put_reflect(action, request, said)
        else:
            suffix = "_hp" if isinstance(said, AssessHP) else ""
            for name, known in (("observed", said.observed), ("preferred", said.preferred)):
                action[name + suffix][:] = [{"no": 1, "yes": 2}.get(known.get(q, ""), 0) for q in BINARY_IDS]
            if isinstance(said, Assess):
                action["none"][0] = said.tags == ()
                for tag in reversed(said.tags or ()):  # the first of two on one emotion counts
                    if tag.emotion in EMOTIONS:
                        action["emotions"][EMOTIONS.index(tag.emotion)] = tag.intensity or UNKNOWN_INTENSITY
    return action


def _put_reflect(action: dict[str, Any], request: Request, said: Reflect) -> None:
    goals, clarity, fit, _ = (request.options[name] for name in OPTION_FIELDS)
    moved = NO_CHANGE if request.wants_change else 0
    items = {
        name: value + moved for name, value in ((said.panas_change if moved else said.panas) or {}).items()
    }
    action["panas"][:] = [items.get(name, 0) for name in EMOTIONS]
    action["branches"][:] = [said.branches.get(name, 0) for name in BRANCHES]
    chosen = [_number(goal, goals) for goal in said.q1 or ()]
    action["q1"][:] = [number in chosen for number in range(1, len(goals) + 1)]
    action["none"][1:] = said.q1 == (), said.q3_follow_up == ()
    action["q2"], action["q3"] = np.int64(_number(said.q2, clarity)), np.int64(_number(said.q3, fit))
    action["follow_up"] = "\n".join(item.replace("\n", " ") for item in said.q3_follow_up or ())


def _number(text: str | None, options: tuple[str, ...]) -> int:
    """The 1-based number of an option, whatever its case; 0 where it is none of them."""
    folded = [option.strip().casefold() for option in options]
    wanted = None if text is None else text.strip().casefold()
    return folded.index(wanted) + 1 if wanted in folded else 0
