"""Import ESConv (Liu et al., ACL 2021): a seeker of emotional support chats with a human supporter.

The seeker is the HP, the supporter the OM. Strategies become the observed behaviours that they entail,
intensities the PANAS item that the emotion's own name is; docs/importing.md has the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, StrictStr

from attune_data.constants import BINARY_IDS
from attune_data.errors import DataError, Problem
from attune_data.fields import expected
from attune_data.importing.imported import (
    Foreign,
    Gathered,
    Imported,
    Text,
    Unusable,
    number_in,
    read_as,
    stated,
)
from attune_data.jsonio import read_json
from attune_data.schema import Conversation
from attune_data.validate import conversation_from

DATASET: Final = "ESConv"
LICENCE: Final = "CC BY-NC 4.0"

ENTAILED: Final[Mapping[str, str]] = {
    "question": "B13",
    "providing suggestions": "B11",
    "reflection of feelings": "B1",
}
"""Strategy -> the question whose observed answer is yes wherever the strategy is used."""
SILENT: Final[Mapping[str, str]] = {
    "restatement or paraphrasing": "a rephrasing may hold no specific detail (B3, B15)",
    "self-disclosure": "is about the supporter; no question asks that",
    "affirmation and reassurance": "affirms strengths, which is not validating what was felt (B19)",
    "information": "a fact or a resource is no explanation yet (B12)",
    "other": "says nothing about the reply",
}
"""Strategies that entail no answer, and why."""
_PLURALS: Final[Mapping[str, str]] = {"questions": "question", "others": "other"}
PANAS_ITEM: Final[Mapping[str, str]] = {
    "nervousness": "nervous",
    "fear": "afraid",
    "shame": "ashamed",
    "guilt": "guilty",
}
"""Emotion type -> the PANAS item that is its adjective."""
RATING: Final[Mapping[float, int]] = {1: 1, 2: 3, 3: 4, 4: 5, 5: 7}
"""Intensity 1–5 -> 1–7: 1 + 1.5 (x - 1), halves rounded towards the middle."""

_ADVICE: Final = (
    "is this an ESConv export (docs/importing.md)? --skip-invalid leaves out conversations that differ"
)
_BEFORE: Final = "messages before the seeker's first"
_AFTER: Final = "messages after the last reply"
_BLANK: Final = "blank messages"
_UNKNOWN: Final = "strategies of another name"
_FEEDBACK: Final = "feedback on replies"
_PREVIOUS: Final = "intensities of a previous experience"
_NO_ITEM: Final = "intensities of other emotions"
_REASONS: Final[Mapping[str, str]] = {
    _BEFORE: "the supporter began: a reply to nothing; kept under outsideTurns",
    _AFTER: "nobody replied; kept under outsideTurns",
    _BLANK: "no text",
    **{f"strategy {name}": reason for name, reason in SILENT.items()},
    _UNKNOWN: "not one of the eight",
    _FEEDBACK: "stars for helpfulness; no question asks that",
    _PREVIOUS: "PANAS asks how the person feels now",
    _NO_ITEM: f"only {', '.join(PANAS_ITEM)} are PANAS items by name",
    "seeker's empathy": "a rating of the supporter on another scale",
    "seeker's relevance": "a rating of the supporter on another scale",
    "supporter's relevance": "the supporter's view, not the seeker's",
    "situations": "written before the chat, not said in it",
    "other fields": "not among those of the format as it is described",
}


def _side(value: object) -> str:
    sides = {"seeker": "seeker", "speaker": "seeker", "supporter": "supporter", "listener": "supporter"}
    if not isinstance(value, str) or value not in sides:
        raise expected('"seeker" or "supporter" (also "speaker" or "listener")')
    return sides[value]


def _whole(value: float | None) -> float | None:
    if value is not None and value not in RATING:
        raise expected("a whole number from 1 to 5")
    return value


_Intensity = Annotated[float | None, number_in(1, 5), AfterValidator(_whole)]


class _Annotation(Foreign):
    strategy: Text = None
    feedback: Any = None


class _Message(Foreign):
    speaker: Annotated[StrictStr, BeforeValidator(_side)]
    content: StrictStr
    annotation: _Annotation | None = None

    @property
    def text(self) -> str:
        return self.content.strip()

    @property
    def strategy(self) -> str | None:
        return self.annotation.strategy if self.annotation else None


class _Side(Foreign):
    initial_emotion_intensity: _Intensity = None
    final_emotion_intensity: _Intensity = None
    empathy: Any = None
    relevance: Any = None


class _Survey(Foreign):
    seeker: _Side | None = None
    supporter: _Side | None = None


class _Chat(Foreign):
    dialog: list[_Message]
    experience_type: Text = None
    emotion_type: Text = None
    problem_type: Text = None
    situation: Text = None
    survey_score: _Survey | None = None


def import_esconv(path: str | Path, *, skip_invalid: bool = False) -> Imported:
    """Import an ESConv file (`ESConv.json`, `FailedESConv.json`, or one in their format).

    Args:
        path: the file: a list of conversations.
        skip_invalid: leave out conversations that are not of the format instead of raising at the first.

    Returns:
        The conversations in the file's order, `FILE-INDEX` their ids. One without any message that is
        answered is left out, which is no error.

    Raises:
        DataError: the file cannot be read, or a conversation is not of the format; or none is left.
    """
    file = Path(path)
    result = Gathered(skip_invalid)
    for index, value in enumerate(_records(file)):
        result.add(partial(_made, value, file, index), f"{file}[{index}]")
    return result.imported(str(path), DATASET, LICENCE, _REASONS)


def _records(file: Path) -> list[Any]:
    wanted = "a list of conversations, each with dialog, a list of messages {speaker, annotation, content}"
    if file.is_dir():
        inside = ", ".join(sorted(path.name for path in file.glob("*.json"))[:3])
        advice = f"the folder holds {inside}" if inside else "give the file, such as ESConv.json"
        raise DataError(Problem(str(file), "", "a folder", f"a file that holds {wanted}", advice))
    value = read_json(file, max_bytes=None)
    if isinstance(value, list) and value:
        return value
    own = isinstance(value, dict) and "turns" in value
    found = "an empty list" if value == [] else "an object" if isinstance(value, dict) else "no list"
    advice = "this is in the package's own format already: every command reads it as it is"
    raise DataError(Problem(str(file), "", found, wanted, advice if own else _ADVICE))


def _made(value: object, file: Path, index: int, left: Counter[str]) -> Conversation:
    """One conversation; counts what is left out of it and raises Unusable where it has no turn."""
    place = f"[{index}]"
    chat = read_as(_Chat, value, str(file), place, _ADVICE)
    _count_unused(chat, left)
    pre, post = _panas(chat, left)
    runs = [
        (side, list(said))
        for side, said in groupby((m for m in chat.dialog if m.text), key=lambda message: message.speaker)
    ]
    before = runs.pop(0)[1] if runs and runs[0][0] == "supporter" else []
    after = runs.pop()[1] if runs and runs[-1][0] == "seeker" else []
    if not runs:
        raise Unusable(str(file), f"{place}.dialog", "no answered message of the seeker", "at least one")
    left[_BEFORE] += len(before)
    left[_AFTER] += len(after)
    outside = {"before": [m.text for m in before] or None, "after": [m.text for m in after] or None}
    metadata = {
        "model": "human supporter",
        "category": chat.problem_type,
        "text": chat.problem_type,
        "dataset": DATASET,
        "licence": LICENCE,
        "record": f"{file.name}{place}",
        "emotion_type": chat.emotion_type,
        "experience_type": chat.experience_type,
    }
    record = {
        "conversationId": f"{file.stem[:100]}-{index}",
        "provenance": "imported",
        "metadata": stated(metadata),
        "prePanas": pre,
        "postPanas": post,
        "turns": [
            _turn(number, said, replied, left)
            for number, ((_, said), (_, replied)) in enumerate(zip(runs[::2], runs[1::2], strict=True), 1)
        ],
        "outsideTurns": stated(outside) or None,
    }
    return conversation_from(stated(record), f"{file}{place}")


def _turn(
    number: int, said: Sequence[_Message], replied: Sequence[_Message], left: Counter[str]
) -> dict[str, Any]:
    answers = set(_entailed((message.strategy for message in replied), left))
    judgements = [
        # an absent preferred answer would be read as the observed one; na is read as no answer
        {"questionId": question, "observedBehavior": "yes", "preferredBehavior": "na"}
        for question in BINARY_IDS
        if question in answers
    ]
    turn = {
        "turnNumber": number,
        "userMessage": "\n".join(message.text for message in said),
        "llmResponse": "\n".join(message.text for message in replied),
        "annotations": {"binaryJudgements": judgements} if judgements else None,
    }
    return stated(turn)


def _entailed(strategies: Iterable[str | None], left: Counter[str]) -> Iterator[str]:
    for strategy in strategies:
        if plain := (strategy or "").strip("[] ").casefold():
            name = _PLURALS.get(plain, plain)
            if name in ENTAILED:
                yield ENTAILED[name]
            else:
                left[f"strategy {name}" if name in SILENT else _UNKNOWN] += 1


def _panas(chat: _Chat, left: Counter[str]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The item concerned before and after, as far as the seeker rated it."""
    seeker = chat.survey_score.seeker if chat.survey_score else None
    if seeker is None:
        return None, None
    rated = (seeker.initial_emotion_intensity, seeker.final_emotion_intensity)
    item = PANAS_ITEM.get((chat.emotion_type or "").strip().casefold())
    if item is None or (chat.experience_type or "").casefold().startswith("previous"):
        left[_NO_ITEM if item is None else _PREVIOUS] += sum(rating is not None for rating in rated)
        return None, None
    first, last = ({"responses": {item: RATING[rating]}} if rating else None for rating in rated)
    return first, last


def _count_unused(chat: _Chat, left: Counter[str]) -> None:
    survey = chat.survey_score or _Survey()
    for name, value in (
        ("seeker's empathy", survey.seeker and survey.seeker.empathy),
        ("seeker's relevance", survey.seeker and survey.seeker.relevance),
        ("supporter's relevance", survey.supporter and survey.supporter.relevance),
        ("situations", chat.situation),
    ):
        left[name] += value not in (None, "")
    given = (m.annotation.feedback for m in chat.dialog if m.annotation)
    left[_FEEDBACK] += sum(feedback is not None for feedback in given)
    left[_BLANK] += sum(not message.text for message in chat.dialog)
    left["other fields"] += chat.unread
