"""Difficulty as a dial: what a level sets, and the named levels of a curriculum."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Final

from attune_data.errors import SettingsError, UnknownNameError


@dataclass(frozen=True, slots=True)
class Level:
    """How hard the people of a simulated world are to read. Probabilities are in [0, 1]."""

    name: str = "default"
    clarity: float = 0.84
    """Probability that a feeling which shifted shows in the message."""
    blunt: float = 0.26
    """Taken off the clarity by any diagnosis: the one clinical effect (docs/simulator.md)."""
    leak: float = 0.18
    """Probability that a message shows a feeling although none shifted."""
    mixed: float = 0.26
    """Probability of a second feeling beside the first."""
    gain: float = 3.0
    """Steepness of choices between replies: higher is less noisy."""
    wish_noise: float = 0.75
    """Spread of the noise in what a person would have wanted; above 0."""
    judgement: float = 0.95
    """Sharpness of judgements (does the tone fit?): 0 is a coin."""
    turns: tuple[int, int] = (4, 7)
    """Fewest and most turns of a conversation."""

    def __post_init__(self) -> None:
        for field in ("clarity", "blunt", "leak", "mixed"):
            self._check(field, 1.0)
        for field in ("gain", "judgement", "wish_noise"):
            self._check(field, math.inf)
        if not self.wish_noise:
            raise SettingsError("wish_noise of a level is 0; it must be above 0")
        turns: Any = self.turns
        pair = tuple(turns) if isinstance(turns, tuple | list) else ()
        if not (len(pair) == 2 and all(type(n) is int for n in pair) and 1 <= pair[0] <= pair[1] <= 20):
            raise SettingsError(f"turns of a level are {turns}; two whole numbers, 1 ≤ fewest ≤ most ≤ 20")
        object.__setattr__(self, "turns", pair)

    def _check(self, field: str, highest: float) -> None:
        value = getattr(self, field)
        if not (isinstance(value, int | float) and math.isfinite(value) and 0.0 <= value <= highest):
            raise SettingsError(f"{field} of a level is {value!r}; it must be a number from 0 to {highest:g}")
        object.__setattr__(self, field, float(value))  # 3 and 3.0 are one level, and so one world

    def describe(self) -> dict[str, Any]:
        """The dial's values, as records and seeds name them."""
        return asdict(self) | {"turns": list(self.turns)}


LEVELS: Final[dict[str, Level]] = {
    level.name: level
    for level in (
        Level("plain", .97, .05, .05, .05, 6.0, .35, 1.6, (3, 4)),
        Level("clear", .92, .15, .12, .15, 4.0, .50, 1.2, (4, 5)),
        Level(),
        Level("blunted", .65, .40, .28, .30, 3.0, .75, .95, (4, 7)),
        Level("tangled", .60, .30, .35, .50, 2.0, 1.0, .7, (6, 10)),
    )
}  # fmt: skip
"""Name -> level, from the easiest to the hardest."""


def level_of(level: str | Level) -> Level:
    """The level itself, or the one with that name; raises UnknownNameError with a suggestion."""
    if isinstance(level, Level):
        return level
    given: object = level
    if not isinstance(given, str) or given not in LEVELS:
        raise UnknownNameError("level", level, LEVELS)
    return LEVELS[level]
