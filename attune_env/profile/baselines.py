"""Baseline guesses that read no text: none, random ones, and the best constants of other participants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from attune_data.errors import UnknownNameError
from attune_data.format.schema import Conversation
from attune_data.seeding import digest
from attune_env.profile.form import Form
from attune_env.profile.kinds import Outside, Value
from attune_episodes.policies.base import participants

BASELINES: Final = ("prior", "random", "empty")
Guess = Callable[[Conversation], Mapping[str, Value]]
"""Makes guesses about a conversation without reading its text."""


def baseline(name: str, conversations: Sequence[Conversation], form: Form, *, seed: int = 0) -> Guess:
    """Make a baseline by its name; raises UnknownNameError for another.

    Args:
        name: `prior` guesses the best constants of the other participants in `conversations` (leave one
            participant out). `random` guesses an option, a number, and each diagnosis with probability 1/2,
            but no country, since there is no list of countries. `empty` guesses nothing.
        conversations: the conversations on which `prior` is fitted, without the person's own.
        form: the fields.
        seed: the seed of `random`, hashed with the conversation's id and the field.
    """
    if name not in BASELINES:
        raise UnknownNameError("baseline", name, BASELINES)
    if name == "prior":
        everybody = _counted(form, conversations)
        without = {
            person: _best(form, {name: counts - own[name] for name, counts in everybody.items()})
            for person, held in participants(conversations).items()
            for own in [_counted(form, held)]
        }
        return lambda about: without[about.participant]
    if name == "random":
        return partial(_random, form, seed)
    return lambda about: {}


def best_constants(form: Form, conversations: Iterable[Conversation]) -> dict[str, Value]:
    """Field -> the best constant guess for these participants; fields that nobody stated are left out."""
    return _best(form, _counted(form, conversations))


def _counted(form: Form, conversations: Iterable[Conversation]) -> dict[str, Counter[Any]]:
    """Field -> the number of conversations that state each value."""
    counts: dict[str, Counter[Any]] = {field.name: Counter() for field in form.fields}
    for about in conversations:
        for name, value in form.stated(about).items():
            if value is not None and not isinstance(value, Outside):
                counts[name][value] += 1
    return counts


def _best(form: Form, counted: Mapping[str, Counter[Any]]) -> dict[str, Value]:
    return {field.name: field.best(counts) for field in form.fields if (counts := counted[field.name])}


def _random(form: Form, seed: int, about: Conversation) -> dict[str, Value]:
    def draw(field: str, below: int, *option: str) -> int:
        drawn = digest("profile", seed, about.conversation_id, field, *option)
        return int.from_bytes(drawn[:8], "big") * below >> 64

    guesses = {field.name: field.random(partial(draw, field.name)) for field in form.fields}
    return {name: value for name, value in guesses.items() if value is not None}
