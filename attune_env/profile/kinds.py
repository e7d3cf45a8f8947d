"""The kinds of fields predicted of a participant: how each is read, asked, guessed, and scored.

The same functions read stated and predicted values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate, combinations
from typing import Any, ClassVar, Final

from attune_data.format.questionnaires import Questionnaire
from attune_data.selection.facts import DECLINED, NONE, folded

MAX_TEXT: Final = 100
"""A longer text is neither an option nor a country."""
MAX_LIST: Final = 50
"""A longer list is not an answer."""

_COUNTRIES: Final[Mapping[str, tuple[str, ...]]] = {
    "United States": ("usa", "us", "u.s.", "u.s.a.", "america", "united states of america"),
    "United Kingdom": ("uk", "u.k.", "great britain", "britain", "england", "scotland", "wales",
                       "northern ireland"),
    "Ireland": ("republic of ireland",),
    "Netherlands": ("holland",),
    "Czechia": ("czech republic",),
    "South Korea": ("korea", "republic of korea"),
    "Turkey": ("türkiye", "turkiye"),
    "Vietnam": ("viet nam",),
    "Mexico": ("méxico",),
    "Brazil": ("brasil",),
    "Germany": ("deutschland",),
    "Spain": ("españa",),
    "United Arab Emirates": ("uae", "u.a.e."),
}  # fmt: skip
"""Country -> alternative spellings; other countries are compared as written."""
_COUNTRY_OF: Final = {folded(other): folded(name) for name, others in _COUNTRIES.items() for other in others}

Value = str | frozenset[str] | float


@dataclass(frozen=True, slots=True)
class Outside:
    """A stated value that nobody could guess, because it is not an option or out of range."""

    value: Any


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several options, or one text if there are none."""

    name: str
    text: str
    options: tuple[str, ...] = ()
    """() for the country, which is any text, compared in the spelling of `_COUNTRIES` and ignoring case."""
    measure: ClassVar[str] = "accuracy"

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of an answer; null is none."""
        listed = {"enum": [*self.options, None]} if self.options else {}
        return {"type": ["string", "null"], **listed}

    def read(self, value: object) -> str | Outside | None:
        """Read an option, in our spelling; None if nothing is stated (absent, blank, declined, no text)."""
        if not isinstance(value, str):
            return None
        key = folded(value[: MAX_TEXT + 1])
        if not key or key in DECLINED:
            return None
        if len(value) > MAX_TEXT:
            return Outside(value)
        if not self.options:
            key = key.removeprefix("the ")
            return _COUNTRY_OF.get(key, key)
        return next((option for option in self.options if folded(option) == key), Outside(value))

    def best(self, counts: Mapping[Any, int]) -> str:
        """The most frequent value; ties go to the first option, then to the first name."""
        order = {option: place for place, option in enumerate(self.options)}
        return str(min(counts, key=lambda value: (-counts[value], order.get(value, 0), value)))

    def random(self, draw: Callable[..., int]) -> str | None:
        """A random option; None without options."""
        return self.options[draw(len(self.options))] if self.options else None

    def score(self, truth: Any, guess: Any) -> float:
        """1 for the stated value, otherwise 0."""
        return float(guess == truth)


@dataclass(frozen=True, slots=True)
class Several:
    """Any number of options, including none."""

    name: str
    text: str
    options: tuple[str, ...]
    measure: ClassVar[str] = "set F1"

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of an answer; null is none."""
        return {"type": ["array", "null"], "items": {"type": "string", "enum": list(self.options)}}

    def read(self, value: object) -> frozenset[str] | Outside | None:
        """Read the options, an empty set for none; None if nothing is stated, or both none and some options.

        A single one need not be in a list.
        """
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, (list, tuple)) or len(value) > MAX_LIST:
            return None
        if not all(isinstance(name, str) and len(name) <= MAX_TEXT for name in value):
            return None
        keys = {folded(name) for name in value}
        if "" in keys or keys & DECLINED:
            return None
        if keys & NONE:
            return frozenset() if keys <= NONE else None
        known = {folded(option): option for option in self.options}
        return frozenset(known[key] for key in keys) if keys <= known.keys() else Outside(list(value))

    def best(self, counts: Mapping[Any, int]) -> frozenset[str]:
        """The option set with the highest mean F1 among none, single ones, pairs, and sets that occur.

        Ties go to the smaller set, then to the first by name.
        """

        def order(names: frozenset[str]) -> tuple[int, list[str]]:
            return len(names), sorted(names)

        small = [frozenset(pick) for size in range(3) for pick in combinations(self.options, size)]
        truths = sorted(counts, key=order)  # so that sums of floats are the same on every machine
        return max(
            sorted({*small, *truths}, key=order),
            key=lambda guess: sum(counts[truth] * dice(truth, guess) for truth in truths),
        )

    def random(self, draw: Callable[..., int]) -> frozenset[str]:
        """Each option with probability 1/2."""
        return frozenset(option for option in self.options if draw(2, option))

    def score(self, truth: Any, guess: Any) -> float:
        """Set F1; 0 without a guess."""
        return 0.0 if guess is None else dice(truth, guess)


@dataclass(frozen=True, slots=True)
class Number:
    """A questionnaire's score."""

    name: str
    text: str
    scale: Questionnaire
    options: ClassVar[tuple[str, ...]] = ()
    measure: ClassVar[str] = "mae"

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of an answer; null is none."""
        return {"type": ["number", "null"], "minimum": self.scale.low, "maximum": self.scale.high}

    def read(self, value: object) -> float | Outside | None:
        """Read a number, also from a text; None if it is not one."""
        if isinstance(value, str) and len(value) <= MAX_TEXT:
            try:
                value = float(value)
            except ValueError:
                return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        if not -1e9 < value < 1e9:  # also excludes NaN and numbers beyond the range of floats
            return None if value != value else Outside(str(value)[:MAX_TEXT])
        return float(value) if self.scale.low <= value <= self.scale.high else Outside(value)

    def best(self, counts: Mapping[Any, int]) -> float:
        """The (lower) median, since no constant has a smaller mean absolute error."""
        values = sorted(counts)
        below = accumulate(counts[value] for value in values)
        half = (sum(counts.values()) + 1) // 2
        return next(float(value) for value, reached in zip(values, below, strict=True) if reached >= half)

    def random(self, draw: Callable[..., int]) -> float:
        """A random number, a whole number of steps from the low end."""
        return self.scale.low + float(draw(int(self.scale.high - self.scale.low) + 1))

    def score(self, truth: Any, guess: Any) -> float:
        """The absolute error; without a guess, that of the end of the range farther from the truth."""
        low, high = self.scale.low, self.scale.high
        return float(max(truth - low, high - truth) if guess is None else abs(truth - guess))


Field = Choice | Several | Number


def dice(truth: frozenset[str], guess: frozenset[str]) -> float:
    """Dice overlap of two sets, in [0, 1]; 1 if both are empty."""
    return 2 * len(truth & guess) / (len(truth) + len(guess)) if truth or guess else 1.0


def plain(value: Value | None) -> Any:
    """The JSON form of a value: a list for several options, whole numbers without a fraction."""
    if isinstance(value, frozenset):
        return sorted(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value
