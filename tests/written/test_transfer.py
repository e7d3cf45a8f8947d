"""The transfer table: its measures worked by hand, and all of it on tiny data."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from attune_data import load
from attune_data.written import corpus as home
from tests.examples import load_example
from tests.written.compressed import corpus

pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def transfer() -> ModuleType:
    return load_example("transfer")


def turn(number: int, tag: str) -> SimpleNamespace:
    return SimpleNamespace(mood_shift_tags=[SimpleNamespace(emotion=tag)], judgements=(), comparisons=())


def measured(transfer: ModuleType, turns: list[SimpleNamespace]) -> object:
    measure = object.__new__(transfer.Measure)
    measure.turns = [transfer.Exchange((0, i), "p", one) for i, one in enumerate(turns)]
    measure.index, measure.weights = {"p": 0}, np.ones((3, 1))
    return measure


def test_area_counts_ordered_pairs_and_half_of_ties(transfer: ModuleType) -> None:
    measure = measured(transfer, [turn(i, tag) for i, tag in enumerate(["Proud", "Proud", "Upset", "Upset"])])
    said = transfer.Predicted(signs={((0, i),): score for i, score in enumerate([2.0, 0.0, 0.0, -1.0])})
    # pairs (pleasant, unpleasant): 2>0, 2>-1, 0=0, 0>-1: (1 + 1 + ½ + 1) / 4
    assert measure.area(said).value == 0.875  # type: ignore[attr-defined]


def test_balanced_accuracy_is_averaged_over_questions(transfer: ModuleType) -> None:
    def asked(yes: bool) -> SimpleNamespace:
        answer = SimpleNamespace(question_id="B1", observed="yes" if yes else "no", preferred="na")
        return SimpleNamespace(mood_shift_tags=(), judgements=[answer], comparisons=())

    measure = measured(transfer, [asked(i < 8) for i in range(16)])
    said = transfer.Predicted(answers={((0, i), "observed", "B1"): i < 6 for i in range(16)})
    # 6 of 8 yes and 8 of 8 no are right: (¾ + 1) / 2
    assert measure.balanced(said, "observed", lambda _: True).value == 0.875  # type: ignore[attr-defined]
    assert np.isnan(measure.balanced(said, "preferred", lambda _: True).value)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_the_ceiling_and_a_learned_word(transfer: ModuleType) -> None:
    sample = load("sample")[:6]
    found = transfer.Measure(sample)(transfer.played("oracle", sample))
    assert {found[part].value for part in ("textual", "preferred", "valence", "pairwise")} == {1.0}
    read = transfer.Measure(sample)(transfer.Reader(sample).read(sample))  # on its own text
    assert all(read[part].value > 0.75 for part in ("textual", "valence", "pairwise"))


@pytest.mark.slow
def test_one_command_makes_the_table(
    transfer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(home, "FOLDER", corpus(tmp_path))
    found = transfer.table(grammar=24, unseen=12, seed=1)
    assert list(found) == ["unseen phrases", "written:test", "sample"]
    for rows in found.values():
        fits = [f"fitted on {source}" for source in ("grammar", "written", "both")]
        assert list(rows) == [*fits, "prior", "asked", "surface", "lexicon", "ceiling"]
        assert rows["ceiling"]["textual"].value == 1.0
        assert all(one.low <= one.high for row in rows.values() for one in row.values())
    transfer.show(found)
    assert "textual" in (printed := capsys.readouterr().out)
    assert "(aim 0.75, best baseline" in printed
    monkeypatch.setattr(home, "FOLDER", tmp_path / "none")
    assert transfer.written("test") is None
