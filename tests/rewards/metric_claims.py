"""What may be claimed of a metric, and the steps from one prediction to the next that claims speak of.

A claim that does not hold states a counterexample, so that the table is the truth about each metric.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hypothesis import strategies as st

from attune_rewards import Tag

Values = float | None | Sequence[float | None]
Steps = Callable[[Any, Any], Iterable[Any]]
"""(right answer, prediction) -> predictions one step away from it."""


@dataclass(frozen=True)
class Claim:
    """That no such step makes things worse (monotone) or better (silence)."""

    steps: Steps
    fails: tuple[Any, Any, Any] | None = None
    """Truth, prediction, and the step from it that breaks the claim; None: the claim holds."""


def same(truth: Any) -> Any:
    return truth


def shuffle_each(truth: Any, guess: Any, random: Random) -> tuple[Any, Any]:
    return shuffle(truth, random), shuffle(guess, random)


@dataclass(frozen=True)
class Metric:
    """What is claimed of one metric; `score` gives its value or values from (truth, prediction)."""

    name: str
    score: Callable[[Any, Any], Values]
    truths: st.SearchStrategy[Any]
    guesses: st.SearchStrategy[Any]
    monotone: tuple[Claim, ...]
    """A correction never makes a defined value worse."""
    silence: tuple[Claim, ...]
    """An answer taken away never makes a value better, nor undefined (which means would leave out)."""
    low: float = 0
    high: float = 1
    gold: float = 1
    """The value of the right answer (each value, where there are several and they are defined)."""
    lower: bool = False
    """A distance: lower is better."""
    right: Callable[[Any], Any] = same
    """The right answer, from the truth."""
    short: Any = None
    """A truth, none of `truths`, whose right answer misses the gold value."""
    shuffle: Callable[[Any, Any, Random], tuple[Any, Any]] | None = shuffle_each
    """Another order of what is listed, which changes nothing. None: one value a side."""
    ordered: tuple[Any, Any, Any] | None = None
    """A truth and two orders of one prediction that differ in value: what `guesses` leaves out."""
    swap: Callable[[Any, Any], tuple[Any, Any]] | None = None
    """Symmetric: exchanging the sides so changes nothing. None: not symmetric, or of different shapes."""
    lopsided: tuple[Any, Any] | None = None
    """A pair of like shapes whose exchange does change the value: not symmetric."""
    undefined: tuple[Any, Any] | None = None
    """A truth and a prediction without a value. None: there is always one."""

    def listed(self, truth: Any, guess: Any) -> list[float | None]:
        """The value or values."""
        value = self.score(truth, guess)
        return list(value) if isinstance(value, Sequence) else [value]

    def gain(self, before: float, after: float) -> float:
        """How much better the second value is; below 0 where it is worse."""
        return before - after if self.lower else after - before


# --- other orders ---------------------------------------------------------------------------------------


def shuffle(value: Any, random: Random) -> Any:
    """The same value with its elements or keys in another order."""
    if isinstance(value, Mapping):
        return {key: value[key] for key in shuffle(list(value), random)}
    if isinstance(value, list):
        return random.sample(value, len(value))
    return value


def shuffle_together(comparisons: Any, picks: Any, random: Random) -> tuple[Any, Any]:
    """Comparisons in another order, the picks following them."""
    order = shuffle(list(range(len(comparisons))), random)
    return [comparisons[i] for i in order], {new: picks[old] for new, old in enumerate(order) if old in picks}


def rebuilt(value: Any) -> Any:
    """An equal value that shares nothing with it, every mapping filled in the opposite order."""
    if isinstance(value, Mapping):
        return {key: rebuilt(value[key]) for key in reversed(list(value))}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(rebuilt, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(rebuilt, value))
    return copy.deepcopy(value)


# --- exchanged sides --------------------------------------------------------------------------------------


def plain_swap(truth: Any, guess: Any) -> tuple[Any, Any]:
    return guess, truth


def winners_of(comparisons: Any) -> dict[int, Any]:
    return {i: c.winner for i, c in enumerate(comparisons)}


def swap_picks(comparisons: Any, picks: Any) -> tuple[Any, Any]:
    """The model's picks as winners, the winners as picks."""
    swapped = [c.model_copy(update={"winner": picks[i]}) for i, c in enumerate(comparisons)]
    return swapped, winners_of(comparisons)


# --- corrections --------------------------------------------------------------------------------------------


def whole(right: Any, guess: Any) -> Iterator[Any]:
    """The right answer instead."""
    yield right


def each_key(right: Any, guess: Any) -> Iterator[Any]:
    """One item answered right."""
    for key, value in right.items():
        if value is not None:
            yield {**guess, key: value}


def each_side(right: Any, guess: Any) -> Iterator[Any]:
    """One total known as it is."""
    for side in right._fields:
        yield guess._replace(**{side: getattr(right, side)})


def _folded(item: Any) -> str:
    return str(item.emotion if isinstance(item, Tag) else item).strip().casefold()


def _lacking(items: Any, others: Any) -> list[int]:
    """Places of the items that are not among the others."""
    known = {_folded(other) for other in others}
    return [place for place, item in enumerate(items) if _folded(item) not in known]


def _without(items: Any, place: int) -> list[Any]:
    return [item for here, item in enumerate(items) if here != place]


def named(right: Any, guess: Any) -> Iterator[Any]:
    """One missing item named as well."""
    for place in _lacking(right, guess):
        yield type(guess)([*guess, list(right)[place]])


def dropped(right: Any, guess: Any) -> Iterator[Any]:
    """One wrong item taken back."""
    for place in _lacking(guess, right):
        yield type(guess)(_without(guess, place))


def replaced(right: Any, guess: Any) -> Iterator[Any]:
    """One missing item named in place of a wrong one."""
    for wrong in _lacking(guess, right):
        for missing in _lacking(right, guess):
            yield type(guess)([*_without(guess, wrong), list(right)[missing]])


def intensities(right: Any, guess: Any) -> Iterator[Any]:
    """The intensity of one emotion made right."""
    known = {_folded(tag): tag.intensity for tag in right}
    for place, tag in enumerate(guess):
        want = known.get(_folded(tag))
        if want is not None and tag.intensity != want:
            yield [*guess[:place], replace(tag, intensity=want), *guess[place + 1 :]]


# --- silence ------------------------------------------------------------------------------------------------


def no_answer(right: Any, guess: Any) -> Iterator[Any]:
    """No answer at all."""
    yield None


def emptied(right: Any, guess: Any) -> Iterator[Any]:
    """Nothing listed or said, as the canonical reading takes silence."""
    yield type(guess)()


def keys_away(right: Any, guess: Any) -> Iterator[Any]:
    """One item not answered."""
    for key in guess:
        yield {other: value for other, value in guess.items() if other != key}


def sides_away(right: Any, guess: Any) -> Iterator[Any]:
    """One total not known."""
    for side in guess._fields:
        yield guess._replace(**{side: None})
