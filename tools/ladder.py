"""Write the tables of docs/ladder.md.

python -m tools.ladder FOLDER    (the folder of the sentence encoder)
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Final

from attune_data import load
from attune_env.ladder import ladder, ladder_tables, load_encoder
from tools.pages import DOCS, filled

PAGE: Final = DOCS / "ladder.md"
FITTED: Final = ("sample", "written:train")
TESTED: Final = ("sample", "written:train", "written:dev", "written:test")


def made(folder: str) -> str:
    """The tables and their notes, with the date."""
    fits, tests = ({name: load(name) for name in names} for names in (FITTED, TESTED))
    told = [f"Measured on {datetime.now(UTC):%Y-%m-%d}."]
    for table in ladder_tables(ladder(fits, tests, load_encoder(folder), print)):
        told += [f"**{table.title.removeprefix('Ladder: ').capitalize()}**", table.markdown()]
        told += table.footnotes
    return "\n\n".join(told) + "\n"


if __name__ == "__main__":
    tables = made(sys.argv[1])
    PAGE.write_text(filled(PAGE.read_text("utf-8"), {"ladder": tables}), "utf-8")
