"""The data card shows the corpus as it is, and the corpus keeps its gates."""

from __future__ import annotations

import pytest

from tools.written.card import PAGE, rewritten
from tools.written.gates import corpus_in_parts, gates


@pytest.mark.slow
def test_the_tables_of_the_card_are_those_of_the_corpus() -> None:
    page = PAGE.read_text("utf-8")
    assert page.count("<!-- table: ") == 3
    assert rewritten(page) == page, "write it again: python -m tools.written.card"


@pytest.mark.slow
def test_the_corpus_keeps_its_gates() -> None:
    measured = gates(corpus_in_parts())
    assert len(measured) > 30
    assert [str(gate) for gate in measured if not gate.holds] == []
