"""ESConv (Liu et al., ACL 2021): a seeker of emotional support chats with a human supporter.

The seeker is the HP, the supporter the OM. Strategies become the observed behaviours that they entail,
intensities the PANAS item that the emotion's own name is; docs/importing.md has the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from attune_data.constants import BINARY_IDS
from attune_data.errors import DataError, Problem
from attune_data.importing.foreign import Part, missing
from attune_data.importing.imported import Gathered, Imported, Unusable, check_length
from attune_data.jsonio import read_json
from attune_data.schema import Conversation
from attune_data.validate import conversation_from

DATASET: Final = "ESConv"
LICENCE: Final = "CC BY-NC 4.0"

SPEAKERS: Final[Mapping[str, str]] = {
    "seeker": "seeker",
    "speaker": "seeker",
    "supporter": "supporter",
    "listener": "supporter",
}
"""Both spellings of the two sides."""
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

_READ: Final = frozenset(
    ["experience_type", "emotion_type", "problem_type", "situation", "survey_score", "dialog"]
)
_ADVICE: Final = (
    "is this an ESConv export (docs/importing.md)? --skip-invalid leaves out conversations that differ"
)
_MESSAGES: Final = "a list of messages {speaker, annotation, content}"
_OWN_FORMAT: Final = "this is in the package's own format already: every command reads it as it is"
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


def import_esconv(path: str | Path, *, skip_invalid: bool = False) -> Imported:
    """The conversations of an ESConv file (`ESConv.json`, `FailedESConv.json`, or one in their format).

    Args:
        path: the file: a list of conversations.
        skip_invalid: leave out conversations that are not of the format instead of raising at the first.

    Returns:
        The conversations in the file's order, `FILE-INDEX` their ids. One without any message that is
        answered is left out, which is no error.

    Raises:
        DataError: the file cannot be read, or the first place that is not of the format; or no
            conversation is left.
    """
    file = Path(path)
    result = Gathered(skip_invalid)
    for index, value in enumerate(_records(file)):
        result.add(partial(_made, value, file, index), f"{file}[{index}]")
    return result.imported(str(path), DATASET, LICENCE, _REASONS)


def _made(value: object, file: Path, index: int, left: Counter[str]) -> Conversation:
    expected = f"a conversation with dialog, {_MESSAGES}"
    record = Part.of(value, str(file), f"[{index}]", expected, _ADVICE)
    return _Conversation(record, f"{file.stem[:100]}-{index}", file.name, left).made()


def _records(file: Path) -> list[Any]:
    """The list in a file; raises DataError where there is none."""
    expected = f"a list of conversations, each with dialog, {_MESSAGES}"
    if not file.exists():
        raise missing(file, f"a file that holds {expected}")
    if file.is_dir():
        inside = ", ".join(sorted(path.name for path in file.glob("*.json"))[:3])
        advice = f"the folder holds {inside}" if inside else "give the file, such as ESConv.json"
        raise DataError(Problem(str(file), "", "a folder", f"a file that holds {expected}", advice))
    value = read_json(file, max_bytes=None)
    if isinstance(value, list) and value:
        return value
    own = isinstance(value, dict) and "turns" in value
    found = "an empty list" if value == [] else "an object" if isinstance(value, dict) else "no list"
    raise DataError(Problem(str(file), "", found, expected, _OWN_FORMAT if own else _ADVICE))


@dataclass(frozen=True, slots=True)
class _Message:
    side: str
    text: str
    strategy: str | None


class _Conversation:
    """One conversation of the file on its way into the format; counts what is left out."""

    def __init__(self, record: Part, identity: str, file_name: str, left: Counter[str]) -> None:
        self.record = record
        self.identity = identity
        self.file_name = file_name
        self.left = left

    def made(self) -> Conversation:
        """The conversation; raises Unusable where it has no turn."""
        record = self.record
        runs = [
            (side, list(messages))
            for side, messages in groupby(self._messages(), key=lambda message: message.side)
        ]
        before = runs.pop(0)[1] if runs and runs[0][0] == "supporter" else []
        after = runs.pop()[1] if runs and runs[-1][0] == "seeker" else []
        pre, post = self._panas()
        self._count_the_rest()
        if not runs:
            raise Unusable(
                record.file, record.at("dialog"), "no answered message of the seeker", "at least one"
            )
        check_length(len(runs) // 2, record.file, record.at("dialog"))
        self.left[_BEFORE] += len(before)
        self.left[_AFTER] += len(after)
        outside = {"before": [m.text for m in before], "after": [m.text for m in after]}
        value = {
            "conversationId": self.identity,
            "provenance": "imported",
            "metadata": self._metadata(),
            "prePanas": pre,
            "postPanas": post,
            "turns": [
                self._turn(number, said[1], replied[1])
                for number, (said, replied) in enumerate(zip(runs[::2], runs[1::2], strict=True), 1)
            ],
            "outsideTurns": {key: texts for key, texts in outside.items() if texts} or None,
        }
        return conversation_from(_stated(value), f"{record.file}{record.place}")

    def _messages(self) -> Iterator[_Message]:
        for part in self.record.parts("dialog", _MESSAGES):
            speaker = part.fields.get("speaker")
            side = SPEAKERS.get(speaker) if isinstance(speaker, str) else None
            if side is None:
                raise part.differs("speaker", '"seeker" or "supporter" (also "speaker" or "listener")')
            text = part.needed_text("content").strip()
            annotation = part.part("annotation")
            strategy = annotation.text("strategy") if annotation else None
            if annotation and annotation.fields.get("feedback") is not None:
                self.left[_FEEDBACK] += 1
            if text:
                yield _Message(side, text, strategy)
            else:
                self.left[_BLANK] += 1

    def _turn(self, number: int, said: list[_Message], replied: list[_Message]) -> dict[str, Any]:
        answers = set(self._entailed(message.strategy for message in replied))
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
        return _stated(turn)

    def _entailed(self, strategies: Iterable[str | None]) -> Iterator[str]:
        for strategy in strategies:
            if not strategy or not strategy.strip("[] "):
                continue
            plain = strategy.strip("[] ").casefold()
            name = _PLURALS.get(plain, plain)
            if name in ENTAILED:
                yield ENTAILED[name]
            else:
                self.left[f"strategy {name}" if name in SILENT else _UNKNOWN] += 1

    def _panas(self) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """The item concerned before and after, as far as the seeker rated it."""
        survey = self.record.part("survey_score")
        seeker = survey.part("seeker") if survey else None
        if seeker is None:
            return None, None
        before, after = (_intensity(seeker, f"{when}_emotion_intensity") for when in ("initial", "final"))
        stated = sum(rating is not None for rating in (before, after))
        item = PANAS_ITEM.get((self.record.text("emotion_type") or "").strip().casefold())
        if item is None:
            self.left[_NO_ITEM] += stated
            return None, None
        if (self.record.text("experience_type") or "").casefold().startswith("previous"):
            self.left[_PREVIOUS] += stated
            return None, None
        first, last = ({"responses": {item: rating}} if rating else None for rating in (before, after))
        return first, last

    def _metadata(self) -> dict[str, Any]:
        problem = self.record.text("problem_type")
        return {
            "model": "human supporter",
            "category": problem,
            "text": problem,
            "dataset": DATASET,
            "licence": LICENCE,
            "record": f"{self.file_name}{self.record.place}",
            "emotion_type": self.record.text("emotion_type"),
            "experience_type": self.record.text("experience_type"),
        }

    def _count_the_rest(self) -> None:
        survey = self.record.part("survey_score")
        for side, names in (("seeker", ("empathy", "relevance")), ("supporter", ("relevance",))):
            scores = survey.part(side) if survey else None
            for name in names:
                if scores and scores.fields.get(name) not in (None, ""):
                    self.left[f"{side}'s {name}"] += 1
        if self.record.text("situation"):
            self.left["situations"] += 1
        self.left["other fields"] += len(self.record.fields.keys() - _READ)


def _intensity(seeker: Part, name: str) -> int | None:
    value = seeker.number(name, 1, 5)
    if value is not None and value not in RATING:
        raise seeker.differs(name, "a whole number from 1 to 5")
    return None if value is None else RATING[value]


def _stated(record: dict[str, Any]) -> dict[str, Any]:
    """The record without what the source does not state."""
    return {
        key: _stated(value) if isinstance(value, dict) else value
        for key, value in record.items()
        if value is not None
    }
