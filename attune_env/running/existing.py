"""Recognise results that are complete already: they are not made again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attune_data.errors import SettingsError, one_line
from attune_data.loading import fingerprint
from attune_data.schema import Conversation
from attune_data.version import SCORING_VERSION
from attune_env.results.files import existing_record
from attune_env.results.marks import mapping, marks_of
from attune_env.running.settings import Training
from attune_episodes.settings import Settings


class OtherJudgesError(SettingsError):
    """A complete result is there that other judges rated, or none."""


@dataclass(frozen=True)
class Wanted:
    """A result that a run is to make, or to find."""

    conversation_id: str
    conversations: Mapping[str, Conversation]
    """By id; it is looked at only where there is a result to compare with."""
    settings: Settings
    em_model: str
    policy: Mapping[str, Any]
    """Everything besides the settings that decides the answers."""
    training: Training | None = None

    @property
    def names(self) -> tuple[str, str, str]:
        """(conversationId, em_model, mode)."""
        return self.conversation_id, self.em_model, self.settings.mode

    def describe(self) -> dict[str, Any]:
        """Everything that tells it from results of other runs."""
        return {
            "conversation": self.conversation_id,
            "model": self.em_model,
            "settings": self.settings.describe(),
            "data": fingerprint(self.conversations[self.conversation_id]),
            "policy": self.policy,
            "scoring version": SCORING_VERSION,
            "training": _training(self.training.describe() if self.training is not None else {}),
        }


def is_complete(path: Path, result: Wanted) -> bool:
    """Whether `path` holds this very run's complete result.

    A file that cannot be read or is incomplete is made again. Raises SettingsError for a complete result
    of another run (other settings, data or versions): overwriting it, or mixing it in, would mislead;
    and DataError for a result of another conversation, model or mode, which only has the same name.
    """
    record = existing_record(path, result.names)
    marks = marks_of(record)
    if not isinstance(record, dict):
        return False
    if "settings" not in marks:
        # the official runner's file (perhaps with judgements of ours in it): it says nothing of its settings
        # and is never overwritten unasked
        raise SettingsError(f"{path} was not written by attune; choose another -o, or pass --overwrite")
    if not marks.get("complete"):
        return False
    wanted = result.describe()
    found = {
        "conversation": record.get("conversationId"),
        "model": record.get("em_model"),
        "settings": marks.get("settings"),
        "data": mapping(marks.get("data")).get("fingerprint"),
        "policy": marks.get("policy"),
        "scoring version": mapping(marks.get("versions")).get("scoring"),
        "training": _training(mapping(marks.get("training"))),
    }
    differing = dict.fromkeys(
        _difference(name, wanted[name], found[name]) for name in wanted if wanted[name] != found[name]
    )
    if differing:
        there = f"{path} holds a result of another run ({'; '.join(differing)})"
        if mapping(marks.get("policy")).get("judges") != result.policy.get("judges"):
            road = "to have its drafts judged, use `attune rejudge`"
            raise OtherJudgesError(f"{there}; choose another -o, or pass --overwrite; {road}")
        raise SettingsError(f"{there}; choose another -o, or pass --overwrite")
    return True


def _training(marks: Mapping[str, Any]) -> dict[str, Any]:
    return {f"training {name}": marks.get(name) for name in ("run", "step")}


def _difference(name: str, wanted: Any, found: Any) -> str:
    if isinstance(wanted, dict) and isinstance(found, dict):
        keys = [key for key in wanted if wanted[key] != found.get(key)]
        if keys == ["fitted_on"]:
            return "fitted on other data: --number and --fit change what it is fitted on"
        # what a file says may hold line ends, which would start a line of their own
        return (
            ", ".join(f"{key} {_said(found.get(key))} there, {_said(wanted[key])} now" for key in keys)
            or name
        )
    return f"other {name}"


def _said(value: object) -> str:
    """A value on one short printable line, text without quotes."""
    return one_line(value if isinstance(value, str) else repr(value), 200)
