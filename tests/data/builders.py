"""Small valid records in the benchmark's format, what holds them, and what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from attune_data import Conversation, DataError, Problem
from attune_data.format.affect import EMOTIONS
from attune_data.format.validate import conversation_from

Json = dict[str, Any]
Place = tuple[str | int, ...]
"""Keys and indices that lead to a value inside a record."""


def judgement(question: str = "B1", observed: Any = "yes", preferred: Any = "no", **more: Any) -> Json:
    return {"questionId": question, "observedBehavior": observed, "preferredBehavior": preferred} | more


def comparison(
    question: str = "general", a: str = "original", b: str = "alternate", winner: Any = "A"
) -> Json:
    return {"questionId": question, "responseA": a, "responseB": b, "winner": winner}


NEGATIVE_ITEMS = (
    "irritable", "ashamed", "nervous", "jittery", "distressed",
    "afraid", "upset", "guilty", "scared", "hostile",
)  # fmt: skip


def panas(positive: int = 3, negative: int = 2, **overrides: Any) -> Json:
    """All 20 items, the positive ones answered `positive`, the others `negative`, and their totals."""
    return {
        "totalPositiveAffect": 10 * positive,
        "totalNegativeAffect": 10 * negative,
        "responses": {
            name: negative if name in NEGATIVE_ITEMS else positive for name in map(str.lower, EMOTIONS)
        },
    } | overrides


def annotated(**overrides: Any) -> Json:
    return {
        "binaryJudgements": [judgement(), judgement("B19", "na", "yes", llmValue="no")],
        "alternateResponses": {
            "llmImproved": "Nimm dir Zeit, über alles zu reden.",
            "humanEdited": "أنا معك 🤍",
        },
        "pairwiseComparisons": [comparison(), comparison("PW4", "human", "original", "B")],
        "selectedPairwiseQuestions": ["general", "PW4"],
    } | overrides


def turn(number: int = 1, **overrides: Any) -> Json:
    return {
        "turnNumber": number,
        "userMessage": f"Message {number}: j'ai passé l'été à déménager 😮‍💨",
        "llmResponse": f"Reply {number}: that sounds tiring.",
        "moodShiftTags": [{"emotion": "Upset", "intensity": 5}, {"emotion": "Guilty", "intensity": 2}],
        "annotations": annotated(),
    } | overrides


def record(**overrides: Any) -> Json:
    """A record that holds every field of the format, two turns long, without a provenance mark."""
    return {
        "conversationId": "c-1",
        "metadata": {"model": "gpt-x", "category": "Work", "subtopic": "Any", "text": "Work: any"},
        "participant_profile": {
            "schema_version": "2.0",
            "participant_id": "A00001",
            "profile_type": "full",
            "demographics": {"country": "México", "work_edu_background": ["Retail"], "diagnoses": ["ADHD"]},
            "computed_scores": {"who_5": 12, "promis_sleep_t": 41.5},
            "conversation_topic_attitude": "Mixed",
        },
        "prePanas": panas(3, 4),
        "postPanas": panas(4, 2),
        "conversationWideQuestions": {
            "fourBranchScores": {"perceiving": 7, "facilitating": 5, "understanding": 2, "managing": 1},
            "q1_lookingFor": ["To just listen or let me vent", "Other"],
            "q2_emotionClarity": "Mixed or conflicted",
            "q3_modelFit": "Mostly off-target or intrusive",
            "q3_followUp_whatFeltOff": ["Too long", "Gave advice too soon"],
        },
        "turns": [turn(1), turn(2, moodShiftTags=[])],
    } | overrides


def conversation(**overrides: Any) -> Conversation:
    return conversation_from(record(**overrides), "memory")


def with_annotations(**overrides: Any) -> Json:
    """A record of one turn whose annotations are changed."""
    return record(turns=[turn(annotations=annotated(**overrides))])


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Every place in a JSON value, the value itself left out."""
    inner: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in inner:
        yield (*at, key)
        if isinstance(child, (dict, list)):
            yield from places(child, (*at, key))


def replaced(value: Json, place: Place, new: Any) -> Json:
    """A deep copy of `value` with `new` at that place."""
    copy: Json = json.loads(json.dumps(value))
    target: Any = copy
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = new
    return copy


def without(value: Json, place: Place) -> Json:
    """A deep copy of `value` without that place."""
    copy = replaced(value, place, None)
    target: Any = copy
    for key in place[:-1]:
        target = target[key]
    del target[place[-1]]
    return copy


def write(path: Path, value: Any) -> Path:
    """The value as a JSON file (text and bytes are written as they are)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(value, bytes):
        path.write_bytes(value)
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        path.write_text(text, encoding="utf-8")
    return path


def folder(path: Path, files: Mapping[int, Any]) -> Path:
    """A folder with `conversation_N.json` for each N."""
    for number, value in files.items():
        write(path / f"conversation_{number}.json", value)
    return path


def problems_of(action: Callable[[], object]) -> tuple[Problem, ...]:
    """The problems of the DataError that it raises; each is said on one line that shows its parts."""
    with pytest.raises(DataError) as caught:
        action()
    for line, problem in zip(str(caught.value).splitlines(), caught.value.problems, strict=True):
        assert line.isprintable()
        assert problem.file
        assert problem.found
        assert problem.expected
        assert line.startswith(f"{problem.file}: ")
        assert f"expected {problem.expected}" in line
    return caught.value.problems


def only_problem(action: Callable[[], object]) -> Problem:
    (problem,) = problems_of(action)
    return problem
