"""Where the result files behind a scores file lie, if they may be read again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attune_env.results.narrow import is_here


def recorded_results(scores: Mapping[str, Any], path: Path) -> Path | None:
    """The folder of the result files that the scores file `path` was made of; None where they are not found.

    That is the folder its metadata names, as given to `attune score --results`, else the one in which the
    scores file stands, else `results` there. Scores files are passed on: only what lies on this machine is
    looked at, and only if it holds a result file that the scores name.
    """
    named = scores["metadata"].get("results")
    places = [Path(named)] if isinstance(named, str) and is_here(named) else []
    files = {name for entry in scores["conversations"] if (name := named_file(entry)) is not None}
    for place in (*places, path.parent, path.parent / "results"):
        if place.is_dir() and any((place / name).is_file() for name in sorted(files)):
            return place
    return None


def named_file(entry: Mapping[str, Any]) -> str | None:
    """The result file that an entry names, if that is a name and no path.

    A scores file comes from anywhere: what it names is looked for in one folder and nowhere else.
    """
    name = entry.get("source_result")
    plain = isinstance(name, str) and name == Path(name).name and not {"\\", "\0"} & set(name)
    return str(name) if plain and name not in ("", ".", "..") else None
