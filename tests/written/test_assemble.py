"""A batch goes from its cards to files of the corpus; leaks and gaps are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attune_data import DataError, load
from attune_data.written import corpus as home
from tests.written import assemble

BATCH = "dev-01"
MARKS = {"yes": "11", "na": "5 16 406 408", "wanted": "+1"}
END: dict[str, Any] = {
    "attitude": "Neutral/Open", "after": "4" * 20, "goals": ["sort"], "clarity": "mixed", "fit": "mostly",
    "off": [], "branches": "4444",
}  # fmt: skip


def write(folder: Path, name: str, value: Any) -> None:
    (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")


@pytest.fixture
def batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A batch that two very dull hands have written."""
    monkeypatch.setattr(home, "FOLDER", tmp_path / "corpus")
    monkeypatch.setattr(assemble, "VERDICTS", tmp_path / "verdicts.json")
    folder, rows = tmp_path / BATCH, assemble.plan()
    names = assemble.deal(BATCH, folder)
    felt: dict[str, Any] = {name: {"before": "4" * 20} for name in names}
    for n in range(1, max(len(rows[name]["turns"]) for name in names) + 1):
        dealt = {name: rows[name]["turns"][n - 1] for name in names if len(rows[name]["turns"]) >= n}
        write(folder, f"message-{n}", {name: f"this is message {n} of {name}" for name in dealt})
        write(folder, f"reply-{n}", dict.fromkeys(dealt, f"a plain reply number {n}."))
        write(folder, f"improved-{n}", dict.fromkeys(dealt, f"another plain reply number {n}."))
        marks: dict[str, Any] = {
            name: dict(MARKS, edit=f"a plain reply number {n}, edited.") for name in dealt
        }
        for name, turn in dealt.items():
            marks[name]["ranks"] = ", ".join(f"{asked} E>I>R" for asked in ("general", *turn["compare"]))
            felt[name][str(n)] = "Upset 3" if turn["tags"] else ""
        write(folder, f"marks-{n}", marks)
    write(folder, "felt", felt)
    write(folder, "end", dict.fromkeys(names, END))
    write(folder, "verdicts", {name: ["kept" if i else "dropped", "dull"] for i, name in enumerate(names)})
    return folder


def test_no_hand_sees_what_is_not_its_own(batch: Path) -> None:
    cards, manners = ((batch / f"{name}.json").read_text(encoding="utf-8") for name in ("cards", "manners"))
    assert not {"miss", "improved", "reply", "manner"} & set(json.loads(cards)["w261"]["turns"][0])
    assert not {"fit", "off"} & set(json.loads(cards)["w261"])
    row = assemble.plan()["w261"]
    assert row["prop"] not in manners
    assert row["subtopic"] not in manners


def test_a_batch_is_taken(batch: Path) -> None:
    files = assemble.take(batch)
    assert len(files) == len(load("written:dev")) == 4
    verdicts = json.loads(assemble.VERDICTS.read_text(encoding="utf-8"))
    assert [verdict for verdict, _ in verdicts.values()] == ["dropped", "kept", "kept", "kept", "kept"]


def test_what_an_editor_should_see(batch: Path) -> None:
    lines = json.loads((batch / "message-2.json").read_text(encoding="utf-8"))
    write(batch, "message-2", lines | {"w261": "I think another plain reply number 1. was nice"})
    said = "w261 turn 2: the message uses “another plain reply number 1”"
    assert any(said in line for line in assemble.check(batch))


def test_gaps_are_named(batch: Path) -> None:
    write(batch, "reply-1", {})
    with pytest.raises(DataError, match=r"reply-1.json: w261: found nothing, expected it to be written"):
        assemble.check(batch)
    with pytest.raises(DataError, match="found train-99, expected a batch"):
        assemble.deal("train-99", batch)
