"""Blind readings go into the corpus's format, and agreement is counted as worked by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from attune_data import DataError
from attune_data.jsonio import read_json
from tests.data.written.compressed import installed
from tools.written import blind
from tools.written.blind import Pair, agreement, beside_chance, compact, deal, kappa, letters, read_again


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    installed(monkeypatch, tmp_path)
    return tmp_path


def same_as_the_writer(name: str) -> dict[str, Any]:
    """The sheet of a reader who answers as the writer did, in the letters that readers see."""
    whole = compact(name)
    turns = []
    for n, turn in enumerate(whole["turns"]):
        seen = {of: letter for letter, of in letters(name, n).items()}
        ranks = "".join(seen.get(letter, letter) for letter in turn["ranks"])
        turns.append({key: turn[key] for key in blind.TURN} | {"ranks": ranks, "edit": seen["E"]})
    return {key: whole[key] for key in blind.WIDE} | {"turns": turns}


def test_a_reader_sees_texts_and_no_label(small: Path) -> None:
    deal(small, ["w001"])
    texts = (small / "texts.txt").read_text(encoding="utf-8")
    first = compact("w001")["turns"][0]
    assert all(first[key] in texts for key in ("message", "reply", "improved", "edit"))
    assert first["felt"] not in texts
    sheet = read_json(small / "sheets.json")["w001"]
    assert not any(sheet[key] for key in blind.WIDE)
    with pytest.raises(DataError, match="20 digits"):
        blind.check({"w001": sheet})


def test_the_sheet_of_a_reader_who_agrees_gives_the_same_annotations(small: Path) -> None:
    sheet = same_as_the_writer("w003")
    blind.check({"w003": sheet})
    writer = read_again("w003", sheet)
    assert writer.turns[0].comparisons == home_turn("w003").comparisons
    rows = {row.field: row for row in agreement([Pair("w003", "train", writer, writer, (True, False))])}
    assert rows["what the reply did: text"].value == 1
    assert rows["overall choice"].value == 1
    assert rows["PANAS before"].value == 0
    assert rows["which text is the edit"][2:] == (0.5, 0.5, 2)


def home_turn(name: str) -> Any:
    from attune_data import load

    return next(one for one in load("written") if one.conversation_id == name).turns[0]


@pytest.mark.parametrize(("answers", "value", "chance"), [
    # agreed 3 of 4; chance (2·1 + 2·3)/16 = 1/2; κ = (3/4 - 1/2)/(1/2)
    ([("yes", "yes"), ("yes", "no"), ("no", "no"), ("no", "no")], 0.5, 0.5),
    ([("yes", "no"), ("no", "yes")], -1.0, 0.5),  # chance (1·1 + 1·1)/4; κ = (0 - 1/2)/(1/2)
    ([("no", "no")], math.nan, 1.0),
])  # fmt: skip
def test_kappa(answers: list[tuple[str, str]], value: float, chance: float) -> None:
    assert kappa(answers) == pytest.approx((value, chance), nan_ok=True)


def test_chance_is_the_agreement_with_other_turns() -> None:
    both = [(1.0, 1.0), (2.0, 2.0), (4.0, 4.0)]
    # with the next: |1-2| + |2-4| + |4-1| = 6; with the one after: |1-4| + |2-1| + |4-2| = 6; 12 / 6
    assert beside_chance(both, lambda a, b: abs(a - b)) == (0.0, 2.0)
