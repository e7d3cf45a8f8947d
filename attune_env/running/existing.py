"""Recognise results that are already complete, and overwriting that has begun but not ended.

Overwriting outlives its process. It begins when the first of its calls is answered: until then every earlier
reply and result counts. It ends when everything has been replaced. In between, the same command, with or
without `--overwrite`, continues with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from attune_data.errors import SettingsError, one_line
from attune_data.format.fingerprint import fingerprint
from attune_data.format.schema import Conversation
from attune_data.version import SCORING_VERSION
from attune_env.results.files import Names, existing_record
from attune_env.running.settings import Training
from attune_episodes.protocol.settings import Settings
from attune_rewards.record.marks import mapping, marks_of

_NAMES: Final = {("policy", "seed"): "sampling seed"}
"""Options with another name on the command line, where `seed` is that of labels."""


class OtherJudgesError(SettingsError):
    """There is a complete result, but it was rated by other judges or by none."""


def description(
    conversations: Mapping[str, Conversation],
    names: Names,
    settings: Settings,
    policy: Mapping[str, Any],
    training: Training | None,
) -> dict[str, Any]:
    """Everything that distinguishes a result from those of other runs."""
    return {
        "conversation": names[0],
        "model": names[1],
        "settings": settings.describe(),
        "data": fingerprint(conversations[names[0]]),
        "policy": policy,
        "scoring version": SCORING_VERSION,
        "training": {
            "training run": training.run if training else None,
            "training step": training.step if training else None,
        },
    }


def is_complete(path: Path, names: Names, describe: Callable[[], Mapping[str, Any]]) -> bool:
    """Whether `path` has the complete result of exactly this run; `description` is computed only if needed.

    A file that is unreadable or incomplete is made again. Raises SettingsError for a complete result of
    another run (with other settings, data or versions), because overwriting it or mixing it in would mislead;
    and DataError for a result of another conversation, model or mode that happens to have the same name.
    """
    record = existing_record(path, names)
    marks = marks_of(record)
    if not isinstance(record, dict):
        return False
    remedy = "choose another -o, or pass --overwrite"
    if "settings" not in marks:
        # a file of the official runner (perhaps with our judgements): it does not state its settings
        # and is never overwritten without --overwrite
        raise SettingsError(f"{path} was not written by attune; {remedy}")
    if not marks.get("complete"):
        return False
    wanted = describe()
    training = mapping(marks.get("training"))
    found = {
        "conversation": record.get("conversationId"),
        "model": record.get("em_model"),
        "settings": marks.get("settings"),
        "data": mapping(marks.get("data")).get("fingerprint"),
        "policy": marks.get("policy"),
        "scoring version": mapping(marks.get("versions")).get("scoring"),
        "training": {f"training {name}": training.get(name) for name in ("run", "step")},
    }
    differing = [
        _difference(name, wanted[name], found[name]) for name in wanted if wanted[name] != found[name]
    ]
    if not differing:
        return True
    said = f"{path} contains a result of another run ({'; '.join(dict.fromkeys(differing))}); {remedy}"
    if mapping(marks.get("policy")).get("judges") != wanted["policy"].get("judges"):
        raise OtherJudgesError(f"{said}; to have its drafts judged, use `attune rejudge`")
    raise SettingsError(said)


def _difference(name: str, wanted: Any, found: Any) -> str:
    if not (isinstance(wanted, dict) and isinstance(found, dict)):
        return f"other {name}"
    keys = [key for key in {**wanted, **found} if wanted.get(key) != found.get(key)]
    if keys == ["fitted_on"]:
        return "fitted on other data: --number and --fit change what it is fitted on"
    return (
        ", ".join(
            f"{_NAMES.get((name, key), key)} {_said(found.get(key))} there, {_said(wanted.get(key))} now"
            for key in keys
        )
        or name
    )


def _said(value: object) -> str:
    """Format a value from a file on one short printable line, with texts unquoted."""
    return one_line(value if isinstance(value, str) else repr(value), 200)


class Overwriting:
    """Overwriting that has begun but not ended, according to a journal."""

    def __init__(self) -> None:
        self._begun: dict[str, str] = {}
        self.left: set[str] = set()
        """Groups whose earlier results no longer count, since they will be replaced."""

    def state(self, group: str, identity: str) -> Literal["left", "made"] | None:
        """Whether a group overwritten with this identity still has to be made; None if it was not begun."""
        if self._begun.get(group) != identity:
            return None
        return "left" if group in self.left else "made"

    def take(self, anew: Mapping[str, str], made: str | None = None) -> None:
        """Apply a line of the journal."""
        self._begun |= anew
        self.left |= anew.keys()
        if made is not None:
            self.left.discard(made)
            if not self.left:
                self._begun.clear()


def identity_of(value: object) -> str:
    """A digest of a JSON value, 16 hex digits; equal for equal values."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]
