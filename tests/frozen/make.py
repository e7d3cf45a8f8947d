"""`python -m tests.frozen.make [NAME …]`: writes what is frozen again; with `--check` only compares.

Takes about a minute. What moved must stand in the changelog.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.frozen import (
    adapters,
    data_files,
    parsing,
    prompts,
    runs,
    scores,
    surface,
    tables,
    traces,
    trainers,
)
from tests.frozen.keeping import keep, moved

KEPT: Final[dict[str, Callable[[], Any] | Callable[[Path], Any]]] = {
    "scores_golden": scores.golden,
    "scores_files": scores.score_files,
    "prompts": prompts.prompts,
    "masking": prompts.masking,
    "data_files": data_files.written,
    "runs_builtin": runs.builtin,
    "runs_served": runs.served,
    "episodes": traces.episodes,
    "parsed": parsing.parsed,
    "attacks": traces.attacks,
    "gymnasium": adapters.gymnasium,
    "verifiers": adapters.verifiers,
    "rows": trainers.rows,
    "harnesses": trainers.harnesses,
    "report": tables.report,
    "names": surface.names,
    "help": surface.helps,
    "exit_codes": surface.exit_codes,
    "documents": surface.documents,
}
"""Name of a file here -> what gives its value now, in an empty folder where it takes one."""


def now(name: str, place: Path) -> Any:
    """The value as the code gives it now."""
    function: Any = KEPT[name]
    return function(place) if function.__code__.co_argcount else function()


def main() -> int:
    """The command line; with `--check` 1 where anything moved."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.frozen.make")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(KEPT))
    parser.add_argument("--check", action="store_true", help="write nothing, say what moved")
    asked = parser.parse_args()
    changes = []
    for name in asked.names or KEPT:
        began = time.process_time()
        with tempfile.TemporaryDirectory() as place:
            value = now(name, Path(place))
        if asked.check:
            changes += moved(name, value)
        else:
            keep(name, value)
        print(f"{name}: {time.process_time() - began:.1f} s of CPU", flush=True)
    print("\n".join(changes))
    return bool(changes)


if __name__ == "__main__":
    sys.exit(main())
