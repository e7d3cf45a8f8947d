"""Prints a fingerprint of what the engine makes, one conversation a line; any Python of 3.11 or later.

    python engine.py DATA_FOLDER COUNT

The simulator itself needs the standard library only. Its packages are entered past their `__init__`, which
load pydantic, so that an interpreter with nothing installed can run it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from types import ModuleType


def main(data: str, count: str) -> None:
    """A line a conversation: of its record, and of every probability behind it."""
    for name in ("attune_data", "attune_data.simulate"):
        package = ModuleType(name)
        package.__path__ = [str(Path(data).joinpath(*name.split(".")))]
        sys.modules[name] = package
    from attune_data.simulate.conversation import hold
    from attune_data.simulate.draws import Draws
    from attune_data.simulate.levels import LEVELS
    from attune_data.simulate.person import make_person
    from attune_data.simulate.texts import texts

    for number in range(int(count)):
        for level in LEVELS.values():
            person = make_person(3, number, f"P{number}", texts().families)
            draws = Draws("two interpreters", level.name, number)
            record, state = hold(texts(), person, level, f"c-{number}", draws)
            behind = [
                (turn.mood, turn.fit, sorted(turn.observed.items()), sorted(turn.preferred.items()),
                 turn.comparisons, turn.shown)
                for turn in state.turns
            ]  # fmt: skip
            for value in (json.dumps(record), repr(behind), repr(person)):
                print(hashlib.sha256(value.encode()).hexdigest()[:16], end=" ")
            print(level.name, number)


if __name__ == "__main__":
    main(*sys.argv[1:])
