"""The data card shows the corpus as it is, and only the check that it explains fails."""

from __future__ import annotations

import pytest

from tools.written.card import PAGE, rewritten


@pytest.mark.slow
def test_the_tables_of_the_card_are_those_of_the_corpus() -> None:
    page = PAGE.read_text("utf-8")
    assert page.count("<!-- table: ") == 3
    assert rewritten(page) == page, "write it again: python -m tools.written.card"
    failed = [line for line in page.splitlines() if "| FAILS |" in line]
    assert [line.split("|")[1].strip() for line in failed] == ["anything unwanted gone from the edit"]
