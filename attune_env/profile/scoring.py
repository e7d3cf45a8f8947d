"""`score_guesses`: guesses against what people stated, beside constants that read nothing.

Silence is the worst answer: a wrong class, F1 0, for a score the end of its range farther from the truth.
What nobody stated, or what could not be guessed (no option, out of range), is not scored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from attune_data import Conversations
from attune_data.errors import DataError, Problem, one_line
from attune_env.profile.files import Guessed
from attune_env.profile.measures import Measure, balanced_accuracy, mean, share, spearman
from attune_env.statistics.bootstrap import CHUNK, RESAMPLES, Bootstrap, Interval, percentiles
from attune_episodes.profile import Outside, Value, best_constants, null, set_f1
from attune_episodes.profile.fields import Choice, Number, Several

ANY: Final = "any diagnosis"
LOWER_IS_BETTER: Final = frozenset({"mae"})
TRADED: Final = ("precision", "recall")
"""Ends of names of measures without a gain: saying yes to all, or to none, lifts one and ruins the other."""
Guesses = Sequence[Value | None]


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure of one field. Differences are signed so that more is better, also of errors."""

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
        known = [one for one in (self.over_prior, self.over_constant) if one.mean is not None]
        return min(known, key=lambda one: one.mean or 0.0) if known else self.over_constant


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
    guessed: Sequence[Guessed],
    conversations: Conversations,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[ModelScores]:
    """Scores per model, models by name.

    Args:
        guessed: files of guesses, those of a model all with one form.
        conversations: what the participants stated; the prior is fitted on all of these.
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
    em_model: str,
    guessed: Mapping[str, Guessed],
    conversations: Conversations,
    resamples: int,
    seed: int,
) -> ModelScores:
    form = next(iter(guessed.values())).form
    rows = [about for about in conversations if about.conversation_id in guessed]
    kernel = Bootstrap(len(rows), [about.participant for about in rows], resamples=resamples, seed=seed)
    prior = null("prior", conversations, form)
    constant = best_constants(form, rows)
    stated = [form.stated(about) for about in rows]
    answered = [guessed[about.conversation_id].guesses for about in rows]
    by_prior = [prior(about) for about in rows]
    compared: list[Compared] = []
    counts = []
    for field in form.fields:
        truths = [one[field.name] for one in stated]
        known = [n for n, truth in enumerate(truths) if truth is not None and not isinstance(truth, Outside)]
        guesses = [one.get(field.name) for one in answered]
        beyond = [one_line(str(truth.value), 60) for truth in truths if isinstance(truth, Outside)]
        counts.append(
            FieldCount(
                field.name, len(known), sum(guesses[n] is None for n in known),
                sum(truth is None for truth in truths), tuple(sorted(set(beyond))), len(beyond),
            )
        )  # fmt: skip
        if not known:
            continue
        truth = [_value(truths[n]) for n in known]
        sides = [
            [side[n] for n in known]
            for side in (guesses, [one.get(field.name) for one in by_prior],
                         [constant.get(field.name)] * len(rows))
        ]  # fmt: skip
        measured = [dict(_measures(field, truth, side)) for side in sides]
        if isinstance(field, Number):
            # constants that differ by whom they leave out move against the truth: no ranking, an artefact
            measured[1]["spearman"] = measured[2]["spearman"]
        people = len({rows[n].participant for n in known})
        for name in measured[0]:
            three = [side[name] for side in measured]
            compared.append(_compared(field.name, name, three, known, kernel, people))
    return ModelScores(
        em_model, len(rows), len({about.participant for about in rows}), tuple(compared), tuple(counts)
    )


def _value(truth: Value | Outside | None) -> Value:
    assert truth is not None
    assert not isinstance(truth, Outside)
    return truth


def _measures(
    field: Choice | Several | Number, truth: Sequence[Value], guesses: Guesses
) -> Iterator[tuple[str, Measure]]:
    """Name -> measure over the scored rows."""
    if isinstance(field, Choice):
        hits = [one == guess for one, guess in zip(truth, guesses, strict=True)]
        yield "accuracy", mean(hits)
        yield "balanced accuracy", balanced_accuracy(truth, hits)
    elif isinstance(field, Several):
        yield from _of_sets(field, [_set(one) for one in truth], guesses)
    else:
        yield from _of_numbers(field, [_number(one) for one in truth], guesses)


def _of_sets(
    field: Several, truth: Sequence[frozenset[str]], guesses: Guesses
) -> Iterator[tuple[str, Measure]]:
    pairs = list(zip(truth, guesses, strict=True))
    yield "set F1", mean([0.0 if guess is None else set_f1(one, _set(guess)) for one, guess in pairs])
    for name in (*field.options, ANY):
        has = [bool(one) if name == ANY else name in one for one, _ in pairs]
        said = [
            not there if guess is None else bool(guess) if name == ANY else name in _set(guess)
            for there, (_, guess) in zip(has, pairs, strict=True)
        ]
        hits = [there == here for there, here in zip(has, said, strict=True)]
        yield f"{name}: precision", share(said, hits)
        yield f"{name}: recall", share(has, hits)
        yield f"{name}: balanced accuracy", balanced_accuracy(has, hits)


def _of_numbers(field: Number, truth: Sequence[float], guesses: Guesses) -> Iterator[tuple[str, Measure]]:
    said = [
        field.farthest(one) if guess is None else _number(guess)
        for one, guess in zip(truth, guesses, strict=True)
    ]
    yield "mae", mean([abs(one - guess) for one, guess in zip(truth, said, strict=True)])
    yield "spearman", spearman(truth, said)
    if field.scale.cut is not None:
        has = [field.scale.positive(one) for one in truth]
        hits = [
            guess is not None and field.scale.positive(_number(guess)) == there
            for there, guess in zip(has, guesses, strict=True)
        ]
        yield "screen: balanced accuracy", balanced_accuracy(has, hits)


def _set(value: Value) -> frozenset[str]:
    assert isinstance(value, frozenset)
    return value


def _number(value: Value) -> float:
    assert isinstance(value, float)
    return value


def _compared(
    field: str, name: str, three: Sequence[Measure], known: Sequence[int], kernel: Bootstrap, people: int
) -> Compared:
    """The three values and the two differences, each with its interval over the same resamples."""
    sign = -1.0 if name in LOWER_IS_BETTER else math.nan if name.endswith(TRADED) else 1.0
    here = np.array([measure(np.ones((1, len(known))))[0] for measure in three])
    owner = kernel.cluster_of_row[list(known)]
    parts = [
        np.stack([measure(weights) for measure in three])
        for start in range(0, len(kernel.drawn), CHUNK)
        for weights in [kernel.drawn[start : start + CHUNK][:, owner].astype(np.float64)]
    ]
    drawn = np.concatenate(parts, axis=1)
    values = np.array([*here, sign * (here[0] - here[1]), sign * (here[0] - here[2])])
    values += 0.0  # no -0.000 in tables
    draws = np.stack([*drawn, sign * (drawn[0] - drawn[1]), sign * (drawn[0] - drawn[2])])
    low, high = percentiles(draws) + 0.0
    value, prior, constant, over_prior, over_constant = (
        _interval(point, bottom, top, len(known), people)
        for point, bottom, top in zip(values, low, high, strict=True)
    )
    return Compared(field, name, value, prior, constant, over_prior, over_constant, people)


def _interval(value: float, low: float, high: float, n: int, people: int) -> Interval:
    if np.isnan(value) or np.isnan(low):
        return Interval(None, None, None, n, people)
    return Interval(float(value), float(low), float(high), n, people)
