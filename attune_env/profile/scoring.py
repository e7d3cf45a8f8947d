"""`score_guesses`: score guesses against the participants' own statements, and compare them with constants.

A missing guess counts as the worst answer: a wrong class, an F1 of 0, or the end of a number's range farther
from the truth. Values that were not stated or could not be guessed (not an option, out of range) are not
scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attune_data import Conversations
from attune_data.errors import DataError, Problem, one_line
from attune_env.profile.baselines import baseline, best_constants
from attune_env.profile.files import Guessed
from attune_env.profile.kinds import Field, Number, Outside, Value
from attune_rewards.bootstrap import Bootstrap, Interval


@dataclass(frozen=True, slots=True)
class FieldScore:
    """The score of one field, and the number of conversations."""

    field: str
    measure: str
    scored: int
    """Conversations."""
    people: int
    """Participants behind them."""
    unanswered: int
    """Scored conversations without a valid guess."""
    unstated: int
    outside: tuple[str, ...]
    """Stated values that could not be guessed, one per conversation."""
    intervals: Mapping[str, Interval]
    """`value`, the model's score; `prior`, that of the best constants of the other participants; `constant`,
    that of the best constants of the scored conversations, which no constant can beat; `gain_over_prior` and
    `gain_over_constant`, signed so that more is better even for errors; `gain`, the smaller of the two, since
    a leave-one-out constant can be worse than every constant. {} if nothing is scored."""


@dataclass(frozen=True)
class ModelScores:
    """The scores of one model's guesses."""

    em_model: str
    conversations: int
    people: int
    fields: tuple[FieldScore, ...]


def score_guesses(guessed: Sequence[Guessed], conversations: Conversations) -> list[ModelScores]:
    """Scores per model, models by name, with intervals by resampling participants.

    The prior is fitted on all `conversations`. Raises DataError if the files of a model were made with
    different options.
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
                        f"those of {first.path.name}, by the same model", "score them separately")
            )  # fmt: skip
    return [_score(name, by_model[name], conversations) for name in sorted(by_model)]


def _score(em_model: str, guessed: Mapping[str, Guessed], conversations: Conversations) -> ModelScores:
    form = next(iter(guessed.values())).form
    rows = [about for about in conversations if about.conversation_id in guessed]
    owners = [about.participant for about in rows]
    kernel = Bootstrap(len(rows), owners)
    stated = [form.stated(about) for about in rows]
    prior, constant = baseline("prior", conversations, form), best_constants(form, rows)
    sides: list[list[Mapping[str, Value]]] = [
        [guessed[about.conversation_id].guesses for about in rows],
        [prior(about) for about in rows],
        [constant] * len(rows),
    ]

    def of(field: Field) -> FieldScore:
        truths = [one[field.name] for one in stated]
        told = [
            (i, truth)
            for i, truth in enumerate(truths)
            if truth is not None and not isinstance(truth, Outside)
        ]
        points = np.full((len(sides), len(rows)), np.nan)
        for place, side in enumerate(sides):
            for i, truth in told:
                points[place, i] = field.score(truth, side[i].get(field.name))
        return FieldScore(
            field=field.name,
            measure=field.measure,
            scored=len(told),
            people=len({owners[i] for i, _ in told}),
            unanswered=sum(field.name not in sides[0][i] for i, _ in told),
            unstated=truths.count(None),
            outside=tuple(one_line(str(truth.value), 60) for truth in truths if isinstance(truth, Outside)),
            intervals=_intervals(kernel, points, -1 if isinstance(field, Number) else 1) if told else {},
        )

    return ModelScores(em_model, len(rows), len(set(owners)), tuple(map(of, form.fields)))


def _intervals(kernel: Bootstrap, points: npt.NDArray[np.float64], sign: int) -> dict[str, Interval]:
    """The intervals of one field; `points` has shape (model, prior, constant; conversations)."""
    columns = np.vstack([points, sign * (points[0] - points[1:])]).T + 0.0  # no -0.000 in tables
    value, prior, constant, over_prior, over_constant = kernel.intervals(columns)
    return {
        "value": value,
        "prior": prior,
        "constant": constant,
        "gain_over_prior": over_prior,
        "gain_over_constant": over_constant,
        "gain": min(over_prior, over_constant, key=lambda one: one.mean or 0.0),
    }
