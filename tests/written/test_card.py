"""The data card shows the corpus as it is."""

from __future__ import annotations

import pytest

from tests.written.card import PAGE, rewritten


@pytest.mark.slow
def test_the_tables_of_the_card_are_those_of_the_corpus() -> None:
    page = PAGE.read_text("utf-8")
    assert page.count("<!-- table: ") == 5
    assert rewritten(page) == page
