"""What a run finds in its output folder: results that are complete are not made again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attune_data.errors import DataError, SettingsError, one_line
from attune_data.jsonio import read_json
from attune_data.loading import fingerprint
from attune_data.schema import Conversation
from attune_data.version import SCORING_VERSION
from attune_env.results.files import check_same_record
from attune_env.results.marks import mapping, marks_of
from attune_episodes.settings import Settings


def is_complete(
    path: Path, conversation: Conversation, settings: Settings, em_model: str, policy: dict[str, Any]
) -> bool:
    """Whether `path` holds this very run's complete result.

    A file that cannot be read or is incomplete is made again. Raises SettingsError for a complete result
    of another run (other settings, data or versions): overwriting it, or mixing it in, would mislead;
    and DataError for a result of another conversation, model or mode, which only has the same name.
    """
    if not path.exists():
        return False
    try:
        record = read_json(path)
    except DataError:
        return False
    check_same_record(path, record, (conversation.conversation_id, em_model, settings.mode))
    marks = marks_of(record)
    if not isinstance(record, dict):
        return False
    if "settings" not in marks:
        # the official runner's file (perhaps with judgements of ours in it): it says nothing of its settings
        # and is never overwritten unasked
        raise SettingsError(f"{path} was not written by attune; choose another -o, or pass --overwrite")
    if not marks.get("complete"):
        return False
    wanted = {
        "conversation": conversation.conversation_id,
        "model": em_model,
        "settings": settings.describe(),
        "data": fingerprint(conversation),
        "policy": policy,
        "scoring version": SCORING_VERSION,
    }
    found = {
        "conversation": record.get("conversationId"),
        "model": record.get("em_model"),
        "settings": marks.get("settings"),
        "data": mapping(marks.get("data")).get("fingerprint"),
        "policy": marks.get("policy"),
        "scoring version": mapping(marks.get("versions")).get("scoring"),
    }
    differing = dict.fromkeys(
        _difference(name, wanted[name], found[name]) for name in wanted if wanted[name] != found[name]
    )
    if differing:
        judged = mapping(marks.get("policy")).get("judges") != policy.get("judges")
        raise SettingsError(
            f"{path} holds a result of another run ({'; '.join(differing)}); "
            "choose another -o, or pass --overwrite"
            + ("; `attune rejudge` rates the drafts that are there" if judged else "")
        )
    return True


def _difference(name: str, wanted: Any, found: Any) -> str:
    if isinstance(wanted, dict) and isinstance(found, dict):
        keys = [key for key in wanted if wanted[key] != found.get(key)]
        if keys == ["fitted_on"]:
            return "fitted on other data: --limit and --fit change what it is fitted on"
        # what a file says may hold line ends, which would start a line of their own
        return (
            ", ".join(f"{key} {_said(found.get(key))} there, {_said(wanted[key])} now" for key in keys)
            or name
        )
    return f"other {name}"


def _said(value: object) -> str:
    """A value on one short printable line, text without quotes."""
    return one_line(value if isinstance(value, str) else repr(value), 200)
