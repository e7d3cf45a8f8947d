"""Read an official result record (one model, one conversation, one mode) into predictions.

Reading is lenient where the benchmark's own files vary: a missing key or null counts as unanswered, `[]` is
an answer, and wrong types count as unanswered with a warning. This project's additions are under the key
`attune` of the file, of each turn and of the post part; files without it are read in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar, cast

from attune_data.errors import Problem
from attune_data.format import affect
from attune_data.format.constants import BRANCHES, JUDGE_DIMENSIONS, Side
from attune_data.format.fields import INTENSITIES, RESPONSE_NAMES, WINNERS, read_answer
from attune_data.format.schema import Conversation, PairwiseComparison
from attune_data.format.validate import brief
from attune_data.jsonio import MAX_LISTED
from attune_rewards.predictions import (
    STAGES,
    Assess,
    AssessHP,
    ConversationPrediction,
    Draft,
    Judged,
    Prefer,
    Reflect,
    Stage,
    Tag,
    TurnPrediction,
    YesNo,
)
from attune_rewards.record.marks import mapping, marks_of

T = TypeVar("T")
_Reader = Callable[[Any], T]
"""Reads a value that is not null; raises `_Wrong` if it counts as unanswered."""


class _Wrong(ValueError):
    """Raised for an unusable value; the message says what was expected."""


def read_intensity(value: object) -> int | None:
    """Read 1–7 from a whole number (also as a string) or from mild, moderate, intense; otherwise None."""
    if isinstance(value, str):
        text = value[:20].strip().casefold()
        value = int(text) if len(text) == 1 and text in "1234567" else INTENSITIES.get(text)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 1 <= value <= 7 else None


def _instance(kind: Any, expected: str) -> _Reader[Any]:
    def read(value: Any) -> Any:
        if isinstance(value, kind):
            return value
        raise _Wrong(expected)

    return read


_text: Final[_Reader[str]] = _instance(str, "text")
_object: Final[_Reader[Mapping[str, Any]]] = _instance(Mapping, "an object")


def _number(low: float, high: float, *, whole: bool = False) -> _Reader[Any]:
    def read(value: Any) -> int | float:
        if type(value) in (int, float) and low <= value <= high and not (whole and value != int(value)):
            return int(value) if whole else value
        raise _Wrong(f"a {'whole ' if whole else ''}number from {low:g} to {high:g}")

    return read


def _yes_no(value: object) -> YesNo | None:
    """`na` counts as unanswered."""
    if (answer := read_answer(value)) is None:
        raise _Wrong('"yes" or "no"')
    return None if answer == "na" else answer


def _intensity(value: object) -> int:
    if (intensity := read_intensity(value)) is None:
        raise _Wrong("a whole number from 1 to 7")
    return intensity


class _Part:
    """An object of the record with its place; values of a wrong type count as unanswered, with a warning."""

    def __init__(
        self, fields: Mapping[str, Any], place: str, warn: Callable[[str, object, str], None]
    ) -> None:
        self.fields = fields
        self.place = place
        self._warn = warn

    def at(self, name: str) -> str:
        return f"{self.place}.{name}".lstrip(".")

    def warn(self, name: str, value: object, expected: str) -> None:
        """Warn that the value of a field, or one inside it, is not as expected and counts as unanswered."""
        self._warn(self.at(name), value, expected)

    def read(self, name: str, reader: _Reader[T | None]) -> T | None:
        """The value of a field; None if it is absent, null or invalid."""
        value = self.fields.get(name)
        try:
            return None if value is None else reader(value)
        except _Wrong as wrong:
            self.warn(name, value, str(wrong))
            return None

    def all(self, reader: _Reader[T | None]) -> dict[str, T]:
        """Field -> value, for the fields that have one."""
        found = {name: self.read(name, reader) for name in self.fields}
        return {name: value for name, value in found.items() if value is not None}

    def answers(self) -> dict[str, YesNo]:
        """Question id -> yes or no."""
        return self.all(_yes_no)

    def part(self, name: str) -> _Part:
        """The object in a field; an empty one if there is none."""
        return _Part(self.read(name, _object) or {}, self.at(name), self._warn)

    def items(self, name: str, expected: str) -> _Part | None:
        """The elements of a list as fields; None if there is no list."""
        values = self.read(name, _instance(list, expected))
        if values is None:
            return None
        return _Part({f"{name}[{i}]": value for i, value in enumerate(values)}, self.place, self._warn)

    def texts(self, name: str) -> tuple[str, ...] | None:
        """Read a list of texts; other elements are left out."""
        items = self.items(name, "a list of texts")
        return None if items is None else tuple(items.all(_text).values())

    def tags(self, name: str) -> tuple[Tag, ...] | None:
        """Read a list of emotions with or without intensity; other elements are left out."""
        items = self.items(name, "a list of tags")
        if items is None:
            return None
        found = []
        for at, value in items.fields.items():
            fields = value if isinstance(value, Mapping) else {"emotion": value}
            if isinstance(emotion := fields.get("emotion"), str):
                intensity = _Part(fields, self.at(at), self._warn).read("intensity", _intensity)
                found.append(Tag(affect.canonical_emotion(emotion) or emotion, intensity))
            else:
                self.warn(at, value, "a tag with an emotion")
        return tuple(found)


def read_record(
    record: Mapping[str, Any], conversation: Conversation, file: str = "result"
) -> tuple[ConversationPrediction, tuple[Problem, ...]]:
    """Return the predictions of an official result record for a conversation, and warnings.

    Turns that the conversation does not have are left out with a warning; of a repeated turn, the first one
    counts.
    """
    if not isinstance(record, Mapping):
        raise TypeError(f"a result record is an object, got {type(record).__name__}")
    warnings: list[Problem] = []

    def warn(place: str, value: object, expected: str) -> None:
        if len(warnings) < MAX_LISTED:
            place = place if len(place) <= 200 else f"{place[:200]}…"
            found = brief(value[:200] if isinstance(value, str) else value)
            warnings.append(Problem(file, place, found, expected, "counted as unanswered", "warning"))

    whole = _Part(record, "", warn)
    given = record.get("conversationId")
    if given is not None and given != conversation.conversation_id:
        whole.warn("conversationId", given, f"{conversation.conversation_id!r}, the conversation given")
    turns: dict[int, TurnPrediction] = {}
    entries = whole.items("turns", "a list")
    for at, entry in entries.fields.items() if entries else ():
        number = entry.get("turnNumber") if isinstance(entry, Mapping) else None
        truth = conversation.turn(number) if type(number) is int else None
        if not isinstance(entry, Mapping):
            whole.warn(at, entry, "an object")
        elif truth is None or number in turns:
            whole.warn(f"{at}.turnNumber", number, "a turn of the conversation, each once")
        else:
            turns[truth.turn_number] = _turn(_Part(entry, at, warn), truth.turn_number, truth.comparisons)
    post = whole.part("post_conversation")
    prediction = ConversationPrediction(
        conversation_id=conversation.conversation_id,
        turns=turns,
        reflect=_reflect(post) if post.fields else None,
        not_asked=_stages(marks_of(record).get("not_asked")) | (_not_asked(post.fields) & {"reflect"}),
    )
    return prediction, tuple(warnings)


def _stages(names: object) -> frozenset[Stage]:
    return frozenset(stage for stage in STAGES if isinstance(names, list) and stage in names)


def _not_asked(fields: Mapping[str, Any]) -> frozenset[Stage]:
    """Stages whose outcome is recorded as not asked."""
    outcomes = mapping(marks_of(fields).get("outcomes"))
    return _stages([stage for stage, outcome in outcomes.items() if outcome == "not_asked"])


def _turn(entry: _Part, number: int, comparisons: tuple[PairwiseComparison, ...]) -> TurnPrediction:
    draft = entry.read("em_drafted_response", _text)
    tags = entry.tags("em_emotion_tags")
    om, human, om_hp, human_hp = (
        entry.part(f"em_binary_{side}").answers()
        for side in ("om_assessment", "human_prediction", "om_assessment_hp", "human_prediction_hp")
    )
    return TurnPrediction(
        turn=number,
        draft=Draft(draft) if draft is not None else None,
        assess=Assess(tags, om, human, entry.read("emotion_reasoning", _text)),
        assess_hp=AssessHP(om_hp, human_hp),
        prefer=Prefer(dict(_picks(entry, comparisons))),
        judged=_judged(entry),
        not_asked=_not_asked(entry.fields),
    )


def _picks(entry: _Part, comparisons: tuple[PairwiseComparison, ...]) -> Iterator[tuple[int, Side]]:
    """Picks by the conversation's own sides; swapped ones are translated with `pairwise_assignment`."""
    assignment, given = entry.part("pairwise_assignment"), entry.part("em_pairwise_selections")
    index_of = {str(index): index for index in range(len(comparisons))}  # "00" is not another name for "0"
    for key, value in given.fields.items():
        side = WINNERS.get(value) if isinstance(value, str) else None
        if side is None or key not in index_of:
            if value is not None:
                given.warn(key, value, "A or B at the index of a comparison")
            continue
        frame, compared = assignment.fields.get(key), comparisons[index_of[key]]
        if isinstance(frame, Mapping) and ("A" in frame or "B" in frame):
            ours = (compared.response_a, compared.response_b)
            named = (frame.get("A"), frame.get("B"))
            theirs = tuple(RESPONSE_NAMES.get(name) if isinstance(name, str) else None for name in named)
            if theirs != ours and theirs == ours[::-1]:
                side = "B" if side == "A" else "A"
            elif theirs != ours:
                assignment.warn(key, theirs, f"the responses {ours}")
                continue
        yield index_of[key], side


def _judged(entry: _Part) -> Judged | None:
    scores = entry.part("em_draft_judge_scores").all(_number(*affect.SCALE))
    known = {name: scores[name] for name in JUDGE_DIMENSIONS if name in scores}
    assessment = entry.part("em_draft_binary_assessment")
    binary = assessment.answers() if assessment.fields else None
    return Judged(known, binary) if known or binary is not None else None


def _reflect(post: _Part) -> Reflect:
    panas, wide = post.part("predicted_post_panas"), post.part("predicted_conversation_wide")
    rating = _number(*affect.SCALE, whole=True)
    items = panas.part("items").all(rating)
    named = {affect.canonical_emotion(name) or name: value for name, value in items.items()}
    branches = wide.part("fourBranchScores").all(rating)
    totals = [
        None if (total := panas.read(f"total{side}Affect", _number(*affect.TOTALS))) is None else float(total)
        for side in ("Positive", "Negative")
    ]
    return Reflect(
        panas={name: named[name] for name in affect.EMOTIONS if name in named},
        panas_totals=cast(tuple[float | None, float | None], tuple(totals)),
        q1=wide.texts("q1_lookingFor"),
        q2=wide.read("q2_emotionClarity", _text),
        q3=wide.read("q3_modelFit", _text),
        q3_follow_up=wide.texts("q3_followUp_whatFeltOff"),
        branches={name: branches[name] for name in BRANCHES if name in branches},
    )
