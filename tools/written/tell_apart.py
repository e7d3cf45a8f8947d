"""Can a reader tell the sample from the written test part? Pairs of conversations, one of each.

python -m tools.written.tell_apart deal FOLDER READER    pairs.txt: twenty pairs, sides drawn
python -m tools.written.tell_apart take FOLDER READER    guesses.json (["A", "B", …]: the sample's side)
python -m tools.written.tell_apart count                 right guesses of every reader
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from attune_data import Conversation, load
from attune_data.errors import DataError, Problem
from attune_data.jsonio import read_json
from attune_data.seeding import digest
from tools.written.blind import SHEETS, write_sheets

GUESSES: Final = SHEETS / "tell_apart.json"


def pairs(reader: str) -> list[tuple[Conversation, Conversation, str]]:
    """(conversation A, conversation B, the side of the sample's) for one reader."""
    sample = sorted(load("sample"), key=lambda one: digest("order", reader, one.conversation_id))
    written = sorted(load("written:test"), key=lambda one: digest("partner", reader, one.conversation_id))
    found = []
    for ours, other in zip(sample, written, strict=False):
        first = digest("side", reader, ours.conversation_id)[0] % 2
        found.append((ours, other, "A") if first else (other, ours, "B"))
    return found


def told(conversation: Conversation) -> str:
    """The text of a conversation alone."""
    said = ((turn.user_message, turn.llm_response) for turn in conversation.turns)
    return "\n".join(f"PERSON: {message}\nASSISTANT: {reply}" for message, reply in said)


def deal(folder: Path, reader: str) -> None:
    """Writes what the reader sees."""
    lines = []
    for number, (a, b, _) in enumerate(pairs(reader), 1):
        lines += [
            f"=== pair {number}, conversation A",
            told(a),
            f"=== pair {number}, conversation B",
            told(b),
        ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pairs.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def take(folder: Path, reader: str) -> None:
    """Keeps the guesses of a reader; DataError where one is missing."""
    guesses = read_json(folder / "guesses.json")
    if len(guesses) != len(load("sample")) or set(guesses) - {"A", "B"}:
        raise DataError(Problem(str(folder / "guesses.json"), "", str(guesses), "A or B for each pair"))
    known = read_json(GUESSES) if GUESSES.exists() else {}
    right = sum(guess == side for guess, (*_, side) in zip(guesses, pairs(reader), strict=True))
    write_sheets(GUESSES, known | {reader: {"guesses": "".join(guesses), "right": right}})


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["deal", place, name]:
            deal(Path(place), name)
        case ["take", place, name]:
            take(Path(place), name)
        case ["count"]:
            for name, one in read_json(GUESSES).items():
                print(f"{name}: {one['right']} of {len(one['guesses'])}")
        case _:
            raise SystemExit(__doc__)
