"""The data card shows the corpus as it is, and the corpus keeps its gates."""

from __future__ import annotations

import pytest

from tools.written.card import PAGE, rewritten


@pytest.mark.slow
def test_the_tables_of_the_card_are_those_of_the_corpus() -> None:
    page = PAGE.read_text("utf-8")
    assert page.count("<!-- table: ") == 5
    assert rewritten(page) == page
    assert "5-grams of messages seen before" in page
    assert "**missed**" not in page
