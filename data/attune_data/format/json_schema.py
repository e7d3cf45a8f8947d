"""JSON Schemas, made from the types that check or write the files."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from attune_data.format.schema import Conversation

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
CONVERSATION: Final = (
    "A conversation as attune-env writes it. Reading also accepts other names and spellings. Beyond this "
    "schema, each turnNumber occurs once and has no decimal point, and each PANAS item occurs once, whatever "
    "its case."
)


class _Plain(GenerateJsonSchema):
    """Without what says nothing: titles that repeat a field's name, null as the default of all fields."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def schema_of(kind: Any, title: str, description: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what a type accepts or writes, under the names of the files."""
    made = TypeAdapter[Any](kind).json_schema(schema_generator=_Plain)
    for part in made.get("$defs", {}).values():
        part.pop("description", None)  # docstrings speak to those who read the code
    return {"$schema": DIALECT, **made, "title": title, "description": description}


def conversation_schema() -> dict[str, Any]:
    """The JSON Schema of a conversation."""
    return schema_of(Conversation, "conversation", CONVERSATION)
