"""The files of guesses: `_profile_<conversation>_<provider>_<model>.json`, one a conversation and model.

The leading underscore keeps them apart from result files: `attune score` passes them over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from attune_data import Conversation, Conversations, __version__
from attune_data.errors import DataError, Problem, SettingsError, one_line, show
from attune_data.loading import fingerprint
from attune_env.results.files import check_same_record, read_result, safe_name
from attune_env.results.marks import mapping, marks_of
from attune_episodes.profile import (
    WARNING,
    Form,
    Value,
    form_with,
    plain,
    read_guesses,
    template_fingerprint,
)

MODE: Final = "profile"
"""Stands in the place of a mode: these records are of none of the protocol's."""
KIND: Final = "profile prediction (experimental)"
PREFIX: Final = "_profile_"


@dataclass(frozen=True)
class Guessed:
    """One file of guesses."""

    path: Path
    conversation_id: str
    em_model: str
    form: Form
    guesses: Mapping[str, Value]


def file_name(conversation_id: str, em_model: str) -> str:
    """The name of a file of guesses."""
    return f"{PREFIX}{safe_name(conversation_id)}_{safe_name(em_model, official=True)}.json"


def record_of(
    conversation: Conversation,
    em_model: str,
    form: Form,
    guesses: Mapping[str, Value],
    asked: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """The record of one conversation's guesses.

    Args:
        conversation: what they are about.
        em_model: `provider/model`.
        form: the fields that were asked.
        guesses: field -> guess; what is not there was not answered.
        asked: what `asked_of` gives.
        facts: more for the record: `source_file`, `api_cost`, `duration_seconds`, and under `attune` the
            reply, its outcome and what the call took.
    """
    return {
        "kind": KIND,
        "warning": " ".join(WARNING),
        "conversationId": conversation.conversation_id,
        "source_file": facts.get("source_file"),
        "em_model": em_model,
        "mode": MODE,
        "run_timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        "predicted": {
            field.name: plain(guesses[field.name]) if field.name in guesses else None for field in form.fields
        },
        "api_cost": facts.get("api_cost"),
        "duration_seconds": facts.get("duration_seconds"),
        "attune": {
            "versions": {"attune-env": __version__},
            "provenance": conversation.origin,
            "asked": dict(asked),
            **facts.get("attune", {}),
        },
    }


def asked_of(conversation: Conversation, form: Form, policy: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that decides the guesses about a conversation: `attune.asked` of its record."""
    return {
        "options": form.describe(),
        "template": template_fingerprint(),
        "data": fingerprint(conversation),
        "policy": dict(policy),
    }


def is_made(path: Path, conversation_id: str, em_model: str, asked: Mapping[str, Any]) -> bool:
    """Whether `path` holds this very record; a file that cannot be read is made again.

    Raises SettingsError where it was made in another way, DataError where it is another conversation's.
    """
    if not path.exists():
        return False
    try:
        record = read_result(path)
    except DataError:
        return False
    check_same_record(path, record, (conversation_id, em_model, MODE))
    if not isinstance(record, dict) or record.get("kind") != KIND:
        raise SettingsError(f"{path} was not written by attune profile; choose another -o")
    found = mapping(marks_of(record).get("asked"))
    differing = [name for name in asked if found.get(name) != asked[name]]
    if differing:
        raise SettingsError(
            f"{path} was asked in another way ({', '.join(differing)}); "
            "choose another -o, or pass --overwrite"
        )
    return True


def read_guessed(folder: Path, conversations: Conversations) -> tuple[list[Guessed], list[Problem]]:
    """The files of guesses in a folder, and the problems that keep files out."""
    if not folder.is_dir():
        raise DataError(Problem(str(folder), "", "no such folder", "a folder of guesses", "check the path"))
    paths = sorted(path for path in folder.glob(f"{PREFIX}*.json"))
    if not paths:
        raise DataError(
            Problem(str(folder), "", f"no file {PREFIX}….json", "guesses", "run `attune profile run` first")
        )
    found: list[Guessed] = []
    problems: list[Problem] = []
    first: dict[tuple[str, str], str] = {}
    for path in paths:
        try:
            one = _read(path, conversations)
        except DataError as error:
            problems += error.problems
            continue
        key = (one.conversation_id, one.em_model)
        if key in first:
            what = f"a second file about {show(key[0])} by {show(key[1])}"
            problems.append(Problem(str(path), "", what, f"one (the first is {first[key]})", "move one away"))
            continue
        first[key] = path.name
        found.append(one)
    return found, problems


def _read(path: Path, conversations: Conversations) -> Guessed:
    """One file; raises DataError where it is none, or about a conversation that is not there."""

    def wrong(place: str, value: object, expected: str, advice: str = "move the file away") -> DataError:
        return DataError(Problem(str(path), place, show(value), expected, advice))

    record = read_result(path)
    if not isinstance(record, dict) or record.get("kind") != KIND:
        kind = record.get("kind") if isinstance(record, dict) else record
        raise wrong("kind", kind, f'"{KIND}"')
    for name in ("conversationId", "em_model"):
        if not isinstance(record.get(name), str):
            raise wrong(name, record.get(name), "text")
    if not isinstance(record.get("predicted"), dict):
        raise wrong("predicted", record.get("predicted"), "an object with the guesses")
    conversation_id = record["conversationId"]
    about = conversations.by_id.get(conversation_id)
    if about is None:
        raise wrong("conversationId", conversation_id,
                    one_line(f"one of the {len(conversations)} conversations of {conversations.source}"),
                    "score it against the data it was run on")  # fmt: skip
    asked = mapping(marks_of(record).get("asked"))
    form = form_with(asked.get("options"), f"{path}: attune.asked.options")
    return Guessed(path, conversation_id, record["em_model"], form, read_guesses(form, record["predicted"]))
