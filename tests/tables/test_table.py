"""Tables: plain lines for pipes, drawn for terminals, and the text of their cells."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest

from attune_env.tables.cells import DASH, Cell, Column, interval_text, share_text
from attune_env.tables.table import Table
from attune_rewards.bootstrap import Interval


def test_without_a_terminal_a_table_is_tab_separated(capsys: pytest.CaptureFixture[str]) -> None:
    Table("Title", ("a", "b"), [("1", "2"), ("é 😀", "שלום")], ["a note"]).print()
    assert capsys.readouterr().out == "# Title\na\tb\n1\t2\né 😀\tשלום\n# a note\n\n"


def test_no_cell_breaks_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Table("T\nwo", ("a", "b"), [("x\ty", "1\n2"), ("\x1b[31m", "\u2028")], ["n\n"]).print()
    lines = capsys.readouterr().out.split("\n")
    assert lines[:2] == ["# T\\nwo", "a\tb"]
    assert lines[2:4] == ["x\\ty\t1\\n2", "\\x1b[31m\t\\u2028"]
    assert lines[4:] == ["# n\\n", "", ""]


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_a_terminal_of_any_width_shows_every_cell(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", columns)
    header = ("model", *(f"metric{i}" for i in range(8)))
    rows: list[tuple[Cell, ...]] = [
        (f"lab/[red]{m}", *(f"0.{m}{i}7 [0.1{i}, 0.9{i}]" for i in range(8))) for m in "12"
    ]
    Table("Title", header, rows, ["a [note]"]).print()
    out = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert max(map(len, out.splitlines())) <= int(columns)
    for text in ("Title", *header, "lab/[red]1", "lab/[red]2", "0.177", "0.207", "a [note]"):
        assert text in out
    for i in range(8):  # no interval breaks in the middle
        assert len(re.findall(rf"\[0\.1{i}, ?0\.9{i}\]", out)) == 2


def test_columns_that_never_vary_become_a_note_in_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table("T", ("m", "mode", "n"), [("a", "x", "5"), ("b", "x", "6")], foldable=("mode", "n"))
    table.print()
    assert capsys.readouterr().out == "# T\nm\tmode\tn\na\tx\t5\nb\tx\t6\n\n"  # never for pipes
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    table.print()
    drawn = capsys.readouterr().out
    assert "All rows: mode `x`" in drawn
    assert "n 5" not in drawn


@pytest.mark.parametrize(("interval", "options", "want"), [
    (Interval(0.51234, 0.48, 0.5444, 10, 10), {}, "0.512 [0.480, 0.544]"),
    (Interval(0.51234, 0.48, 0.5444, 10, 10), {"places": 1, "scale": 100}, "51.2 [48.0, 54.4]"),
    (Interval(0.5, 0.4, 0.6, 9, 4), {"places": 1}, "0.5 [0.4, 0.6]†"),
    # 0 is outside, and no end may read as if it were not
    (Interval(-7.06, -14.01, -0.0249, 9, 9), {"places": 1}, "-7.1 [-14.0, -0.02]"),
    (Interval(0.0004, 0.0001, 0.02, 9, 9), {"places": 1, "scale": 100}, "0.04 [0.01, 2.0]"),
    (Interval(5.0, -0.02, 9.0, 9, 9), {"places": 1}, "5.0 [0.0, 9.0]"),
    (Interval(None, None, None, 0, 0), {}, DASH),
])  # fmt: skip
def test_intervals_as_text(interval: Interval, options: Any, want: str) -> None:
    assert interval_text(interval, **options) == want


@pytest.mark.parametrize(("share", "want"), [
    (None, DASH), (0.0, "0.0%"), (1.0, "100.0%"), (0.4567, "45.7%"),
    (0.0004, "<0.1%"), (0.0006, "0.1%"), (0.9996, ">99.9%"), (1 - 1e-12, "100.0%"),
])  # fmt: skip
def test_shares_as_text(share: float | None, want: str) -> None:
    assert share_text(share) == want


def test_csv_holds_plain_numbers_whatever_made_them() -> None:
    score = np.float64(0.25)
    table = Table("T", (Column("a"), Column("b")), [(score, Interval(score, score, score, 1, 1))])
    assert table.csv_text() == "a,b,b_low,b_high,b_n\n0.25,0.25,0.25,0.25,1\n"
    assert [head.shown(cell).value for head, cell in zip(table.heads, table.rows[0], strict=True)] == [
        "0.25"
    ] * 2


def test_a_transposed_table_has_a_row_per_column() -> None:
    table = Table(
        "T", ("model", Column("x", places=1), "n"), [("a", 1.0, 3), ("b", None, 3)], foldable=("n",)
    )
    turned = table.transposed("metric")
    assert [head.name for head in turned.heads] == ["metric", "a", "b"]
    assert turned.rows == [("x", "1.0", DASH)]
    assert turned.notes == ["All rows: n 3."]


def test_markdown_cells_cannot_end_their_table() -> None:
    table = Table("T", ("a", "b"), [("x|y", "<b>\n")])
    assert table.markdown().splitlines() == ["| a | b |", "| --- | ---: |", "| x\\|y | &lt;b>\\\\n |"]


def test_a_page_shows_no_interval_without_width() -> None:
    column = Column("a", places=1)
    assert column.shown(Interval(100.0, 100.0, 100.0, 9, 9))[:3] == ("100.0", "", False)
    assert column.shown(Interval(100.0, 99.99, 100.0, 9, 9))[:3] == ("100.0", "", False)  # as printed
    assert column.shown(Interval(1.0, 0.5, 2.0, 9, 4))[:3] == ("1.0", "[0.5, 2.0]", True)
