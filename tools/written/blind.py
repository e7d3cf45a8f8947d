"""Have the written corpus read again by hands that see the text alone, and measure how far they agree.

    python -m tools.written.blind deal FOLDER w001 w002 …    texts to read, and an empty sheet for each
    python -m tools.written.blind check FOLDER               what is missing or wrong in the sheets
    python -m tools.written.blind take FOLDER READER         the sheets into tools/written/blind/READER.json
    python -m tools.written.blind agreement                  the tables of docs/data-cards.md

A text shows the messages, the received reply of each turn as R, and the edit and the improved reply as X and
Y in an order that was drawn. A sheet has the annotations of the compact form, ranks over R, X and Y, and for
each turn the letter that the reader takes for the edit.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from attune_data import Conversation
from attune_data.errors import AttuneError, DataError, Problem
from attune_data.format.constants import BINARY_IDS
from attune_data.jsonio import read_json
from attune_data.seeding import digest
from attune_data.source.corpora import corpus
from attune_data.written.compact import expand
from attune_env.ladder.tasks import NOT_IN_TEXT
from attune_rewards.metrics.emotion import f1, va_score
from attune_rewards.metrics.questions import set_jaccard
from attune_rewards.truth import TurnTruth, truth_of
from tools.written.casting import HERE

SHEETS: Final = HERE / "blind"
WIDE: Final = ("before", "after", "goals", "clarity", "fit", "off", "branches")
TURN: Final = ("felt", "yes", "na", "wanted", "ranks")
SHIFTS: Final = 20
"""Chance is the agreement with the writer's answers to other turns or conversations, so many places on."""
T = TypeVar("T")


def compact(name: str) -> dict[str, Any]:
    """The compact form of one conversation of the corpus."""
    folder = corpus("written").folder
    files = list(folder.glob(f"*/{name}.json"))
    if not files:
        raise DataError(Problem(str(folder), name, "no such conversation", "an id of the corpus"))
    found: dict[str, Any] = read_json(files[0])
    return found


def letters(name: str, turn: int) -> dict[str, str]:
    """The letter that a reader sees -> that of the compact form."""
    swapped = digest("blind", name, turn)[0] % 2
    return {"R": "R", "X": "EI"[swapped], "Y": "IE"[swapped]}


def deal(folder: Path, names: Sequence[str]) -> None:
    """Writes `texts.txt`, which holds no label, and `sheets.json` to be filled in."""
    lines, sheets = [], {}
    for name in names:
        whole = compact(name)
        lines.append(f"=== {name} ({whole['category']}: {whole['subtopic']})")
        turns = []
        for n, turn in enumerate(whole["turns"]):
            shown = {"R": turn["reply"], "E": turn["edit"], "I": turn["improved"]}
            lines.append(f"--- {name} turn {n + 1}\nPERSON: {turn['message']}")
            lines += [f"{letter}: {shown[of]}" for letter, of in letters(name, n).items()]
            asked = [part.split()[0] for part in turn["ranks"].split(",")]
            turns.append(
                dict.fromkeys(TURN, "") | {"ranks": ", ".join(f"{q} ?>?>?" for q in asked), "edit": ""}
            )
        sheets[name] = {key: [] if key in ("goals", "off") else "" for key in WIDE} | {"turns": turns}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "texts.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_sheets(folder / "sheets.json", sheets)


def read_again(name: str, sheet: Mapping[str, Any]) -> Conversation:
    """The conversation with a reader's annotations instead of the writer's; DataError lists what is wrong."""
    whole = compact(name)
    turns = []
    for n, (turn, said) in enumerate(zip(whole["turns"], sheet["turns"], strict=True)):
        ranks = "".join(letters(name, n).get(letter, letter) for letter in said["ranks"])
        turns.append(turn | {key: said[key] for key in TURN} | {"ranks": ranks})
    return Conversation.model_validate(
        expand(whole | {key: sheet[key] for key in WIDE} | {"turns": turns}, name)
    )


def check(sheets: Mapping[str, Any]) -> None:
    """Raises DataError with all that is missing or wrong."""
    problems: list[Problem] = []
    for name, sheet in sheets.items():
        try:
            read_again(name, sheet)
        except DataError as error:
            problems.extend(error.problems)
        for n, turn in enumerate(sheet["turns"]):
            if turn["edit"] not in ("R", "X", "Y"):
                problems.append(Problem(name, f"turns[{n}].edit", turn["edit"], "X or Y"))
    if problems:
        raise DataError(problems)


class Pair(NamedTuple):
    """One conversation as its writer and a blind reader annotated it."""

    name: str
    part: str
    writer: Conversation
    reader: Conversation
    edits_found: tuple[bool, ...]
    """For each turn whether the reader took the edit for the edit."""


def pairs() -> list[Pair]:
    """Every reading that was taken."""
    found = []
    for file in sorted(SHEETS.glob("reader-*.json")):
        for name, sheet in read_json(file).items():
            part = next(corpus("written").folder.glob(f"*/{name}.json")).parent.name
            hits = tuple(letters(name, n).get(t["edit"]) == "E" for n, t in enumerate(sheet["turns"]))
            writer = Conversation.model_validate(expand(compact(name), name))
            found.append(Pair(name, part, writer, read_again(name, sheet), hits))
    return found


class Row(NamedTuple):
    """Agreement on one field, beside what chance gives."""

    field: str
    measure: str
    value: float
    chance: float
    items: int


def kappa(answers: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """Cohen's κ of two readers' answers, and the agreement that chance gives; κ is NaN where that is 1."""
    first, second = (Counter(side) for side in zip(*answers, strict=True))
    agreed = sum(a == b for a, b in answers) / len(answers)
    chance = sum(first[name] * second[name] for name in first) / len(answers) ** 2
    return ((agreed - chance) / (1 - chance) if chance < 1 else float("nan")), chance


def beside_chance(both: Sequence[tuple[T, T]], measure: Callable[[T, T], float]) -> tuple[float, float]:
    """The mean of a measure over the pairs, and over each writer's value with other readings."""
    value = float(np.mean([measure(a, b) for a, b in both]))
    shifts = range(1, min(SHIFTS, len(both) - 1) + 1)
    others = [measure(both[i][0], both[(i + by) % len(both)][1]) for by in shifts for i in range(len(both))]
    return value, float(np.mean(others)) if others else float("nan")


def turns_of(these: Sequence[Pair]) -> Iterator[tuple[TurnTruth, TurnTruth]]:
    """The turns of both annotators."""
    for pair in these:
        yield from zip(truth_of(pair.writer).turns, truth_of(pair.reader).turns, strict=True)


def answers(these: Sequence[Pair], question: str, *, wanted: bool) -> list[tuple[str, str]]:
    """Both answers to a yes/no question, where both find it applicable."""
    both = [
        tuple(dict(turn.preferred if wanted else turn.observed).get(question) for turn in turns)
        for turns in turns_of(these)
    ]
    return [(a, b) for a, b in both if a and b]


def agreement(these: Sequence[Pair]) -> list[Row]:
    """Agreement of blind readers with the writers, field by field."""
    rows = []
    tags = [(a.tags or (), b.tags or ()) for a, b in turns_of(these)]
    for name, measure in (("F1", f1), ("valence and arousal", va_score)):
        rows.append(Row("feelings of a turn", name, *beside_chance(tags, measure), len(tags)))
    textual = [question for question in BINARY_IDS if question not in NOT_IN_TEXT]
    for field, questions, wanted in (
        ("what the reply did: text", textual, False),
        ("what the reply did: judgement", NOT_IN_TEXT, False),
        ("what was wanted", BINARY_IDS, True),
    ):
        said = [pair for question in questions for pair in answers(these, question, wanted=wanted)]
        rows.append(Row(field, "κ", *kappa(said), len(said)))
    for field, general in (("overall choice", True), ("other comparisons", False)):
        chosen = list(_choices(these, general=general))
        rows.append(Row(field, "agreed", float(np.mean([a == b for a, b in chosen])), 0.5, len(chosen)))
    edits = [hit for pair in these for hit in pair.edits_found]
    rows.append(Row("which text is the edit", "right", float(np.mean(edits)), 0.5, len(edits)))
    both = [(truth_of(pair.writer), truth_of(pair.reader)) for pair in these]
    rated: list[tuple[Mapping[str, Any], Mapping[str, Any]]]
    for field, rated in (
        ("PANAS before", [(a.pre, b.pre) for a, b in both]),
        ("PANAS after", [(a.post, b.post) for a, b in both]),
        ("ratings of the four branches", [(a.branches, b.branches) for a, b in both]),
    ):
        rows.append(Row(field, "error", *beside_chance(rated, _error), sum(len(a) for a, _ in rated)))
    goals = [(a.q1 or (), b.q1 or ()) for a, b in both]
    rows.append(Row("goals (Q1)", "Jaccard", *beside_chance(goals, set_jaccard), len(goals)))
    rows.append(Row("clarity (Q2)", "κ", *kappa([(str(a.q2), str(b.q2)) for a, b in both]), len(both)))
    rows.append(Row("fit (Q3)", "κ", *kappa([(str(a.q3), str(b.q3)) for a, b in both]), len(both)))
    return rows


def _choices(these: Sequence[Pair], *, general: bool) -> Iterator[tuple[str | None, str | None]]:
    for a, b in turns_of(these):
        for one, other in zip(a.comparisons, b.comparisons, strict=True):
            if (one.question_id == "general") == general:
                yield one.winner, other.winner


def _error(first: Mapping[str, Any], second: Mapping[str, Any]) -> float:
    return float(np.mean([abs(first[name] - second[name]) for name in first]))


def write_sheets(file: Path, value: Mapping[str, Any]) -> None:
    """Writes sheets as JSON, one value per line."""
    file.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        match sys.argv[1:]:
            case ["deal", place, *ids]:
                deal(Path(place), ids)
            case ["check", place]:
                check(read_json(Path(place) / "sheets.json"))
            case ["take", place, reader]:
                check(found := read_json(Path(place) / "sheets.json"))
                write_sheets(SHEETS / f"{reader}.json", found)
            case ["agreement"]:
                print(*agreement(pairs()), sep="\n")
            case _:
                raise SystemExit(__doc__)
    except AttuneError as error:
        raise SystemExit(str(error)) from None
