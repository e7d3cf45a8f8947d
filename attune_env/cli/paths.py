"""`attune paths`: the folders of files that other programs read."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of files inside an installed package."""

    package: str
    """The package whose folder it is."""
    holds: str
    """Its content, and who reads it."""
    needs: str
    """The module that reads it."""
    extra: str
    """The extra that brings that module."""

    @property
    def folder(self) -> Path:
        """The folder; nothing of the reader is imported."""
        spec = find_spec(self.package)
        assert spec is not None
        assert spec.origin is not None
        return Path(spec.origin).parent


PLACES: Final = {
    "lm-eval": Place(
        "attune_env.lm_eval_tasks",
        "tasks for lm-evaluation-harness: lm_eval --include_path",
        "lm_eval",
        "harness",
    ),
}
"""Name -> place; another integration adds a line."""


def paths(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help=f"One of: {', '.join(PLACES)}. Without one: a list."),
    ] = None,
) -> None:
    """Print the folder of files that another program reads.

    Example: attune paths

    Example: lm_eval --tasks attunebench --include_path "$(attune paths lm-eval)" …
    """
    from attune_data.errors import UnknownNameError
    from attune_data.extras import install_line

    if name is None:
        from attune_env.report.table import Table

        table = Table("files for other programs", ("name", "holds", "folder"))
        table.rows = [(one, place.holds, str(place.folder)) for one, place in PLACES.items()]
        table.print()
        return
    if name not in PLACES:
        raise UnknownNameError("path", name, PLACES)
    place = PLACES[name]
    print(place.folder)
    if find_spec(place.needs) is None:
        print(f"{place.needs} is not installed: {install_line(place.extra)}", file=sys.stderr)
