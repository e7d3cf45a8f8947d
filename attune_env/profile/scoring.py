"""`score_guesses`: guesses against the participants' own statements, beside constants that read nothing.

Silence is the worst answer: a wrong class, F1 0, for a number the end of its range farther from the truth.
What nobody stated, or could not be guessed (no option, out of range), is not scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from attune_data import Conversations
from attune_data.errors import DataError, Problem, one_line
from attune_env.profile.files import Guessed
from attune_env.statistics.bootstrap import RESAMPLES, Bootstrap, Interval
from attune_episodes.profile import Outside, Value, best_constants, null, set_f1
from attune_episodes.profile.fields import Choice, Field, Number, Several

ERROR: Final = "mae"
"""The one measure of which less is better."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The score of one field. Differences are signed so that more is better, also of errors."""

    field: str
    measure: str
    value: Interval
    prior: Interval
    """Of the best constants of the other participants."""
    constant: Interval
    """Of the best constants of the scored conversations themselves: no constant does better on them."""
    over_prior: Interval
    over_constant: Interval
    people: int
    """Participants behind the scored conversations."""

    @property
    def gain(self) -> Interval:
        """The smaller of the two differences: a leave-one-out constant can fall below every constant."""
        return min(self.over_prior, self.over_constant, key=lambda one: one.mean or 0.0)


@dataclass(frozen=True, slots=True)
class FieldCount:
    """How many conversations of a field were scored, and why others were not."""

    field: str
    scored: int
    unanswered: int
    """Of the scored ones: nothing valid was guessed."""
    unstated: int
    outside: tuple[str, ...]
    """Stated values that could not be guessed, each once."""
    n_outside: int


@dataclass(frozen=True)
class ModelScores:
    """The scores of one model's guesses."""

    em_model: str
    conversations: int
    people: int
    compared: tuple[Compared, ...]
    counts: tuple[FieldCount, ...]


def score_guesses(
    guessed: Sequence[Guessed], conversations: Conversations, *, resamples: int = RESAMPLES, seed: int = 0
) -> list[ModelScores]:
    """Scores per model, models by name.

    Args:
        guessed: files of guesses, those of a model all with one form.
        conversations: the participants' statements; the prior is fitted on all of these.
        resamples: of the bootstrap over participants.
        seed: of the bootstrap.

    Raises DataError where the files of a model were made with different options.
    """
    by_model: dict[str, dict[str, Guessed]] = {}
    for one in guessed:
        if one.conversation_id in conversations.by_id:
            by_model.setdefault(one.em_model, {})[one.conversation_id] = one
    for same in by_model.values():
        first, *others = same.values()
        if odd := next((one for one in others if one.form != first.form), None):
            raise DataError(
                Problem(str(odd.path), "attune.asked.options", "other options",
                        f"those of {first.path.name}, by the same model", "score them apart")
            )  # fmt: skip
    return [_score(name, by_model[name], conversations, resamples, seed) for name in sorted(by_model)]


def _score(
    em_model: str, guessed: Mapping[str, Guessed], conversations: Conversations, resamples: int, seed: int
) -> ModelScores:
    form = next(iter(guessed.values())).form
    rows = [about for about in conversations if about.conversation_id in guessed]
    owners = [about.participant for about in rows]
    kernel = Bootstrap(len(rows), owners, resamples=resamples, seed=seed)
    prior, constant = null("prior", conversations, form), best_constants(form, rows)
    stated = [form.stated(about) for about in rows]
    sides = ([guessed[about.conversation_id].guesses for about in rows], [prior(about) for about in rows],
             [constant] * len(rows))  # fmt: skip
    compared, counts = [], []
    for field in form.fields:
        truths = [one[field.name] for one in stated]
        scored = [truth is not None and not isinstance(truth, Outside) for truth in truths]
        beyond = [one_line(str(truth.value), 60) for truth in truths if isinstance(truth, Outside)]
        silent = sum(known and field.name not in one for known, one in zip(scored, sides[0], strict=True))
        unstated = sum(truth is None for truth in truths)
        counts.append(
            FieldCount(field.name, sum(scored), silent, unstated, tuple(sorted(set(beyond))), len(beyond))
        )
        if not any(scored):
            continue
        values = [
            [_points(field, truth, one.get(field.name)) for truth, one in zip(truths, side, strict=True)]
            for side in sides
        ]
        own, by_prior, by_constant = np.array(values)
        measure = _measure(field)
        sign = -1.0 if measure == ERROR else 1.0
        table = [own, by_prior, by_constant, sign * (own - by_prior), sign * (own - by_constant)]
        people = len({owner for owner, known in zip(owners, scored, strict=True) if known})
        # no -0.000 in tables
        value, past, best, over_prior, over_constant = kernel.intervals(np.stack(table).T + 0.0)
        compared.append(Compared(field.name, measure, value, past, best, over_prior, over_constant, people))
    return ModelScores(em_model, len(rows), len(set(owners)), tuple(compared), tuple(counts))


def _measure(field: Field) -> str:
    return {Choice: "accuracy", Several: "set F1", Number: ERROR}[type(field)]


def _points(field: Field, truth: Value | Outside | None, guess: Value | None) -> float:
    """The score of one guess; NaN where there is nothing to score."""
    if truth is None or isinstance(truth, Outside):
        return float("nan")
    if isinstance(truth, frozenset):
        return set_f1(truth, guess) if isinstance(guess, frozenset) else 0.0
    if isinstance(truth, str):
        return float(guess == truth)
    assert isinstance(field, Number)
    return abs(truth - (guess if isinstance(guess, float) else field.farthest(truth)))
