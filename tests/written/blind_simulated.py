"""Have simulated conversations read by hands that see the text alone: are their textual labels true of it?

    python -m tests.written.blind_simulated deal FOLDER FIRST COUNT    texts of items of a world, empty sheets
    python -m tests.written.blind_simulated take FOLDER READER         into tests/written/blind/simulated/
    python -m tests.written.blind_simulated agreement                  κ over all, and by question

A sheet has for each turn the numbers of the yes/no questions that the reader answers with yes, and of those
that do not apply. Readings belong to one version of the world.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from attune_data.constants import BINARY_IDS
from attune_data.errors import DataError, Problem
from attune_data.jsonio import read_json
from attune_data.simulate import Simulation
from attune_data.simulate.constructs import CONTEXTUAL
from attune_data.simulate.stream import VERSION
from attune_rewards.truth import truth_of
from tests.written.blind import SHEETS, kappa
from tests.written.blind import write_sheets as write

WORLD: Final = Simulation(2026)
READ: Final = SHEETS / "simulated"
TEXTUAL: Final = frozenset(BINARY_IDS) - frozenset(CONTEXTUAL)


def deal(folder: Path, first: int, count: int) -> None:
    """Writes `texts.txt`, which holds no label, and `sheets.json` to be filled in."""
    lines, sheets = [], {}
    for index in range(first, first + count):
        conversation = WORLD[index]
        for turn in conversation.turns:
            lines.append(f"--- {index} turn {turn.turn_number}\nPERSON: {turn.user_message}")
            lines.append(f"R: {turn.llm_response}")
        sheets[str(index)] = [{"yes": "", "na": ""} for _ in conversation.turns]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "texts.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    write(folder / "sheets.json", sheets)


def take(folder: Path, reader: str) -> None:
    """Keeps a reader's sheets; DataError where a number is no question's."""
    sheets = read_json(folder / "sheets.json")
    for index, turns in sheets.items():
        for n, turn in enumerate(turns, 1):
            for word in (turn["yes"] + " " + turn["na"]).split():
                if f"B{word}" not in BINARY_IDS:
                    raise DataError(Problem(f"{index} turn {n}", "", word, "the number of a yes/no question"))
    READ.mkdir(parents=True, exist_ok=True)
    write(READ / f"{reader}.json", {"version": VERSION, "sheets": sheets})


def answers() -> Iterator[tuple[str, str, str]]:
    """(question, the world's answer, the reader's) wherever both find a textual question applicable."""
    for file in sorted(READ.glob("*.json")):
        reading: dict[str, Any] = read_json(file)
        if reading["version"] != VERSION:
            continue
        for index, turns in reading["sheets"].items():
            for truth, said in zip(truth_of(WORLD[int(index)]).turns, turns, strict=True):
                yes, na = (frozenset(said[key].split()) for key in ("yes", "na"))
                for question, answer in truth.observed:
                    if question in TEXTUAL and question[1:] not in na:
                        yield question, answer, "yes" if question[1:] in yes else "no"


def turns_read() -> int:
    """How many turns of this version's world were read."""
    files = [read_json(file) for file in READ.glob("*.json")]
    return sum(len(t) for one in files if one["version"] == VERSION for t in one["sheets"].values())


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["deal", place, begin, number]:
            deal(Path(place), int(begin), int(number))
        case ["take", place, name]:
            take(Path(place), name)
        case ["agreement"]:
            found = list(answers())
            print(f"{turns_read()} turns, {len(found)} answers: κ {kappa([f[1:] for f in found])[0]:.2f}")
            for q in BINARY_IDS:
                if own := [f[1:] for f in found if f[0] == q]:
                    yes = sum(a == "yes" for a, _ in own)
                    print(f"{q}: κ {kappa(own)[0]:.2f}, {len(own)} answers, {yes} yes")
        case _:
            raise SystemExit(__doc__)
