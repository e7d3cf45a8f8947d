"""The cells of a table and how each is shown: numbers, shares, intervals, and texts from files."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from attune_data.errors import one_line
from attune_rewards.bootstrap import ROUNDING, Interval

DASH = "–"
_NUMBER = re.compile(r"[-+]?[\d.,]+%?( \[-?[\d.]+, -?[\d.]+\])?†?( n=\d+)?", re.ASCII)
"""A cell that is a number, as tables write them: alone, or with its interval."""
_FORMULA = tuple('=+-@＝＋－＠"#')
"""First characters of a cell that a spreadsheet would run as a formula or take for the start of a quoted
field, or that a script would take for a comment line."""
LONGEST_CELL: Final = 2_000
"""Characters of a cell on a page."""

Cell = str | int | float | Interval | None
"""None is undefined."""


class Shown(NamedTuple):
    """A cell as a page shows it."""

    text: str
    interval: str = ""
    """`[low, high]`, below the mean."""
    few: bool = False
    """Whether the interval rests on too few units."""
    value: str = ""
    """The number to sort by; if empty, the text is sorted by."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, and how its numbers are shown."""

    name: str
    """The heading, with the unit: `Composite (0-100)`."""
    field: str = ""
    """Its name in a CSV file; by default the heading in lower case with underscores."""
    places: int = 3
    scale: float = 1.0
    """Factor for display; a CSV file holds values as they are."""
    share: bool = False

    @property
    def key(self) -> str:
        """The name in a CSV file."""
        return self.field or "_".join("".join(c if c.isalnum() else " " for c in self.name.lower()).split())

    def text(self, cell: Cell) -> str:
        """The cell as text."""
        if cell is None:
            return DASH
        if isinstance(cell, str):
            return cell
        if isinstance(cell, Interval):
            return interval_text(cell, places=self.places, scale=self.scale)
        if self.share:
            return share_text(float(cell), min(self.places, 1))
        if isinstance(cell, int):
            return str(cell)
        return f"{round(cell * self.scale, self.places) + 0.0:.{self.places}f}"  # no -0.0

    def shown(self, cell: Cell) -> Shown:
        """The cell for a page."""
        if isinstance(cell, Interval):
            mean, _, interval = self.text(cell).removesuffix("†").partition(" ")
            low, _, high = interval.strip("[]").partition(", ")
            # an interval without width says nothing
            return Shown(mean, interval if low != high else "", cell.few, unrounded(cell.mean))
        text = one_line(self.text(cell), LONGEST_CELL)
        return Shown(text, value="" if isinstance(cell, str) else unrounded(cell))


share = partial(Column, share=True)
points = partial(Column, places=1, scale=100)
P, HOLM = Column("p", places=4), Column("p, Holm", "p_holm", places=4)
"""The p value of a test, uncorrected and corrected."""


def unrounded(number: int | float | None) -> str:
    """A number as a file holds it; "" if undefined."""
    if number is None:
        return ""
    return repr(float(number) if isinstance(number, float) else number)  # NumPy's floats are written as 0.5


def field_text(text: str) -> str:
    """`text` as one field of a tab-separated line, safe to open in a spreadsheet; numbers stay numbers.

    Some texts come from other people's files, such as the name of a model: one that a spreadsheet would run
    or misread gets an apostrophe in front, which tells a spreadsheet that it is text.
    """
    clean = one_line(text)
    if clean.lstrip().startswith(_FORMULA) and not _NUMBER.fullmatch(clean):
        return f"'{clean}"
    return clean


def interval_text(interval: Interval, *, places: int = 3, scale: float = 1.0) -> str:
    """`0.512 [0.480, 0.544]`; a dash if undefined, `†` if it rests on too few units.

    If 0 is outside the interval, a number other than 0 is never shown as 0: it gets as many decimals as it
    needs.
    """
    if interval.mean is None or interval.low is None or interval.high is None:
        return DASH
    outside = interval.low > ROUNDING or interval.high < -ROUNDING
    texts = []
    for value in (scale * interval.mean, scale * interval.low, scale * interval.high):
        digits = places
        if outside and abs(value) > ROUNDING and not round(abs(value), places):
            digits = -math.floor(math.log10(abs(value)))
        texts.append(f"{round(value, digits) + 0.0:.{digits}f}")  # no -0.0
    mean, low, high = texts
    return f"{mean} [{low}, {high}]" + ("†" if interval.few else "")


def share_text(value: float | None, places: int = 1) -> str:
    """A share in [0, 1] as a percentage, a dash where undefined.

    Only 0 reads 0% and only 1 reads 100%: other values become `<0.1%`, `>99.9%`.
    """
    if value is None:
        return DASH
    text, step = f"{100 * value:.{places}f}", 10.0**-places
    if ROUNDING < value < 1 - ROUNDING and float(text) in (0, 100):
        return f"<{step:.{places}f}%" if value < 0.5 else f">{100 - step:.{places}f}%"
    return f"{text}%"
