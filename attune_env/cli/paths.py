"""`attune paths`: the folders whose files other programs read."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import attune_episodes
from attune_env.cli.options import argument

PLACES: Final = {
    "lm-eval": (
        Path(attune_episodes.__file__).parent / "frameworks" / "lm_eval",
        "tasks for lm-evaluation-harness: lm_eval --include_path",
        "lm_eval",
        "lm-eval",
    ),
}
"""Name -> the folder, its content, the module of the program that reads it, and that program's extra."""


def paths(
    name: str | None = argument(f"One of: {', '.join(PLACES)}. If omitted, all are listed.", "[NAME]", None),
) -> None:
    """Print the path of the folder that another program reads.

    Example: attune paths

    Example: lm_eval --tasks attunebench --include_path "$(attune paths lm-eval)" …
    """
    from attune_data.errors import UnknownNameError
    from attune_data.extras import install_line

    if name is None:
        from attune_env.tables.table import Table

        table = Table("files for other programs", ("name", "contents", "folder"))
        table.rows += [(one, holds, str(folder)) for one, (folder, holds, *_) in PLACES.items()]
        table.print()
        return
    if name not in PLACES:
        raise UnknownNameError("path", name, PLACES)
    folder, _, module, extra = PLACES[name]
    print(folder)
    if find_spec(module) is None:
        print(f"{module} is not installed: {install_line(extra)}", file=sys.stderr)
