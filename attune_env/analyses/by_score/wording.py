"""The words of a reading: names, counts, ranges and changes, right in singular and plural."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attune_data.errors import one_line
from attune_env.report.table import rounded, share_text
from attune_env.statistics.bootstrap import Interval
from attune_env.statistics.scores import Key

SHORT = 26
"""Characters of a model's name on an axis."""
LISTED = 3
"""Names that a sentence lists before it counts the rest."""
CHANCE = "where nothing differs, chance puts 0 outside of about 1 interval in 20"
"""What a reader who counts intervals must know."""


def names_of(keys: Sequence[Key]) -> list[str]:
    """Short names for axes and sentences: without the provider where that is still one name a model.

    Long ones lose their middle: versions, sizes and steps stand at the end.
    """
    plain = [one_line(model.partition("/")[2] or model) for model, _ in keys]
    shared = {name for name, n in Counter(plain).items() if n > 1}
    full = [one_line(model) if name in shared else name for (model, _), name in zip(keys, plain, strict=True)]
    head, tail = SHORT - SHORT // 2, SHORT // 2 - 1
    cut = [name if len(name) <= SHORT else f"{name[:head]}…{name[-tail:]}" for name in full]
    twice = {name for name, n in Counter(cut).items() if n > 1}
    return [f"{name[: SHORT - 5]} #{i + 1}" if name in twice else name for i, name in enumerate(cut)]


def plural_of(noun: str) -> str:
    """`models`, `policies`."""
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 model`, `3 models`."""
    return f"{number:,} {noun if number == 1 else plural or plural_of(noun)}"


def of_all(number: int, total: int, noun: str) -> str:
    """`8 of 11 models`; `none of`, `both`, `all` and `the one` where that reads better."""
    if total == 1:
        return f"the one {noun}" if number == 1 else f"no {noun}"
    nouns = plural_of(noun)
    if number == 0:
        return f"none of {total} {nouns}"
    if number == total:
        return f"all {total} {nouns}" if total > 2 else f"both {nouns}"
    return f"{number} of {total} {nouns}"


def how_many(number: int) -> str:
    """`none`, `3`."""
    return f"{number:,}" if number else "none"


def listed(names: Sequence[str], most: int = LISTED) -> str:
    """`a`, `a and b`, `a, b and 4 more`."""
    shown = list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def few_named(names: Sequence[str]) -> str:
    """How many, and which where they are few: `none`, `2 (a and b)`, `7`."""
    return how_many(len(names)) + (f" ({listed(names)})" if 0 < len(names) <= LISTED else "")


def span(values: Sequence[float], places: int = 1) -> str:
    """`3.0 to 7.6`, or the one value."""
    low, high = number_text(min(values), places), number_text(max(values), places)
    return low if low == high else f"{low} to {high}"


def number_text(value: float, places: int = 1, *, signed: bool = False) -> str:
    """`−0.5` with a minus sign as in print, none where all shown digits are 0; `+0.5` if signed."""
    return f"{round(value, places) + 0.0:{'+' if signed else ''}.{places}f}".replace("-", "−")


def percent(share: float) -> str:
    """`12.3 %`, as tables round it; `<0.1 %` of what is not 0."""
    return share_text(share).replace("%", " %")


def with_interval(interval: Interval, places: int = 1, scale: float = 1.0, signed: bool = False) -> str:
    """`3.2 [1.0, 5.4]`, the sign always written where it is a difference; `†` where it says little."""
    shown = rounded(interval, places, scale)
    if not shown:
        return "undefined"
    mean, low, high = (number_text(value, digits, signed=signed) for value, digits in shown)
    return f"{mean} [{low}, {high}]" + ("" if interval.meaningful else "†")


def excludes_zero(interval: Interval) -> bool:
    """Whether a difference's interval is worth a claim: enough units, and 0 outside."""
    return interval.leaves_out_zero


def sentence(text: str) -> str:
    """The text with its first letter large and a full stop, on one line."""
    return one_line(f"{text[:1].upper()}{text[1:].rstrip('.')}.")
