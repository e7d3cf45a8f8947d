"""JSON schemas of the answers, also sent to servers for structured output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from attune_data.format.affect import EMOTIONS
from attune_data.format.constants import BRANCHES
from attune_rewards.predictions import Stage

Schema = dict[str, Any]
PANAS_ITEMS = "post_panas"
PANAS_CHANGE = "panas_change"


def object_schema(properties: Mapping[str, Any], *, verbose: bool = False) -> Schema:
    """Schema of an object with exactly these properties; reasoning comes first, so it can inform the rest."""
    wanted = {"reasoning": {"type": "string"}, **properties} if verbose else dict(properties)
    return {
        "type": "object",
        "properties": wanted,
        "required": list(wanted),
        "additionalProperties": False,
    }


def scale_schema(names: Sequence[str], low: int, high: int) -> Schema:
    """Schema of an object that maps each name to a whole number on a scale."""
    return object_schema({name: {"type": "integer", "minimum": low, "maximum": high} for name in names})


def choice_schema(names: Sequence[str], *values: str) -> Schema:
    """Schema of an object that maps each name to one of the values."""
    return object_schema({name: {"type": "string", "enum": list(values)} for name in names})


def list_schema(items: Schema, most: int) -> Schema:
    """Schema of a list of at most so many items, of any length where that is 0.

    A small model that is held to a list without an end can go on until its answer is cut.
    """
    return {"type": "array", "items": items} | ({"maxItems": most} if most else {})


def tags_schema() -> Schema:
    """Schema of a list of feelings, each with its intensity."""
    return list_schema(deepcopy(_TAG), len(EMOTIONS))


def answer_schema(
    stage: Stage,
    *,
    questions: Sequence[str] = (),
    comparisons: Sequence[int] = (),
    options: Mapping[str, Sequence[str]] | None = None,
    changes: bool = False,
    verbose: bool = False,
) -> Schema:
    """The JSON schema of the answer to a request.

    Args:
        stage: the stage of the request.
        questions: ids of the yes/no questions asked (assess, assess_hp).
        comparisons: the numbers of the comparisons in the prompt (prefer).
        options: option lists of the q-questions (reflect); an empty one is free text.
        changes: whether PANAS changes are asked for instead of items (reflect).
        verbose: whether the answer begins with its reasoning.
    """
    properties: Schema = {}
    if stage == "draft":
        properties["draft"] = {"type": "string"}
    elif stage == "prefer":
        properties["picks"] = choice_schema([str(number) for number in comparisons], "A", "B")
    elif stage == "reflect":
        one = {
            name: {"type": "string"} | ({"enum": list(choices)} if choices else {})
            for name, choices in (options or {}).items()
        }
        panas = scale_schema(EMOTIONS, *((-6, 6) if changes else (1, 7)))
        properties = {
            PANAS_CHANGE if changes else PANAS_ITEMS: panas,
            **one,
            "q1_lookingFor": list_schema(one["q1_lookingFor"], len((options or {})["q1_lookingFor"])),
            "q3_followUp_whatFeltOff": list_schema({"type": "string"}, 0),
            "fourBranchScores": scale_schema(BRANCHES, 1, 7),
        }
    else:
        if stage == "assess":
            properties["emotions"] = tags_schema()
        if questions:
            both = choice_schema(questions, "yes", "no")
            properties |= {"observed": both, "preferred": deepcopy(both)}
    return object_schema(properties, verbose=verbose)


_TAG = object_schema(
    {
        "emotion": {"type": "string", "enum": list(EMOTIONS)},
        "intensity": {"type": "integer", "minimum": 1, "maximum": 7},
    }
)
