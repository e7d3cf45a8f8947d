"""Reading an official result record (one model, one conversation, one mode) into predictions.

Lenient where the benchmark's own files vary: a missing key or null is unanswered, `[]` is an answer,
wrong types are unanswered and named in a warning. What this project adds stands under the key
`attune`, in the file, each turn and the post part; files without it read the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeVar, cast

from attune_data import affect
from attune_data.aliases import INTENSITIES, RESPONSE_NAMES, WINNERS, read_answer
from attune_data.constants import BRANCHES, JUDGE_DIMENSIONS, Side
from attune_data.errors import Problem
from attune_data.schema import Conversation, PairwiseComparison
from attune_data.validate import brief
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

MAX_LISTED: Final = 1_000
"""Warnings listed of one record."""
T = TypeVar("T")
_Warn = Callable[[str, object, str], None]
"""Notes that what stands at a place is not as expected."""


def read_intensity(value: object) -> int | None:
    """Read 1–7 from a whole number (digits in quotes too) or mild, moderate, intense; else None."""
    if isinstance(value, str):
        text = value[:20].strip().casefold()
        value = int(text) if len(text) == 1 and text in "1234567" else INTENSITIES.get(text)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 1 <= value <= 7 else None


class _Part:
    """An object of the record with its place; what has a wrong type is unanswered and warned of."""

    def __init__(self, fields: Mapping[str, Any], place: str, warn: _Warn) -> None:
        self.fields = fields
        self.place = place
        self._warn = warn

    def warn(self, name: str, value: object, expected: str) -> None:
        """Note that the value of a field, or in it, is not as expected and counts as unanswered."""
        self._warn(f"{self.place}.{name}".lstrip("."), value, expected)

    def part(self, name: str) -> _Part:
        """An object; one without any field where there is none."""
        value = self._of(name, Mapping, "an object")
        return _Part(value or {}, f"{self.place}.{name}".lstrip("."), self._warn)

    def text(self, name: str) -> str | None:
        text: str | None = self._of(name, str, "text")
        return text

    def list_of(
        self, name: str, expected: str, read: Callable[[object, str], T | None]
    ) -> tuple[T, ...] | None:
        """A list, or None; elements that `read` makes None of are left out."""
        values = self._of(name, list, expected)
        if values is None:
            return None
        read_all = (read(value, f"{name}[{index}]") for index, value in enumerate(values))
        return tuple(value for value in read_all if value is not None)

    def texts(self, name: str) -> tuple[str, ...] | None:
        def read(value: object, at: str) -> str | None:
            if isinstance(value, str):
                return value
            self.warn(at, value, "text")
            return None

        return self.list_of(name, "a list of texts", read)

    def tags(self, name: str) -> tuple[Tag, ...] | None:
        def read(value: object, at: str) -> Tag | None:
            fields = value if isinstance(value, Mapping) else {"emotion": value}
            emotion, given = fields.get("emotion"), fields.get("intensity")
            if not isinstance(emotion, str):
                self.warn(at, value, "a tag with an emotion")
                return None
            intensity = read_intensity(given)
            if intensity is None and given is not None:
                self.warn(f"{at}.intensity", given, "a whole number from 1 to 7")
            return Tag(affect.canonical_emotion(emotion) or emotion, intensity)

        return self.list_of(name, "a list of tags", read)

    def values(self, expected: str, read: Callable[[object], T | None]) -> dict[str, T]:
        """Field -> value; null is left out, and what `read` makes None of with a warning."""
        found: dict[str, T] = {}
        for name, given in self.fields.items():
            if (value := read(given)) is not None:
                found[name] = value
            elif given is not None:
                self.warn(name, given, expected)
        return found

    def answers(self) -> dict[str, YesNo]:
        """Question id -> yes/no; `na` counts as unanswered."""
        answers = self.values('"yes" or "no"', read_answer)
        return cast(dict[str, YesNo], {key: given for key, given in answers.items() if given != "na"})

    def ratings(self, low: float, high: float) -> dict[str, float]:
        """Field -> number within the scale."""
        return self.values(f"a number from {low:g} to {high:g}", partial(_within, low, high))

    def whole(self, low: int, high: int) -> dict[str, int]:
        """Field -> whole number within the scale."""

        def read(value: object) -> int | None:
            number = _within(low, high, value)
            return None if number is None or number != int(number) else int(number)

        return self.values(f"a whole number from {low} to {high}", read)

    def _of(self, name: str, kind: Any, expected: str) -> Any:
        value = self.fields.get(name)
        if value is None or isinstance(value, kind):
            return value
        self.warn(name, value, expected)
        return None


def _within(low: float, high: float, value: Any) -> float | None:
    return value if type(value) in (int, float) and low <= value <= high else None


def read_record(
    record: Mapping[str, Any], conversation: Conversation, file: str = "result"
) -> tuple[ConversationPrediction, tuple[Problem, ...]]:
    """Return the predictions that an official result record holds for a conversation, and warnings.

    Turns that the conversation does not have are left out with a warning; of a turn that stands twice,
    the first counts.
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

    def read_turn(entry: object, at: str) -> None:
        number = entry.get("turnNumber") if isinstance(entry, Mapping) else None
        truth = conversation.turn(number) if type(number) is int else None
        if not isinstance(entry, Mapping):
            whole.warn(at, entry, "an object")
        elif truth is None or number in turns:
            whole.warn(f"{at}.turnNumber", number, "a turn of the conversation, each once")
        else:
            turns[truth.turn_number] = _turn(_Part(entry, at, warn), truth.turn_number, truth.comparisons)

    whole.list_of("turns", "a list", read_turn)
    post = whole.part("post_conversation")
    skipped = frozenset(stage for stage in _not_asked(post.fields) if stage == "reflect")
    marks = record.get("attune")
    left_out = marks.get("not_asked") if isinstance(marks, Mapping) else ()
    prediction = ConversationPrediction(
        conversation_id=conversation.conversation_id,
        turns=turns,
        reflect=_reflect(post) if post.fields else None,
        not_asked=_stages(left_out) | skipped,
    )
    return prediction, tuple(warnings)


def _stages(names: object) -> frozenset[Stage]:
    return frozenset(stage for stage in STAGES if isinstance(names, list) and stage in names)


def _not_asked(fields: Mapping[str, Any]) -> frozenset[Stage]:
    """Stages whose outcome this project noted as not asked."""
    marks = fields.get("attune")
    outcomes = marks.get("outcomes") if isinstance(marks, Mapping) else None
    noted = outcomes if isinstance(outcomes, Mapping) else {}
    return _stages([stage for stage, outcome in noted.items() if outcome == "not_asked"])


def _turn(entry: _Part, number: int, comparisons: tuple[PairwiseComparison, ...]) -> TurnPrediction:
    draft = entry.text("em_drafted_response")
    tags = entry.tags("em_emotion_tags")
    om, human, om_hp, human_hp = (
        entry.part(f"em_binary_{side}").answers()
        for side in ("om_assessment", "human_prediction", "om_assessment_hp", "human_prediction_hp")
    )
    return TurnPrediction(
        turn=number,
        draft=Draft(draft) if draft is not None else None,
        assess=Assess(tags, om, human, entry.text("emotion_reasoning")),
        assess_hp=AssessHP(om_hp, human_hp),
        prefer=Prefer(dict(_picks(entry, comparisons))),
        judged=_judged(entry),
        not_asked=_not_asked(entry.fields),
    )


def _picks(entry: _Part, comparisons: tuple[PairwiseComparison, ...]) -> Iterator[tuple[int, Side]]:
    """Picks in the conversation's frame, translated by `pairwise_assignment` where that is swapped."""
    assignment, given = entry.part("pairwise_assignment"), entry.part("em_pairwise_selections")
    index_of = {str(index): index for index in range(len(comparisons))}  # "00" is no second name of "0"
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
    scores = entry.part("em_draft_judge_scores").ratings(*affect.SCALE)
    known = {name: scores[name] for name in JUDGE_DIMENSIONS if name in scores}
    assessment = entry.part("em_draft_binary_assessment")
    binary = assessment.answers() if assessment.fields else None
    return Judged(known, binary) if known or binary is not None else None


def _reflect(post: _Part) -> Reflect:
    panas, wide = post.part("predicted_post_panas"), post.part("predicted_conversation_wide")
    items = panas.part("items").whole(*affect.SCALE)
    named = {affect.canonical_emotion(name) or name: value for name, value in items.items()}
    branches = wide.part("fourBranchScores").whole(*affect.SCALE)

    def total(name: str) -> float | None:
        value = panas.fields.get(name)
        number = _within(*affect.TOTALS, value)
        if number is None and value is not None:
            panas.warn(name, value, "a number from 10 to 70")
        return None if number is None else float(number)

    return Reflect(
        panas={name: named[name] for name in affect.EMOTIONS if name in named},
        panas_totals=(total("totalPositiveAffect"), total("totalNegativeAffect")),
        q1=wide.texts("q1_lookingFor"),
        q2=wide.text("q2_emotionClarity"),
        q3=wide.text("q3_modelFit"),
        q3_follow_up=wide.texts("q3_followUp_whatFeltOff"),
        branches={name: branches[name] for name in BRANCHES if name in branches},
    )
