"""JSON schemas of the answers, one builder a stage; also what servers get for structured output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attune_data.affect import EMOTIONS
from attune_data.constants import BRANCHES

Schema = dict[str, Any]
PANAS_ITEMS = "post_panas"
PANAS_CHANGE = "panas_change"


def _object(properties: Mapping[str, Any], *, verbose: bool = False) -> Schema:
    """An object of exactly these properties; the reasoning comes first, so that it can inform the rest."""
    wanted = {"reasoning": {"type": "string"}, **properties} if verbose else dict(properties)
    return {
        "type": "object",
        "properties": wanted,
        "required": list(wanted),
        "additionalProperties": False,
    }


def _scale(names: Sequence[str], low: int, high: int) -> Schema:
    return _object({name: {"type": "integer", "minimum": low, "maximum": high} for name in names})


def _choices(names: Sequence[str], *values: str) -> Schema:
    return _object({name: {"type": "string", "enum": list(values)} for name in names})


def draft_schema(*, verbose: bool) -> Schema:
    """`{"draft": text}`; plain text is accepted as well."""
    return _object({"draft": {"type": "string"}}, verbose=verbose)


def assess_schema(questions: Sequence[str], *, verbose: bool) -> Schema:
    """Emotion tags, and two yes/no answers a question."""
    tag = _object(
        {
            "emotion": {"type": "string", "enum": list(EMOTIONS)},
            "intensity": {"type": "integer", "minimum": 1, "maximum": 7},
        }
    )
    properties: Schema = {"emotions": {"type": "array", "items": tag}}
    if questions:
        properties |= _both(questions)
    return _object(properties, verbose=verbose)


def assess_hp_schema(questions: Sequence[str], *, verbose: bool) -> Schema:
    """Two yes/no answers a question."""
    return _object(_both(questions), verbose=verbose)


def _both(questions: Sequence[str]) -> Schema:
    return {side: _choices(questions, "yes", "no") for side in ("observed", "preferred")}


def prefer_schema(numbers: Sequence[int], *, verbose: bool) -> Schema:
    """A or B for each numbered comparison."""
    return _object({"picks": _choices([str(n) for n in numbers], "A", "B")}, verbose=verbose)


def reflect_schema(options: Mapping[str, Sequence[str]], *, wants_change: bool, verbose: bool) -> Schema:
    """Feelings after the conversation and the answers about it."""

    def one(name: str) -> Schema:
        return {"type": "string", "enum": list(options[name])} if options[name] else {"type": "string"}

    panas = _scale(EMOTIONS, -6, 6) if wants_change else _scale(EMOTIONS, 1, 7)
    return _object(
        {
            PANAS_CHANGE if wants_change else PANAS_ITEMS: panas,
            "q1_lookingFor": {"type": "array", "items": one("q1_lookingFor")},
            "q2_emotionClarity": one("q2_emotionClarity"),
            "q3_modelFit": one("q3_modelFit"),
            "q3_followUp_whatFeltOff": {"type": "array", "items": {"type": "string"}},
            "fourBranchScores": _scale(BRANCHES, 1, 7),
        },
        verbose=verbose,
    )
