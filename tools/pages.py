"""Generated tables in pages of docs.

A page marks the place of each: `<!-- table: NAME -->` … `<!-- end -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
BLOCK: Final = re.compile(r"(?<=<!-- table: )(\w+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> str:
    """A Markdown table, its last `numbers` columns aligned to the right."""
    line = ["---"] * (len(heads) - numbers) + ["---:"] * numbers
    cells = [heads, line, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def filled(page: str, made: Mapping[str, str]) -> str:
    """The page with these tables at their places; its other tables stay. KeyError for one without a place."""
    places = {match[1] for match in BLOCK.finditer(page)}
    if unplaced := made.keys() - places:
        raise KeyError(f"the page has no place for {sorted(unplaced)}, only for {sorted(places)}")
    return BLOCK.sub(
        lambda match: match[1] + match[2] + made[match[1]] if match[1] in made else match[0], page
    )
