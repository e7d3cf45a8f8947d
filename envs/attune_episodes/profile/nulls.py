"""Guesses that read no text: nothing, chance, and the best constant of other participants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, combinations
from typing import Final

from attune_data.schema import Conversation
from attune_data.seeding import digest
from attune_episodes.policies.base import participants
from attune_episodes.profile.fields import Choice, Form, Number, Outside, Several, Value

NULLS: Final = ("prior", "random", "empty")
Guess = Callable[[Conversation], Mapping[str, Value]]
"""From a conversation to guesses; no text of it is read."""


def null(name: str, conversations: Sequence[Conversation], form: Form, *, seed: int = 0) -> Guess:
    """Make a baseline by its name.

    Args:
        name: `prior`: the best constants of the other participants among `conversations` (leave one
            participant out). `random`: an option, a number, each diagnosis with probability 1/2; no country,
            of which there is no list. `empty`: nothing.
        conversations: what `prior` is fitted on, the person's own left out.
        form: the fields.
        seed: of `random`, hashed with the conversation's id and the field.
    """
    if name == "prior":
        everybody = _counted(form, conversations)
        without = {
            person: _best(form, {name: counts - own[name] for name, counts in everybody.items()})
            for person, held in participants(conversations).items()
            for own in [_counted(form, held)]
        }
        return lambda about: without[about.participant]
    if name == "random":
        return lambda about: _drawn(form, seed, about.conversation_id)
    if name == "empty":
        return lambda about: {}
    raise ValueError(f"no baseline named {name!r}")


def best_constants(form: Form, conversations: Iterable[Conversation]) -> dict[str, Value]:
    """Field -> the one guess that does best on what these participants stated; nothing where nobody did.

    A choice: the most frequent value (highest accuracy). Diagnoses: of no diagnosis, single ones, pairs and
    all sets that occur the one with the highest mean F1. A score: the median, the lower of two, which has
    the smallest mean absolute error. Ties: the first option, the smaller set, then by name.
    """
    return _best(form, _counted(form, conversations))


def set_f1(truth: frozenset[str], guess: frozenset[str]) -> float:
    """Dice overlap of two sets, in [0, 1]; 1 where both are empty."""
    return 2 * len(truth & guess) / (len(truth) + len(guess)) if truth or guess else 1.0


def _counted(form: Form, conversations: Iterable[Conversation]) -> dict[str, Counter[Value]]:
    """Field -> how many conversations state each value."""
    counts: dict[str, Counter[Value]] = {field.name: Counter() for field in form.fields}
    for about in conversations:
        for name, value in form.stated(about).items():
            if value is not None and not isinstance(value, Outside):
                counts[name][value] += 1
    return counts


def _best(form: Form, counted: Mapping[str, Counter[Value]]) -> dict[str, Value]:
    best: dict[str, Value] = {}
    for field in form.fields:
        counts = counted[field.name]
        if not counts:
            continue
        if isinstance(field, Choice):
            order = {option: place for place, option in enumerate(field.options)}
            best[field.name] = min(counts, key=lambda v: (-counts[v], order.get(str(v), 0), str(v)))
        elif isinstance(field, Several):
            best[field.name] = _best_set(
                field, {names: number for names, number in counts.items() if isinstance(names, frozenset)}
            )
        else:
            best[field.name] = _median(
                {value: number for value, number in counts.items() if isinstance(value, float)}
            )
    return best


def _best_set(field: Several, counts: Mapping[frozenset[str], int]) -> frozenset[str]:
    small = [frozenset(pick) for size in range(3) for pick in combinations(field.options, size)]
    candidates = sorted({*small, *counts}, key=_order)
    truths = sorted(counts, key=_order)  # sums of floats are then the same on every machine
    return max(candidates, key=lambda guess: sum(counts[one] * set_f1(one, guess) for one in truths))


def _order(names: frozenset[str]) -> tuple[int, list[str]]:
    return len(names), sorted(names)


def _median(counts: Mapping[float, int]) -> float:
    """The lower median."""
    values = sorted(counts)
    below = accumulate(counts[value] for value in values)
    half = (sum(counts.values()) + 1) // 2
    return next(value for value, reached in zip(values, below, strict=True) if reached >= half)


def _drawn(form: Form, seed: int, conversation_id: str) -> dict[str, Value]:
    def number(*place: object, below: int) -> int:
        drawn = digest("profile", seed, conversation_id, *place)
        return int.from_bytes(drawn[:8], "big") * below >> 64

    guesses: dict[str, Value] = {}
    for field in form.fields:
        if isinstance(field, Number):
            steps = int(field.scale.high - field.scale.low) + 1
            guesses[field.name] = field.scale.low + float(number(field.name, below=steps))
        elif isinstance(field, Several):
            guesses[field.name] = frozenset(
                option for option in field.options if number(field.name, option, below=2)
            )
        elif field.options:
            guesses[field.name] = field.options[number(field.name, below=len(field.options))]
    return guesses
