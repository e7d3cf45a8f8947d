"""The files of a run beside its results: the list of skipped conversations, and the run's numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attune_data.errors import DataError, Problem
from attune_data.jsonio import read_json
from attune_env.results.files import safe_name, write_json

KEPT_RUNS = 100
"""Runs whose numbers are kept; the oldest go first."""
_KEYS = ("conversationId", "em_model", "mode")


def skipped_path(folder: Path, model: str) -> Path:
    """`_skipped_<model>.json` in a folder."""
    return folder / f"_skipped_{safe_name(model, official=True)}.json"


def run_path(folder: Path, em_model: str) -> Path:
    """`_run_<provider>_<model>.json` in a folder: what the runs of a model took."""
    return folder / f"_run_{safe_name(em_model, official=True)}.json"


def read_skipped(path: Path) -> list[dict[str, Any]]:
    """The entries of a list of skipped conversations; [] where there is no such file.

    Raises DataError where the file is none.
    """
    if not path.exists():
        return []
    content = read_json(path)
    entries = content.get("conversations") if isinstance(content, dict) else None
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in _KEYS) for entry in entries
    ):
        raise DataError(
            Problem(str(path), "conversations", "no list of skipped conversations",
                    "a file that `attune run` wrote", "move it away and run again")
        )  # fmt: skip
    return entries


def write_skipped(
    folder: Path,
    model: str,
    failed: Sequence[Mapping[str, Any]],
    complete: Iterable[tuple[str, ...]],
    command: str,
) -> Path | None:
    """Brings the list up to date and returns its path; removes it, and returns None, where nothing is left.

    Args:
        folder: of the results.
        model: the model's name, without the provider.
        failed: entries of this run, with `conversationId`, `em_model`, `mode` and the reason.
        complete: (conversationId, em_model, mode) of the complete results.
        command: what to run again; holds no key.
    """
    path = skipped_path(folder, model)
    try:
        before = read_skipped(path)
    except DataError:
        before = []  # damaged, or somebody else's: a run must not end on it
    gone = {*complete, *(tuple(str(entry[key]) for key in _KEYS) for entry in failed)}
    entries = [entry for entry in before if tuple(entry[key] for key in _KEYS) not in gone]
    entries += [dict(entry) for entry in failed]
    if not entries:
        path.unlink(missing_ok=True)
        return None
    how = "run the command again: what is complete is not asked again"
    write_json(path, {"model": model, "command": command, "how": how, "conversations": entries})
    return path


def add_run(folder: Path, em_model: str, facts: Mapping[str, Any]) -> Path:
    """Adds the numbers of a run to those of the runs before it; returns the file."""
    path = run_path(folder, em_model)
    try:
        content = read_json(path) if path.exists() else {}
    except DataError:
        content = {}
    runs = content.get("runs") if isinstance(content, dict) else None
    kept = runs[-KEPT_RUNS + 1 :] if isinstance(runs, list) else []
    write_json(path, {"em_model": em_model, "runs": [*kept, dict(facts)]})
    return path
