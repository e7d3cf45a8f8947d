"""The baseline and the unit of live totals, measured by `calibrate` and stored in `constants.json`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

FILE: Final = Path(__file__).parent / "constants.json"


class Constants(NamedTuple):
    """The fixed points of live totals, in raw return per conversation."""

    zero: float
    """The mean return of the best goal-blind policy, which is total 0."""
    oracle: float
    """The mean return of the state-knowing reply, which is total 1."""
    silence: float
    """The mean return of saying nothing."""

    @property
    def unit(self) -> float:
        """The raw return that makes a total of 1."""
        return self.oracle - self.zero

    @property
    def share(self) -> float:
        """The share of the range from silence to oracle that the best goal-blind policy earns."""
        return (self.zero - self.silence) / (self.oracle - self.silence)


RAW: Final = Constants(0.0, 1.0, 0.0)
"""Leaves raw returns unchanged."""


@cache
def provenance() -> dict[str, Any]:
    """All of `constants.json`: how, with which people and with which readers the constants were made."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def constants(reader: str, level: str) -> Constants:
    """The constants of a reader at a level; an unmeasured one gets those of the first, or of `default`."""
    readers = provenance()["readers"]
    levels = readers[reader if reader in readers else next(iter(readers))]["levels"]
    return Constants(**levels[level if level in levels else "default"])
