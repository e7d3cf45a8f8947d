"""Import ESConv (Liu et al., ACL 2021): a seeker of emotional support chats with a human supporter.

The seeker is the HP, the supporter the OM. Strategies become the observed behaviours that they imply,
intensities become ratings of the PANAS item of the same name, and the seeker's stars during the chat become
its fit; docs/importing.md has the table.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import mean
from typing import Annotated, Any, Final, Literal

from pydantic import StrictStr

from attune_data.errors import DataError, Problem
from attune_data.format.constants import BINARY_IDS, Q3_OPTIONS
from attune_data.format.schema import Conversation
from attune_data.format.validate import conversation_from
from attune_data.importing.imported import (
    Foreign,
    Imported,
    Left,
    Origin,
    Text,
    Unusable,
    gathered,
    number_in,
    read_as,
    stated,
    stretched,
)
from attune_data.importing.strategies import ENTAILED, UNSAID, strategy_named
from attune_data.jsonio import read_json

ORIGIN: Final = Origin("ESConv", "CC BY-NC 4.0", non_commercial=True)

PANAS_ITEM: Final[Mapping[str, str]] = {
    "nervousness": "nervous",
    "fear": "afraid",
    "shame": "ashamed",
    "guilt": "guilty",
}
"""Emotion type -> the PANAS item with the corresponding adjective."""
FEWEST_STARS: Final = 2
"""Stars that a chat needs for an answer to Q3: one star is of one moment."""
_ADVICE: Final = (
    "is this an ESConv export (docs/importing.md)? --skip-invalid leaves out conversations that differ"
)
_LEFT: Final[Mapping[str, str]] = {
    "messages before the seeker's first": "a reply to nothing; kept under outsideTurns",
    "messages after the last reply": "nobody replied; kept under outsideTurns",
    "blank messages": "no text",
    **{f"strategy {name}": reason for name, reason in UNSAID.items()},
    "strategies of another name": "not in the table",
    "stars before the first reply": "they rate nothing",
    "intensities of a previous experience": "PANAS asks how the person feels now",
    "intensities of other emotions": f"only {', '.join(PANAS_ITEM)} are PANAS items by name",
    "seeker's empathy": "a rating of the supporter on another scale",
    "seeker's relevance": "a rating of the supporter on another scale",
    "supporter's relevance": "the supporter's view, not the seeker's",
    "situations": "written before the chat, not said in it",
    "other fields": "not among those of the format as it is described",
}
"""Kind of entry left out of the source -> reason."""

_OneToFive = Annotated[int | None, number_in(1, 5, whole=True)]


class _Annotation(Foreign):
    strategy: Text = None
    feedback: _OneToFive = None


class _Message(Foreign):
    speaker: Literal["seeker", "supporter", "speaker", "listener"]
    content: StrictStr
    annotation: _Annotation | None = None

    @property
    def by_seeker(self) -> bool:
        return self.speaker in ("seeker", "speaker")

    @property
    def text(self) -> str:
        return self.content.strip()

    @property
    def notes(self) -> _Annotation:
        return self.annotation or _Annotation()


class _Side(Foreign):
    initial_emotion_intensity: _OneToFive = None
    final_emotion_intensity: _OneToFive = None
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

    def sides(self) -> tuple[_Side, _Side]:
        """The survey answers of the seeker and the supporter."""
        survey = self.survey_score or _Survey()
        return survey.seeker or _Side(), survey.supporter or _Side()


def import_esconv(path: str | Path, *, skip_invalid: bool = False) -> Imported:
    """Import an ESConv file (`ESConv.json`, `FailedESConv.json`, or one in their format).

    Args:
        path: the file: a list of conversations.
        skip_invalid: leave out conversations that do not follow the format instead of raising at the first
            one.

    Returns:
        The conversations in the file's order, with `FILE-INDEX` as their ids. One in which no message is
        answered is left out without an error.

    Raises:
        DataError: the file cannot be read, a conversation does not follow the format, or none is left.
    """
    file = Path(path)
    records = ((f"{file}[{i}]", partial(_made, value, file, i)) for i, value in enumerate(_records(file)))
    return gathered(str(path), ORIGIN, records, _LEFT, Counter(), skip_invalid=skip_invalid)


def _records(file: Path) -> list[Any]:
    wanted = "a list of conversations, each with dialog, a list of messages {speaker, annotation, content}"
    if file.is_dir():
        inside = ", ".join(sorted(path.name for path in file.glob("*.json"))[:3])
        advice = f"the folder contains {inside}" if inside else "give the file, such as ESConv.json"
        raise DataError(Problem(str(file), "", "a folder", f"a file with {wanted}", advice))
    value = read_json(file, max_bytes=None)
    if isinstance(value, list) and value:
        return value
    own = isinstance(value, dict) and "turns" in value
    found = "an empty list" if value == [] else "an object" if isinstance(value, dict) else "no list"
    advice = "this file already has the package's own format: every command can read it directly"
    raise DataError(Problem(str(file), "", found, wanted, advice if own else _ADVICE))


def _made(value: object, file: Path, index: int, left: Left) -> Conversation:
    """Convert one conversation; counts what is left out and raises Unusable if it has no turn."""
    place = f"[{index}]"
    chat = read_as(_Chat, value, str(file), place, _ADVICE)
    runs = [
        (by_seeker, list(said))
        for by_seeker, said in groupby((m for m in chat.dialog if m.text), key=lambda m: m.by_seeker)
    ]
    before = runs.pop(0)[1] if runs and not runs[0][0] else []
    after = runs.pop()[1] if runs and runs[-1][0] else []
    if not runs:
        raise Unusable(str(file), f"{place}.dialog", "no seeker message with a reply", "at least one")
    turns: list[dict[str, Any]] = []
    # the seeker rates the last messages of the supporter, so a star stands on a message after them
    given = [*(_stars(said) for _, said in runs[2::2]), _stars(after)]
    left["stars before the first reply"] += _stars(runs[0][1]) is not None
    for (_, said), (_, replied), stars in zip(runs[::2], runs[1::2], given, strict=True):
        answers = set(_entailed(replied, left))
        judgements = [
            # an absent preferred answer would default to the observed one; na counts as no answer
            {"questionId": question, "observedBehavior": "yes", "preferredBehavior": "na"}
            for question in BINARY_IDS
            if question in answers
        ]
        turn = {
            "turnNumber": len(turns) + 1,
            "userMessage": "\n".join(message.text for message in said),
            "llmResponse": "\n".join(message.text for message in replied),
            "annotations": {"binaryJudgements": judgements} if judgements else None,
            "stars": stars,
        }
        turns.append(stated(turn))
    left.update(
        {"messages before the seeker's first": len(before), "messages after the last reply": len(after)}
    )
    _count_unused(chat, left)
    pre, post = _panas(chat, left)
    metadata = {
        "model": "human supporter",
        "category": chat.problem_type,
        "text": chat.problem_type,
        **ORIGIN.metadata,
        "record": f"{file.name}{place}",
        "emotion_type": chat.emotion_type,
        "experience_type": chat.experience_type,
    }
    outside = {"before": [m.text for m in before] or None, "after": [m.text for m in after] or None}
    record = {
        "conversationId": f"{file.stem[:100]}-{index}",
        "provenance": "imported",
        "metadata": stated(metadata),
        "prePanas": pre,
        "postPanas": post,
        "conversationWideQuestions": _fit(given),
        "turns": turns,
        "outsideTurns": stated(outside) or None,
    }
    return conversation_from(stated(record), f"{file}{place}")


def _stars(said: list[_Message]) -> int | None:
    """The last stars among the seeker's messages in a row."""
    return next((stars for one in reversed(said) if (stars := one.notes.feedback) is not None), None)


def _fit(given: list[int | None]) -> dict[str, str] | None:
    """The answer to Q3 for the mean of a chat's stars: the best from 4 up, then one step for each star."""
    stars = [one for one in given if one is not None]
    if len(stars) < FEWEST_STARS:
        return None
    return {"q3_modelFit": Q3_OPTIONS[max(0, 4 - math.floor(mean(stars)))]}


def _entailed(replied: list[_Message], left: Left) -> Iterator[str]:
    """The questions answered with yes by the strategies of a reply; counts the other strategies."""
    for message in replied:
        if plain := (message.notes.strategy or "").strip("[] "):
            name = strategy_named(plain)
            if name in ENTAILED:
                yield from ENTAILED[name]
            else:
                left[f"strategy {name}" if name else "strategies of another name"] += 1


def _panas(chat: _Chat, left: Left) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The rating of the item before and after, as far as the seeker gave one."""
    seeker, _ = chat.sides()
    rated = (seeker.initial_emotion_intensity, seeker.final_emotion_intensity)
    item = PANAS_ITEM.get((chat.emotion_type or "").strip().casefold())
    if item is None or (chat.experience_type or "").casefold().startswith("previous"):
        reason = "intensities of other emotions" if item is None else "intensities of a previous experience"
        left[reason] += sum(rating is not None for rating in rated)
        return None, None
    first, last = (
        {"responses": {item: stretched(rating, 1, 5)}} if rating is not None else None for rating in rated
    )
    return first, last


def _count_unused(chat: _Chat, left: Left) -> None:
    seeker, supporter = chat.sides()
    for reason, value in (
        ("seeker's empathy", seeker.empathy),
        ("seeker's relevance", seeker.relevance),
        ("supporter's relevance", supporter.relevance),
        ("situations", chat.situation),
    ):
        left[reason] += value not in (None, "")
    left["blank messages"] += sum(not message.text for message in chat.dialog)
    left["other fields"] += chat.unread
