"""The files of guesses: `_profile_<conversation>_<provider>_<model>.json`, one per conversation and model.

The leading underscore keeps them apart from result files: `attune score` ignores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from typing_extensions import TypedDict  # before Python 3.12, pydantic cannot read that of `typing`

from attune_data import Conversation, Conversations, __version__
from attune_data.errors import DataError, Problem, SettingsError, one_line, show
from attune_data.format.fingerprint import fingerprint
from attune_env.profile import WARNING
from attune_env.profile.form import Form, form_with
from attune_env.profile.kinds import Value, plain
from attune_env.profile.request import template_fingerprint
from attune_env.results.files import Names, existing_record, read_result, safe_name, source_file
from attune_rewards.record.marks import mapping, marks_of

MODE: Final[Literal["profile"]] = "profile"
"""Used instead of a mode, since these records belong to none of the protocol's modes."""
KIND: Final = "profile prediction (experimental)"
PREFIX: Final = "_profile_"


class GuessMarks(TypedDict):
    """What determines a guess; runs add the reply, its outcome and its usage."""

    versions: dict[str, str]
    provenance: str
    asked: dict[str, Any]


class GuessFields(TypedDict):
    """The fields of a file of guesses."""

    kind: str
    warning: str
    conversationId: str
    source_file: str | None
    em_model: str
    mode: Literal["profile"]
    run_timestamp: str
    predicted: dict[str, Any]
    api_cost: float | None
    duration_seconds: float | None
    attune: GuessMarks


@dataclass(frozen=True)
class Guessed:
    """One file of guesses."""

    path: Path
    conversation_id: str
    em_model: str
    form: Form
    guesses: Mapping[str, Value]


class GuessFile:
    """A file of guesses to write: its path, and everything that determines its content."""

    def __init__(
        self,
        folder: Path,
        about: Conversation,
        data: Conversations,
        em_model: str,
        form: Form,
        policy: Mapping[str, Any],
    ) -> None:
        """The file for a model's guesses about a conversation in `data`; `policy` says how it is asked."""
        identity = about.conversation_id
        self.path = folder / f"{PREFIX}{safe_name(identity)}_{safe_name(em_model, official=True)}.json"
        self.names: Names = (identity, em_model, MODE)
        self.form = form
        self.asked = {
            "options": form.describe(),
            "template": template_fingerprint(),
            "data": fingerprint(about),
            "policy": dict(policy),
        }
        """The entry `attune.asked` of its record."""
        self.source_file = source_file(data, identity)

    def is_made(self) -> bool:
        """Whether the file contains exactly this record; an unreadable file is made again.

        Raises SettingsError if it was made in a different way, DataError if it is about another conversation.
        """
        record = existing_record(self.path, self.names)
        if record is None:
            return False
        if not isinstance(record, dict) or record.get("kind") != KIND:
            raise SettingsError(f"{self.path} was not written by attune profile; choose another -o")
        found = mapping(marks_of(record).get("asked"))
        if differing := [name for name in self.asked if found.get(name) != self.asked[name]]:
            raise SettingsError(
                f"{self.path} was asked differently ({', '.join(differing)}); "
                "choose another -o, or pass --overwrite"
            )
        return True

    def record(
        self,
        about: Conversation,
        guesses: Mapping[str, Value],
        marks: Mapping[str, Any],
        *,
        cost: float | None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """The record of the guesses; `marks` are the reply, its outcome and the usage of the call."""
        identity, em_model, _ = self.names
        record: GuessFields = {
            "kind": KIND,
            "warning": " ".join(WARNING),
            "conversationId": identity,
            "source_file": self.source_file,
            "em_model": em_model,
            "mode": MODE,
            "run_timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "predicted": {field.name: plain(guesses.get(field.name)) for field in self.form.fields},
            "api_cost": cost,
            "duration_seconds": seconds,
            "attune": {
                "versions": {"attune-env": __version__},
                "provenance": about.origin,
                "asked": dict(self.asked),
            },
        }
        return {**record, "attune": {**record["attune"], **marks}}


def read_guessed(folder: Path, conversations: Conversations) -> tuple[list[Guessed], list[Problem]]:
    """Read the files of guesses in a folder; also returns the problems of files that are left out."""
    if not folder.is_dir():
        raise DataError(Problem(str(folder), "", "no such folder", "a folder of guesses", "check the path"))
    paths = sorted(folder.glob(f"{PREFIX}*.json"))
    if not paths:
        raise DataError(
            Problem(str(folder), "", f"no file {PREFIX}….json", "guesses", "run `attune profile run` first")
        )
    found: dict[tuple[str, str], Guessed] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            one = _read(path, conversations)
        except DataError as error:
            problems += error.problems
            continue
        first = found.setdefault((one.conversation_id, one.em_model), one)
        if first is not one:
            what = f"a second file about {show(one.conversation_id)} by {show(one.em_model)}"
            expected = f"one (the first is {first.path.name})"
            problems.append(Problem(str(path), "", what, expected, "move one away"))
    return list(found.values()), problems


def _read(path: Path, conversations: Conversations) -> Guessed:
    """Read one file; raises DataError if it is not a file of guesses, or about an unknown conversation."""

    def check(place: str, fine: bool, expected: str, advice: str = "move the file away") -> None:
        if not fine:
            raise DataError(Problem(str(path), place, show(record.get(place)), expected, advice))

    record = read_result(path)
    record = record if isinstance(record, dict) else {"kind": record}
    check("kind", record.get("kind") == KIND, f'"{KIND}"')
    for name in ("conversationId", "em_model"):
        check(name, isinstance(record.get(name), str), "text")
    check("predicted", isinstance(record.get("predicted"), dict), "an object with the guesses")
    identity = record["conversationId"]
    known = one_line(f"one of the {len(conversations)} conversations of {conversations.source}")
    check("conversationId", identity in conversations.by_id, known, "score it against the data it was run on")
    form = form_with(mapping(marks_of(record).get("asked")).get("options"), f"{path}: attune.asked.options")
    return Guessed(path, identity, record["em_model"], form, form.read(record["predicted"]))
