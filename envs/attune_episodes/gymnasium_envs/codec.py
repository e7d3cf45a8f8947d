"""Flat actions to typed predictions.

    flat -> typed    loses nothing that counts: fields of other stages are not read
    typed <-> JSON   `attune_episodes.render` and `parse`; loses nothing
    typed -> flat    a projection (`projection.to_flat`)

In a flat action 0 (or "") is no answer throughout, so the action of zeros answers nothing. Three answers may
be empty, and an empty answer is one: the field `none` says so, for emotions, q1 and follow_up in turn; a slot
of it counts only where its answer is empty otherwise. Comparisons are in the frame of the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from gymnasium.error import InvalidAction

from attune_data.affect import EMOTIONS
from attune_data.constants import BINARY_IDS, BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS, Side
from attune_data.errors import show
from attune_episodes.gymnasium_envs.spaces import CHANGES, COMPARISONS, FIELDS, FIELDS_OF, NONE_OF
from attune_episodes.parsing import Unparsed, parse, sound
from attune_episodes.parsing.extract import MAX_CHARS
from attune_episodes.request import Request
from attune_rewards.predictions import (
    PREDICTION_OF,
    Assess,
    AssessHP,
    Draft,
    Prediction,
    Prefer,
    Reflect,
    Stage,
    Tag,
    YesNo,
)

Flat = Mapping[str, Any]
"""A flat action: field -> array, number or text."""
Kept = tuple[Any, ...]
"""What one stage reads of a flat action, as bytes, numbers and texts."""
PLAIN: Final = 1_000
"""A follow-up of one word of fewer ASCII letters is read without JSON."""
_FOLLOW_UP: Final = "q3_followUp_whatFeltOff"
_YES_NO: Final[dict[int, YesNo]] = {1: "no", 2: "yes"}
_TAGS: Final = tuple({i: Tag(name, i) for i in range(1, 8)} for name in EMOTIONS)
_TO_1, _TO_2, _TO_7, _TO_13 = (bytes(range(highest + 1)) for highest in (1, 2, 7, CHANGES))
SLOT: Final = {name: slot for slot, name in enumerate(BINARY_IDS)}
SIZES: Final[dict[str, tuple[int, int]]] = {
    "emotions": (len(EMOTIONS), 7),
    "none": (len(NONE_OF), 1),
    **dict.fromkeys(["observed", "preferred", "observed_hp", "preferred_hp"], (len(BINARY_IDS), 2)),
    "picks": (COMPARISONS, 2),
    "panas": (len(EMOTIONS), 7),
    "q1": (len(Q1_OPTIONS), 1),
    "branches": (len(BRANCHES), 7),
}
"""Field of several slots -> how many, and the highest value."""
ONE_OF: Final = {"q2": len(Q2_OPTIONS), "q3": len(Q3_OPTIONS)}
TEXTS: Final = ("draft", "follow_up")


class FlatReader:
    """Reads the flat actions that answer one request, in two steps.

    `take` checks an action and keeps what it says as bytes and texts, which later changes of its arrays do
    not reach; `typed` makes the prediction of that, when it is needed.
    """

    __slots__ = ("_asked", "_questions", "_typed", "request", "take_only")

    def __init__(self, request: Request) -> None:
        self.request = request
        self._questions = tuple((q, SLOT[q]) for q in request.questions if q in SLOT)
        self._asked: tuple[tuple[int, int, dict[int, Side]], ...] = tuple(
            (c.number - 1, c.index, {1: c.to_conversation("A"), 2: c.to_conversation("B")})
            for c in request.comparisons
            if c.number <= COMPARISONS
        )
        self.take_only: Callable[[Flat], Kept] = (
            _take_changes if request.wants_change else _TAKE[request.stage]
        )
        self._typed = f"_{request.stage}"

    def read(self, action: Flat) -> Prediction | Unparsed:
        """What a flat action says to the request; an empty draft is unparsed, as an empty reply is.

        Only the fields of the stage are read. Raises InvalidAction naming the field, what was found and
        what was expected.
        """
        return self.typed(self.take(action))

    def take(self, action: Flat) -> Kept:
        """What the action says, checked; raises InvalidAction as `read` does."""
        try:
            return self.take_only(action)
        except (KeyError, AttributeError, TypeError, ValueError, IndexError):
            return self.take_only(_checked(action, self.request))

    def typed(self, kept: Kept) -> Prediction | Unparsed:
        """The prediction that `take` kept."""
        make: Callable[..., Prediction | Unparsed] = getattr(self, self._typed)
        return make(*kept)

    def _draft(self, text: str) -> Draft | Unparsed:
        if len(text) > MAX_CHARS:
            return Unparsed("too_long", f"{len(text)} characters")
        text = sound(text).strip()
        return Draft(text) if text else Unparsed("empty")

    def _assess(self, emotions: bytes, both: bytes, none: bytes) -> Assess:
        tags = tuple([t[v] for t, v in zip(_TAGS, emotions, strict=True) if v])
        answered = tags or none[0]
        return Assess(tags if answered else None, self._yes_no(both[:36]), self._yes_no(both[36:]))

    def _assess_hp(self, observed: bytes, preferred: bytes) -> AssessHP:
        return AssessHP(self._yes_no(observed), self._yes_no(preferred))

    def _yes_no(self, values: bytes) -> dict[str, YesNo]:
        return {question: _YES_NO[v] for question, slot in self._questions if (v := values[slot])}

    def _prefer(self, picks: bytes) -> Prefer:
        return Prefer({index: sides[v] for slot, index, sides in self._asked if (v := picks[slot])})

    def _reflect(
        self, panas: bytes, none: bytes, q1: bytes, q2: int, q3: int, follow_up: str, branches: bytes
    ) -> Reflect:
        options, changes = self.request.options, self.request.wants_change
        moved = (CHANGES + 1) // 2 if changes else 0
        items = {name: v - moved for name, v in zip(EMOTIONS, panas, strict=True) if v}
        goals = tuple([goal for goal, v in zip(options["q1_lookingFor"], q1, strict=True) if v])
        return Reflect(
            panas={} if changes else items,
            panas_change=items if changes else None,
            q1=goals if goals or none[1] else None,
            q2=options["q2_emotionClarity"][q2 - 1] if q2 else None,
            q3=options["q3_modelFit"][q3 - 1] if q3 else None,
            q3_follow_up=self.follow_up(follow_up, none=bool(none[2])),
            branches={name: v for name, v in zip(BRANCHES, branches, strict=True) if v},
        )

    def follow_up(self, text: str, *, none: bool) -> tuple[str, ...] | None:
        """One item a line, read as the list of a model's JSON is (a lone number names an option)."""
        lines = [line for line in map(str.strip, sound(text).split("\n")) if line]
        if not lines:
            return () if none else None
        if len(lines) == 1 and len(text) < PLAIN and text.isascii() and lines[0].isalpha():
            options = self.request.options[_FOLLOW_UP]
            return ({option.casefold(): option for option in options}.get(lines[0].casefold(), lines[0]),)
        said = parse(self.request, json.dumps({_FOLLOW_UP: lines}, ensure_ascii=False))
        return said.q3_follow_up if isinstance(said, Reflect) else None


def _slots(value: Any, size: int, allowed: bytes) -> bytes:
    """The values of an array of single bytes; ValueError where it is another kind of array.

    As many values as bytes: an array of wider numbers, or of another shape, is no such array.
    """
    taken: bytes = value.tobytes()
    if len(value) != size or len(taken) != size or taken.translate(None, allowed):
        raise ValueError
    return taken


def _take_draft(action: Flat) -> Kept:
    return (_text(action["draft"]),)


def _take_assess(action: Flat) -> Kept:
    # written out, since it runs at every other step
    felt, did, should, nothing = action["emotions"], action["observed"], action["preferred"], action["none"]
    emotions: bytes = felt.tobytes()
    observed: bytes = did.tobytes()
    both: bytes = observed + should.tobytes()
    none: bytes = nothing.tobytes()
    if (
        not len(emotions) == len(felt) == 20
        or not len(observed) == len(did) == 36
        or len(both) != 72
        or len(should) != 36
        or not len(none) == len(nothing) == 3
        or emotions.translate(None, _TO_7)
        or both.translate(None, _TO_2)
        or none.translate(None, _TO_1)
    ):
        raise ValueError
    return emotions, both, none


def _take_assess_hp(action: Flat) -> Kept:
    return _slots(action["observed_hp"], 36, _TO_2), _slots(action["preferred_hp"], 36, _TO_2)


def _take_prefer(action: Flat) -> Kept:
    return (_slots(action["picks"], COMPARISONS, _TO_2),)


def _take_items(action: Flat) -> Kept:
    return _take_reflect(action, _TO_7)


def _take_changes(action: Flat) -> Kept:
    return _take_reflect(action, _TO_13)


def _take_reflect(action: Flat, scale: bytes) -> Kept:
    return (
        _slots(action["panas"], 20, scale),
        _slots(action["none"], 3, _TO_1),
        _slots(action["q1"], 7, _TO_1),
        _option(action["q2"], len(Q2_OPTIONS)),
        _option(action["q3"], len(Q3_OPTIONS)),
        _text(action["follow_up"]),
        _slots(action["branches"], 4, _TO_7),
    )


_TAKE: Final[dict[Stage, Callable[[Flat], Kept]]] = {
    "draft": _take_draft,
    "assess": _take_assess,
    "assess_hp": _take_assess_hp,
    "prefer": _take_prefer,
    "reflect": _take_items,
}


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError
    return given


def _option(given: Any, options: int) -> int:
    number: int = given.__index__()
    if not 0 <= number <= options:
        raise ValueError
    return number


def _checked(action: object, request: Request) -> Flat:
    """The fields that the request reads, as arrays; raises InvalidAction where they are not valid."""
    names = FIELDS_OF[request.stage]
    if not isinstance(action, Mapping):
        raise InvalidAction(
            f"the action is {show(action)} ({type(action).__name__}); expected a dict of fields, which stage "
            f"{request.stage} reads {', '.join(names)} of (texts go through the wrapper JSONAction)"
        )
    clean: dict[str, Any] = {}
    for name in names:
        if name not in action:
            raise InvalidAction(
                f"the action has no field {name!r}, which stage {request.stage} reads; found "
                f"{', '.join(map(show, action))}, expected {', '.join(FIELDS)}"
            )
        clean[name] = _checked_field(name, action[name], request)
    return clean


def _checked_field(name: str, value: Any, request: Request) -> Any:
    if name in TEXTS:
        if not isinstance(value, str):
            raise _invalid(name, value, "a text")
        return value
    size, highest = SIZES.get(name, (0, ONE_OF.get(name, 0)))
    if name == "panas" and request.wants_change:
        highest = CHANGES
    wanted = f"{size} whole numbers from 0 to {highest}" if size else f"a whole number from 0 to {highest}"
    try:
        found = np.asarray(value)
    except (TypeError, ValueError):
        raise _invalid(name, value, wanted) from None
    if found.shape != ((size,) if size else ()) or found.dtype.kind not in "iub":
        raise _invalid(name, value, f"{wanted} (shape {(size,) if size else ()})")
    if found.min() < 0 or found.max() > highest:
        raise _invalid(name, value, wanted)
    return found.astype(np.int8) if size else int(found)


def _invalid(name: str, value: object, wanted: str) -> InvalidAction:
    shape = getattr(value, "shape", None)
    kind = type(value).__name__ + (f" of shape {tuple(shape)}" if shape is not None else "")
    return InvalidAction(f"action[{name!r}] is {show(value)} ({kind}); expected {wanted}")


def check_prediction(request: Request, said: object) -> Prediction:
    """The prediction, if it is one of the request's stage; InvalidAction otherwise."""
    wanted = PREDICTION_OF[request.stage]
    if not isinstance(said, wanted):
        raise InvalidAction(
            f"stage {request.stage} takes {wanted.__name__} or text, found {show(said)} "
            f"({type(said).__name__}; {request.id})"
        )
    return said
