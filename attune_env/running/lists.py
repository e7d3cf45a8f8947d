"""The files of a run in addition to its results: the list of skipped conversations, and the run's numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem
from attune_data.jsonio import read_json
from attune_env.results.files import Names, safe_name, write_json
from attune_rewards.record.marks import mapping

KEPT_RUNS: Final = 100
"""How many runs' numbers are kept; the oldest are dropped first."""
_KEYS: Final = ("conversationId", "em_model", "mode")


def skipped_path(folder: Path, model: str) -> Path:
    """`_skipped_<model>.json` in a folder."""
    return folder / f"_skipped_{safe_name(model, official=True)}.json"


def _names(entry: Mapping[str, Any]) -> Names:
    conversation_id, em_model, mode = (str(entry[key]) for key in _KEYS)
    return conversation_id, em_model, mode


def read_skipped(path: Path) -> list[dict[str, Any]]:
    """Read a list of skipped conversations; [] without a file. Raises DataError if it is not one."""
    if not path.exists():
        return []
    entries = mapping(read_json(path)).get("conversations")
    if isinstance(entries, list) and all(
        isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in _KEYS) for entry in entries
    ):
        return entries
    raise DataError(
        Problem(str(path), "conversations", "not a list of skipped conversations",
                "a file that `attune run` wrote", "move it away and run again")
    )  # fmt: skip


def write_skipped(
    folder: Path, model: str, failed: Sequence[Mapping[str, Any]], complete: Iterable[Names], command: str
) -> Path | None:
    """Update the list and return its path; remove it and return None if nothing is left.

    `model` does not include the provider, and `command`, the one to run again, does not include a key.
    """
    path = skipped_path(folder, model)
    try:
        before = read_skipped(path)
    except DataError:
        before = []  # damaged, or not ours: a run must not fail because of it
    gone = {*complete, *map(_names, failed)}
    entries = [*(entry for entry in before if _names(entry) not in gone), *failed]
    if not entries:
        path.unlink(missing_ok=True)
        return None
    how = "run the command again: completed requests are not sent again"
    write_json(path, {"model": model, "command": command, "how": how, "conversations": entries})
    return path


def add_run(folder: Path, em_model: str, facts: Mapping[str, Any]) -> None:
    """Add the numbers of a run to those of the runs before it, in `_run_<provider>_<model>.json`."""
    path = folder / f"_run_{safe_name(em_model, official=True)}.json"
    try:
        runs = mapping(read_json(path)).get("runs") if path.exists() else None
    except DataError:
        runs = None
    kept = runs[-KEPT_RUNS + 1 :] if isinstance(runs, list) else []
    write_json(path, {"em_model": em_model, "runs": [*kept, facts]})
