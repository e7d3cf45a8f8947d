"""JSON Schemas of the file formats, by name, each made from the types that check or write those files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from attune_data.errors import UnknownNameError
from attune_data.format.json_schema import conversation_schema, schema_of
from attune_env.profile.files import GuessFields
from attune_env.results.schema import scores_schema
from attune_rewards.record.shape import RecordFields


@dataclass(frozen=True)
class Schema:
    """A file format that has a schema."""

    about: str
    """The files, in a few words."""
    make: Callable[[], dict[str, Any]]


SCHEMAS: Final[Mapping[str, Schema]] = {
    "conversation": Schema(
        "conversation_N.json, a line of a .jsonl file, the column `record`", conversation_schema
    ),
    "result": Schema(
        "a model's answers about a conversation, from `attune run`",
        lambda: schema_of(
            RecordFields,
            "result",
            "A result file as attune-env writes it: one model's answers about one conversation in one mode. "
            "Reading also accepts what is incomplete or spelled in other ways.",
        ),
    ),
    "scores": Schema("the scores of result files, from `attune score`", scores_schema),
    "profile": Schema(
        "a model's guesses about a participant, from `attune profile run`",
        lambda: schema_of(
            GuessFields, "profile", "A file of guesses: what one model guesses about one participant."
        ),
    ),
}
"""Name -> file format."""


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a file format; UnknownNameError lists those that there are.

    >>> json_schema("conversation")["required"]
    ['conversationId', 'turns']
    """
    if name not in SCHEMAS:
        raise UnknownNameError("file format", name, SCHEMAS)
    return SCHEMAS[name].make()
