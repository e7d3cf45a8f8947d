"""Expand the compact form of the written corpus into records of the benchmark's format.

A conversation is a JSON object: who holds it (`person`), its topic, PANAS `before` and `after` as twenty
digits in the benchmark's order, `goals`, `clarity`, `fit`, `off`, `branches` as four digits, its turns.
A turn:

    message   what the person wrote               felt    "Upset 5, Ashamed 2", or "" if nothing shifted
    reply     what the assistant answered         yes     questions whose observed answer is yes: "1 3 13 505"
    improved  another reply                       na      questions that do not apply: "5 16 17 18 406 408"
    edit      the reply as the person edited it   wanted  where the preferred answer differs: "+4 -13"
    ranks     "general E>I>R, 1 E>R>I, …": the edit, improved and received reply from best to worst, for the
              general question and three others

Questions in neither `yes` nor `na` are answered no.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from attune_data.errors import DataError, Problem, show
from attune_data.format.affect import EMOTIONS, panas_record
from attune_data.format.codebook import Codebook
from attune_data.format.constants import (
    BINARY_IDS,
    BRANCHES,
    PAIRWISE_IDS,
    Q1_OPTIONS,
    Q2_OPTIONS,
    Q3_OPTIONS,
    ResponseName,
)
from attune_data.seeding import digest

GOALS: Final = dict(
    zip(("listen", "sort", "decide", "urgent", "advice", "calm", "other"), Q1_OPTIONS, strict=True)
)
CLARITY: Final = dict(zip(("clear", "implied", "mixed", "unclear"), Q2_OPTIONS, strict=True))
FIT: Final = dict(zip(("very", "mostly", "mixed", "off"), Q3_OPTIONS, strict=True))
OFF: Final = (
    "early", "missed", "generic", "upbeat", "long", "formal", "assumed", "repeated", "questions", "smaller",
)  # fmt: skip
"""The options of "what felt off", in the codebook's order."""
LETTERS: Final[dict[str, ResponseName]] = {"R": "original", "I": "alternate", "E": "human"}
"""The letters in `ranks` for the received reply, the improved one and the edit."""
NEEDS: Final = {"505": "13", "310": "11", "313": "11", "316": "11", "408": "11"}
"""A yes to the first question implies a yes to the second; bad advice, for example, is advice."""
LATER: Final = ("5", "16", "406", "408")
"""Questions about earlier turns; they do not apply to the first."""

_TEXTS: Final = ("message", "reply", "improved", "edit")
_CODES: Final = ("felt", "yes", "na", "wanted", "ranks")
_TOP: Final = (
    "id", "category", "subtopic", "person", "attitude", "before", "after",
    "goals", "clarity", "fit", "off", "branches", "turns",
)  # fmt: skip
_PERSON: Final = ("id", "age", "gender", "place", "english", "education", "work", "diagnoses", "scores")


class _Sheet:
    """A conversation being checked; collects its problems."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def wrong(self, place: str, found: object, expected: str) -> None:
        text = "nothing" if found is None else show(found)
        self.problems.append(Problem(self.file, place, text, expected))

    def keys(self, value: object, names: Sequence[str], place: str) -> bool:
        """Whether a value is an object with exactly these keys."""
        if not isinstance(value, dict):
            self.wrong(place, value, "an object")
            return False
        for name in names:
            if name not in value:
                self.wrong(f"{place}.{name}".lstrip("."), None, "this field")
        for name in value:
            if name not in names:
                self.wrong(f"{place}.{name}".lstrip("."), name, f"one of {', '.join(names)}")
        return set(value) == set(names)

    def digits(self, value: object, count: int, place: str) -> tuple[int, ...]:
        """Read `count` ratings 1–7, written without spaces (spaces are accepted)."""
        text = value.replace(" ", "") if isinstance(value, str) else ""
        if not re.fullmatch(f"[1-7]{{{count}}}", text):
            self.wrong(place, value, f"{count} digits 1–7")
            return (1,) * count
        return tuple(map(int, text))

    def several(self, value: object, known: Sequence[str], place: str) -> list[str]:
        """Read distinct names from a list."""
        if not isinstance(value, list) or len(set(map(str, value))) != len(value) or set(value) - set(known):
            self.wrong(place, value, f"a list of different names out of: {', '.join(known)}")
            return []
        return value

    def one(self, value: object, known: Mapping[str, str], place: str) -> str:
        """Read one name from a list, in full."""
        if not isinstance(value, str) or value not in known:
            self.wrong(place, value, f"one of {', '.join(known)}")
        return known.get(str(value), "")


def expand(value: Any, file: str) -> dict[str, Any]:
    """Expand one compact conversation to a record; raises DataError listing all its problems."""
    sheet = _Sheet(file)
    record: dict[str, Any] = {}
    if sheet.keys(value, _TOP, "") and sheet.keys(value["person"], _PERSON, "person"):
        if isinstance(value["turns"], list) and value["turns"]:
            record = _record(sheet, value)
        else:
            sheet.wrong("turns", value["turns"], "at least one turn")
    if sheet.problems:
        raise DataError(sheet.problems)
    return record


def _record(sheet: _Sheet, value: Mapping[str, Any]) -> dict[str, Any]:
    offs = dict(zip(OFF, Codebook.own().options["q3_followUp_whatFeltOff"], strict=True))
    goals = sheet.several(value["goals"], tuple(GOALS), "goals")
    off = sheet.several(value["off"], OFF, "off")
    before, after = (
        panas_record(dict(zip(EMOTIONS, sheet.digits(value[key], 20, key), strict=True)))
        for key in ("before", "after")
    )
    if bool(off) != (value["fit"] in ("mixed", "off")):
        sheet.wrong("off", value["off"], "entries if the fit is mixed or off, and none otherwise")
    return {
        "conversationId": value["id"],
        "provenance": "own",
        "metadata": {
            "model": "written",
            "category": value["category"],
            "subtopic": value["subtopic"],
            "text": f"{value['category']}: {value['subtopic']}",
        },
        "participant_profile": profile_of(value["person"], value["attitude"], "written"),
        "prePanas": before,
        "postPanas": after,
        "conversationWideQuestions": {
            "fourBranchScores": dict(
                zip(BRANCHES, sheet.digits(value["branches"], 4, "branches"), strict=True)
            ),
            "q1_lookingFor": [GOALS[goal] for goal in goals],
            "q2_emotionClarity": sheet.one(value["clarity"], CLARITY, "clarity"),
            "q3_modelFit": sheet.one(value["fit"], FIT, "fit"),
            "q3_followUp_whatFeltOff": [offs[name] for name in off],
        },
        "turns": [_turn(sheet, turn, value["id"], i) for i, turn in enumerate(value["turns"])],
    }


def profile_of(person: Mapping[str, Any], attitude: str, kind: str) -> dict[str, Any]:
    """The profile of a person in the compact form."""
    return {
        "schema_version": "2.0",
        "participant_id": person["id"],
        "profile_type": kind,
        "demographics": {
            "country": person["place"],
            "education": person["education"],
            "work_edu_background": [person["work"]],
            "gender": person["gender"],
            "age_range": person["age"],
            "english_proficiency": person["english"],
            "diagnoses": person["diagnoses"],
        },
        "computed_scores": person["scores"],
        "conversation_topic_attitude": attitude,
    }


def _turn(sheet: _Sheet, turn: Any, conversation: str, index: int) -> dict[str, Any]:
    place = f"turns[{index}]"
    if not sheet.keys(turn, (*_TEXTS, *_CODES), place):
        return {}
    for name in (*_TEXTS, *_CODES):
        if not isinstance(turn[name], str) or (name in _TEXTS and not turn[name].strip()):
            sheet.wrong(f"{place}.{name}", turn[name], "a text")
            return {}
    replies = [turn[name] for name in ("reply", "improved", "edit")]
    if len({" ".join(reply.split()) for reply in replies}) < 3:
        sheet.wrong(f"{place}.edit", "the same text twice", "three different replies")
    ranks = dict(_ranks(sheet, turn["ranks"], f"{place}.ranks"))
    return {
        "turnNumber": index + 1,
        "userMessage": turn["message"],
        "llmResponse": turn["reply"],
        "moodShiftTags": _tags(sheet, turn["felt"], f"{place}.felt"),
        "annotations": {
            "binaryJudgements": _judgements(sheet, turn, index, place),
            "alternateResponses": {"llmImproved": turn["improved"], "humanEdited": turn["edit"]},
            "pairwiseComparisons": list(pairs_of(ranks, digest("written", conversation, index))),
            "selectedPairwiseQuestions": [question for question in ranks if question != "general"],
        },
    }


def _tags(sheet: _Sheet, text: str, place: str) -> list[dict[str, Any]]:
    tags = [
        {"emotion": match[1], "intensity": int(match[2])}
        for part in text.split(",")
        if (match := re.fullmatch(r"\s*([A-Z][a-z]+) ([1-7])\s*", part)) and match[1] in EMOTIONS
    ]
    count = len(text.split(",")) if text.strip() else 0
    if len({tag["emotion"] for tag in tags}) != count or count > 3:
        sheet.wrong(
            place, text, 'up to three different feelings with intensities, such as "Upset 5, Ashamed 2"'
        )
    return tags


def _judgements(sheet: _Sheet, turn: Mapping[str, str], index: int, place: str) -> list[dict[str, str]]:
    known = [question[1:] for question in BINARY_IDS]
    yes, na = (_numbers(sheet, turn[name], known, f"{place}.{name}") for name in ("yes", "na"))
    wanted, unwanted = (
        _numbers(sheet, " ".join(word[1:] for word in turn["wanted"].split() if word[0] == sign), known,
                 f"{place}.wanted")
        for sign in "+-"
    )  # fmt: skip
    if bare := [word for word in turn["wanted"].split() if word[0] not in "+-"]:
        sheet.wrong(f"{place}.wanted", bare[0], "+ or - before each number")
    rules: list[tuple[str, set[str], str]] = [
        ("na", yes & na, "a question in yes or in na, not in both"),
        ("wanted", wanted & yes, "+ only where the observed answer is no"),
        ("wanted", unwanted - yes, "- only where the observed answer is yes"),
        ("wanted", wanted & na, "nothing about a question that does not apply"),
        ("yes", {one for one, other in NEEDS.items() if one in yes and other not in yes},
         "; ".join(f"B{other} with B{one}" for one, other in NEEDS.items())),
        ("na", set(LATER) - na if index == 0 else set(), "not applicable in the first turn"),
    ]  # fmt: skip
    for name, found, expected in rules:
        if found:
            sheet.wrong(f"{place}.{name}", ", ".join(f"B{one}" for one in sorted(found, key=int)), expected)
    preferred = (yes - unwanted) | wanted
    return [
        {
            "questionId": f"B{one}",
            "observedBehavior": "na" if one in na else "yes" if one in yes else "no",
            "preferredBehavior": "na" if one in na else "yes" if one in preferred else "no",
        }
        for one in known
    ]


def _numbers(sheet: _Sheet, text: str, known: Sequence[str], place: str) -> set[str]:
    found = text.split()
    bad = [word for i, word in enumerate(found) if word not in known or word in found[:i]]
    if bad:
        sheet.wrong(place, bad[0], "numbers of yes/no questions, each once")
    return set(found) - set(bad)


def _ranks(sheet: _Sheet, text: str, place: str) -> Iterator[tuple[str, str]]:
    """Read (question, the three letters from best to worst) for each comparison question."""
    found: dict[str, str] = {}
    for part in text.split(","):
        match = re.fullmatch(r"\s*(general|\d+) ([REI])>([REI])>([REI])\s*", part)
        question = "" if match is None else match[1] if match[1] == "general" else f"PW{match[1]}"
        if match is None or question not in PAIRWISE_IDS or len(set(match.groups()[1:])) < 3:
            sheet.wrong(place, part.strip(), 'a question and an order of R, I and E, such as "4 E>R>I"')
            return
        found[question] = "".join(match.groups()[1:])
    if next(iter(found)) != "general" or len(found) != 4 or len(text.split(",")) != 4:
        sheet.wrong(place, text, "general, then three others of 1–16")
        return
    yield from found.items()


def pairs_of(ranks: Mapping[str, str], sides: bytes) -> Iterator[dict[str, str]]:
    """The comparisons of each question, with random sides; `ranks` are letters of `LETTERS`, best first."""
    drawn = iter(sides)
    for question, order in ranks.items():
        for pair in combinations([letter for letter in "REI" if letter in order], 2):
            first, second = pair if next(drawn) % 2 else pair[::-1]
            yield {
                "questionId": question,
                "responseA": LETTERS[first],
                "responseB": LETTERS[second],
                "winner": "A" if order.index(first) < order.index(second) else "B",
            }
