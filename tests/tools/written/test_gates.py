"""The gates count what they say; `test_card` holds the corpus to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data import load
from tests.data.written.compressed import installed
from tools.written.gates import (
    Compared,
    Gate,
    corpus_in_parts,
    gates,
    kept,
    new_words,
    seen_before,
    share_won,
    surface_accuracy,
)


def test_a_small_corpus_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, tmp_path)
    found = {gate.name: gate for gate in gates(corpus_in_parts())}
    assert found["5-grams of messages seen before"].value < 0.01
    assert found["winners that surface features predict"].value == pytest.approx(0.7, abs=0.05)
    assert found["turns"].value == sum(len(one.turns) for one in load("sample")) == 97
    assert not found["turns"].holds
    assert found["participants in two splits"].value == 1  # P03 holds conversations 3 and 18


def test_bounds_are_inclusive_and_failures_are_marked() -> None:
    assert Gate("neutral turns", 0.5, 0.3, 0.5).holds
    assert str(Gate("neutral turns", 0.51, 0.3, 0.5, "x")) == "✗ neutral turns: 0.51 (0.3 to 0.5) x"


def test_repetition_counts_other_conversations_only() -> None:
    one, other = "a b c d e f", "a b c d e x"
    # 2 five-grams a text; after the first 6 words: "a b c d e" is known, "b c d e x" is not
    assert seen_before([[one], [other]], 6, 6) == 0.5
    assert seen_before([[one, other]], 6, 6) == 0.0  # said again in the same conversation


def test_new_words_are_those_of_the_last_conversations() -> None:
    assert new_words(["a b c", "a d", "d e f g"], last=2) == 2.0  # (1 + 3) / 2


def test_the_longer_wins() -> None:
    pairs = [
        Compared(i, "m", "aa b", "a", won, ("human", "original")) for i, won in enumerate([True, True, False])
    ]
    assert share_won(pairs, len) == 2 / 3
    assert share_won([one._replace(b="bb a") for one in pairs], len) == 0.5  # ties only


def test_surface_features_find_what_is_there() -> None:
    a, b = ("no!", "no"), ("no", "no!")
    loud = [Compared(i, "m", *(a if i % 2 else b), bool(i % 2), ("human", "original")) for i in range(20)]
    assert surface_accuracy(loud) == 1.0


def test_kept_bigrams() -> None:
    assert kept("a b x c d", "a b c d") == pytest.approx(2 / 3)  # ab, cd of ab, bc, cd
