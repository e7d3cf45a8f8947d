"""Tables: plain lines for pipes, drawn for terminals, and what their cells say."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attune_data import load
from attune_env.cli.run import POLICIES
from attune_env.pages.tables import table_view
from attune_env.report.cells import Column, DataTable
from attune_env.report.table import DASH, Table, interval_text, share_text
from attune_env.report.tables import leaderboard, mode_text, role_of
from attune_env.results import score_results
from attune_env.results.files import Result
from attune_env.statistics.bootstrap import Interval
from attune_episodes import BUILTIN, KINDS, Settings, builtin_policy, rollout
from attune_episodes.settings import Mode
from attune_rewards import read_record
from tests.rewards.builders import Json


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
    rows = [(f"lab/[red]{m}", *(f"0.{m}{i}7 [0.1{i}, 0.9{i}]" for i in range(8))) for m in "12"]
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
    assert "all rows: mode x" in drawn
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
    table = DataTable("t", "T", (Column("a"), Column("b")), [(score, Interval(score, score, score, 1, 1))])
    assert table.csv_text() == "a,b,b_low,b_high,b_n\n0.25,0.25,0.25,0.25,1\n"
    assert [cell.value for cell in table_view(table).rows[0].cells] == ["0.25", "0.25"]


def test_the_nulls_are_the_policies_that_read_nothing_or_the_surface() -> None:
    nulls = {name for name in KINDS if role_of(f"builtin/{name}") == "null"}
    assert nulls == {name for name, kind in KINDS.items() if kind in ("content-free", "shallow")}


def test_the_help_names_the_built_in_policies() -> None:
    assert POLICIES == BUILTIN


@pytest.mark.parametrize(("model", "role"), [
    ("builtin/prior", "null"), ("builtin/copy", "null"), ("builtin/oracle", "ceiling"),
    ("builtin/lexicon", "reader"), ("openai/oracle", "model"), ("empty", "model"),
])  # fmt: skip
def test_reference_rows_are_told_from_models(model: str, role: str) -> None:
    assert role_of(model) == role


def test_only_the_default_mode_is_primary() -> None:
    assert [mode_text(mode) for mode in ("default", "verbose")] == ["default", "verbose (not primary)"]


Played = tuple[str, str, Mode]


def scores_of(*played: Played, scoring: Any = "canonical") -> Json:
    """Scores of (policy, shown as, mode) on five conversations of the sample."""
    data = load("sample")[:5]
    results = []
    for policy, shown, mode in played:
        player = builtin_policy(policy, data, Settings(mode=mode))
        for about in data:
            record = rollout(about, player, Settings(mode=mode), em_model=shown).result
            results.append(Result(Path("x.json"), record, read_record(record, about)[0]))
    return score_results(results, data, ground_truth="sample", scoring=scoring)


def cells(table: Table, column: str) -> list[str]:
    index = next(i for i, name in enumerate(table.columns) if f"{name} ".startswith(f"{column} "))
    return [row[index] for row in table.rows]


def test_the_leaderboard_ranks_marks_and_counts() -> None:
    table = leaderboard(scores_of(
        ("empty", "builtin/empty", "default"),
        ("lexicon", "lab/model", "verbose"),
        ("oracle", "builtin/oracle", "default"),
    ))  # fmt: skip
    assert cells(table, "model") == ["builtin/oracle", "lab/model", "builtin/empty"]
    assert cells(table, "kind") == ["ceiling", "model", "null"]
    assert cells(table, "mode") == ["default", "verbose (not primary)", "default"]
    assert cells(table, "n") == ["5"] * 3
    assert cells(table, "parsed") == ["100.0%"] * 3
    assert table.dim == {0, 2}
    assert any("10,000 resamples by conversation" in note for note in table.notes)
    assert not any("†" in cell for cell in cells(table, "Composite"))


def test_the_reading_decides_what_leads() -> None:
    # silence: the canonical conventions pay for it, the strict ones do not
    played: Played = ("empty", "lab/silent", "default")
    canonical, strict = (leaderboard(scores_of(played, scoring=r)) for r in ("canonical", "strict"))
    lenient = float(cells(canonical, "Composite")[0].split(" ")[0])
    severe = float(cells(strict, "Strict")[0].split(" ")[0])
    assert lenient > severe + 10
