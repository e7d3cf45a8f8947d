"""The `py` blocks of a page: code that needs an extra, run as it stands but for sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
PAGES: Final[Mapping[tuple[str, str | None], tuple[int, tuple[str, ...]]]] = {
    ("custom-reward.md", None): (
        1,
        (
            '"Qwen/Qwen2.5-0.5B-Instruct"',
            "max_steps=200",
            '"written", ',
            " max_completion_length=1024,",
            'GRPOConfig("out",',
        ),
    ),
    ("inspect.md", None): (2, ("http://localhost:8000/v1",)),
    ("lm-eval.md", None): (
        2,
        ('"http://localhost:8000/v1/chat/completions"', 'metadata={"attune_number": 2}'),
    ),
    ("openenv.md", None): (2, ("http://127.0.0.1:8000",)),
    ("trainers.md", "SkyRL"): (2, ('"written", ',)),
    ("trainers.md", "verl"): (1, ("training_dataset(data, ",)),
    ("trl.md", None): (
        4,
        (
            '"Qwen/Qwen2.5-0.5B-Instruct"',
            "max_steps=200",
            '"written", ',
            " max_completion_length=1024,",
            " max_completion_length=16_384,",
            'GRPOConfig("out",',
            'RLOOConfig("out",',
            'SFTConfig("sft",',
            'DPOConfig("dpo",',
            'RewardConfig("rm",',
        ),
    ),
}
"""(file in docs/, heading of level two or None for the whole page) -> how many `py` blocks it has, and what
their tests run differently: sizes, devices, addresses. The quick tests hold the pages to it."""


def blocks_of(page: str, section: str | None) -> list[str]:
    """The `py` blocks of a page, held to what `PAGES` says of them."""
    number, replaced = PAGES[page, section]
    text = (DOCS / page).read_text(encoding="utf-8")
    if section is not None:
        text = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```py\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == number, f"{len(blocks)} blocks under {section or 'all headings'} in docs/{page}"
    for shown in replaced:
        assert any(shown in block for block in blocks), f"{shown!r} no longer stands in docs/{page}"
    return blocks


def run_page(page: str, *run: str, section: str | None = None) -> Iterator[dict[str, Any]]:
    """Runs the `py` blocks of a page one after the other, in names of their own.

    Args:
        page: name of the file in docs/.
        run: what is run in place of each text that `PAGES` names, in its order.
        section: the heading of level two under which the blocks are; the whole page if None.

    Yields the names after each block.
    """
    names: dict[str, Any] = {"__name__": "__document__"}
    for block in blocks_of(page, section):
        for shown, instead in zip(PAGES[page, section][1], run, strict=True):
            block = block.replace(shown, instead)
        exec(compile(block, f"docs/{page}", "exec"), names)
        yield names
