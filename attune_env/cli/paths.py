"""`attune paths`: the folders of files that other programs read."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from attune_env.cli.options import argument


class Place(NamedTuple):
    """A folder of files: its content, the program that reads it, that program's module, and its extra."""

    folder: Path
    holds: str
    needs: str
    extra: str


PLACES: Final = {
    "lm-eval": Place(
        Path(__file__).parents[1] / "lm_eval_tasks",
        "tasks for lm-evaluation-harness: lm_eval --include_path",
        "lm_eval",
        "harness",
    ),
}
"""Name -> place; another integration adds a line."""


def paths(
    name: str | None = argument(f"One of: {', '.join(PLACES)}. Without one: a list.", "[NAME]", None),
) -> None:
    """Print the folder of files that another program reads.

    Example: attune paths

    Example: lm_eval --tasks attunebench --include_path "$(attune paths lm-eval)" …
    """
    from attune_data.errors import UnknownNameError
    from attune_data.extras import install_line

    if name is None:
        from attune_env.report.table import Table

        rows = [(one, place.holds, str(place.folder)) for one, place in PLACES.items()]
        Table("files for other programs", ("name", "holds", "folder"), list(rows)).print()
        return
    if name not in PLACES:
        raise UnknownNameError("path", name, PLACES)
    place = PLACES[name]
    print(place.folder)
    if find_spec(place.needs) is None:
        print(f"{place.needs} is not installed: {install_line(place.extra)}", file=sys.stderr)
