"""The `py` blocks of a page: code that needs an extra, run as it stands but for sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"


def run_page(
    page: str, changes: Sequence[tuple[str, str]], *, section: str | None = None, number: int
) -> Iterator[dict[str, Any]]:
    """Runs the `py` blocks of a page one after the other, in names of their own.

    Args:
        page: name of the file in docs/.
        changes: (what stands on the page, what is run in its place): sizes, devices, addresses. Each must
            stand on the page.
        section: the heading of level two under which the blocks are; the whole page if None.
        number: how many there must be.

    Yields the names after each block.
    """
    text = (DOCS / page).read_text(encoding="utf-8")
    if section is not None:
        text = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```py\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == number, f"{len(blocks)} blocks under {section or 'all headings'} in docs/{page}"
    for shown, _ in changes:
        assert any(shown in block for block in blocks), f"{shown!r} no longer stands in docs/{page}"
    names: dict[str, Any] = {"__name__": "__document__"}
    for block in blocks:
        for shown, run in changes:
            block = block.replace(shown, run)
        exec(compile(block, f"docs/{page}", "exec"), names)
        yield names
