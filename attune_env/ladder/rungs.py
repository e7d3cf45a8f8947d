"""Fit readers on sources of conversations, and measure them on others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from attune_data.errors import SettingsError, one_line
from attune_data.format.schema import Conversation
from attune_data.source.guard import for_training
from attune_env.ladder.features import Encoded, Encoder, Words
from attune_env.ladder.readers import Answers, Linear, Reader, Surface
from attune_env.ladder.tasks import (
    PAIRS,
    TASKS,
    Item,
    Key,
    Model,
    enough,
    items,
    labelled_texts,
    without_labels,
)
from attune_episodes.policies.fitted import folds
from attune_rewards.bootstrap import Array, Bootstrap, Interval, percentiles, weighted

SURFACE: Final = "surface"
WITHIN: Final = "other people of the test data"
"""The source named in the rows where `surface` is fitted on the test data itself."""
UNDEFINED: Final = Interval()

Source = Sequence[Conversation]
Fit = Callable[[Source], Reader]


@dataclass(frozen=True, slots=True)
class Rung:
    """How well a reader fitted on one source reads another."""

    fit: str
    """The name of the source that is fitted on."""
    reader: str
    """`words`, `encoder` or `surface`."""
    test: str
    """The name of the source that is tested on."""
    task: str
    """One of `TASKS`."""
    value: Interval = UNDEFINED
    """Balanced accuracy, as a mean over questions; share of right choices between replies. Chance is 0.5."""
    above: Interval = UNDEFINED
    """How far above `surface` fitted on the same source; paired."""
    questions: tuple[str, ...] = ()
    """The yes/no questions that count."""
    crossed: bool = False
    """Whether people or labelled texts are in both sources, so that readers were fitted without them."""
    missing: str = ""
    """Why there is no value."""


def ladder(
    fits: Mapping[str, Source],
    tests: Mapping[str, Source],
    encoder: Encoder | None = None,
    say: Callable[[str], None] = lambda told: None,
) -> list[Rung]:
    """Fit every reader on every source, and test it on every other.

    Args:
        fits: name -> conversations to fit on. The training guard applies: benchmark records, for example, are
            refused.
        tests: name -> conversations to test on. Where people or labelled texts are in both, readers are
            fitted without the people and the labels of the texts that they read, in up to five folds.
        encoder: also fit linear models on the vectors of this encoder.
        say: is told what is being fitted.

    Returns:
        One rung per fitted source, reader, test source and task, in this order; then those of `surface`
        fitted on other people of the test source.

    Raises what `attune_data.source.guard.for_training` raises, and SettingsError if nobody is left to fit on.
    """
    for source in fits.values():
        for_training(source)
    words = Words()
    readers: dict[str, Fit] = {"words": partial(Linear, words)}
    if encoder is not None:
        readers["encoder"] = partial(Linear, Encoded(encoder))
    samples = {name: Sample(source, items(source)) for name, source in tests.items()}
    found: list[Rung] = []
    cued: dict[tuple[str, str], Answered] = {}
    for fit, source in fits.items():
        plans = {test: _plan(fit, source, test, tested) for test, tested in tests.items()}
        surface = _Answering(fit, SURFACE, Surface, say)
        cued |= {(fit, test): surface.of(test, plan) for test, plan in plans.items()}
        for reader, make in readers.items():
            answering = _Answering(fit, reader, make, say)
            for test, plan in plans.items():
                answers = answering.of(test, plan)
                found += samples[test].rungs(fit, reader, test, answers, cued[fit, test])
        for test in tests:
            found += samples[test].rungs(fit, SURFACE, test, cued[fit, test])
    for test, tested in tests.items():
        if len({one.participant for one in tested}) == 1:
            found += [Rung(WITHIN, SURFACE, test, task, missing="one person") for task in TASKS]
            continue
        within = cued.get((test, test))
        if within is None:
            plan = _plan(test, tested, test, tested)
            within = _Answering(test, SURFACE, Surface, say).of(test, plan)
        found += samples[test].rungs(WITHIN, SURFACE, test, within)
    return found


class Answered(NamedTuple):
    """The answers of a reader."""

    answers: Answers
    known: Set[Model]
    """The models that there were enough labels to fit."""
    crossed: bool
    """Whether it was fitted fold by fold."""


class _Plan(NamedTuple):
    """Which conversations a reader is fitted on, and which it reads."""

    parts: Sequence[tuple[Source, Source]]
    """(conversations to fit on, conversations to read): one pair, or one per fold."""
    known: Set[Model]
    """The models that there are enough labels to fit, at least in one fold."""
    crossed: bool
    """Whether people or labelled texts are in both sources, so that there are folds."""


def _plan(fit: str, source: Source, test: str, tested: Source) -> _Plan:
    """Folds in which nobody who is read, and no label of a text that is read, is fitted on."""
    held, read = ([labelled_texts(one) for one in those] for those in (source, tested))
    people, texts = {one.participant for one in tested}, _texts(read)
    if people.isdisjoint(one.participant for one in source) and texts.isdisjoint(_texts(held)):
        return _Plan([(source, tested)], _known(source), crossed=False)
    fold, parts = folds(people), []
    for number in sorted(set(fold.values())):
        mine = [index for index, one in enumerate(tested) if fold[one.participant] == number]
        texts = _texts(read[index] for index in mine)
        others = [
            _without(texts, one, there)
            for one, there in zip(source, held, strict=True)
            if fold.get(one.participant) != number
        ]
        if not others:
            raise SettingsError(
                f"{one_line(fit)} and {one_line(test)} both have only one person, the same; a reader is "
                "never tested on people whom it was fitted on: give other people's data"
            )
        parts.append((others, [tested[index] for index in mine]))
    return _Plan(parts, {model for others, _ in parts for model in _known(others)}, crossed=True)


def _texts(held: Iterable[Mapping[int, Set[str]]]) -> set[str]:
    return {text for turns in held for texts in turns.values() for text in texts}


def _without(texts: Set[str], one: Conversation, held: Mapping[int, Set[str]]) -> Conversation:
    """The conversation without the labels of turns that have one of these texts."""
    turns = {turn for turn, its in held.items() if not texts.isdisjoint(its)}
    return without_labels(one, turns) if turns else one


def _known(source: Source) -> set[Model]:
    return {model for model, those in items(source).items() if enough(model, those)}


class _Answering:
    """A reader fitted on one source: once for all tests without folds."""

    def __init__(self, fit: str, reader: str, make: Fit, say: Callable[[str], None]) -> None:
        self._fit, self._reader, self._make, self._say = one_line(fit), reader, make, say
        self._whole: Reader | None = None

    def of(self, test: str, plan: _Plan) -> Answered:
        """The answers about a test source."""
        if not plan.crossed:
            ((source, tested),) = plan.parts
            if self._whole is None:
                self._say(f"fitting {self._reader} on {self._fit}")
                self._whole = self._make(source)
            return Answered(self._whole.read(tested), plan.known, crossed=False)
        answers: dict[tuple[Model, Key], bool] = {}
        told = f"{len(plan.parts)} folds, since people or texts are in both"
        self._say(f"fitting {self._reader} on {self._fit} for {one_line(test)}: {told}")
        for others, mine in plan.parts:
            answers |= self._make(others).read(mine)
        return Answered(answers, plan.known, crossed=True)


class Sample:
    """A test source, whose participants are resampled."""

    def __init__(self, conversations: Source, labels: Mapping[Model, Sequence[Item]]) -> None:
        self._labels = labels
        self._row = {one.conversation_id: i for i, one in enumerate(conversations)}
        self._bootstrap = Bootstrap(len(conversations), [one.participant for one in conversations])

    def rungs(
        self,
        fit: str,
        reader: str,
        test: str,
        answered: Answered,
        base: Answered | None = None,
    ) -> Iterator[Rung]:
        """The rungs of a reader on every task; `base` are the answers of `surface`."""
        for task in TASKS:
            rung = partial(Rung, fit, reader, test, task, crossed=answered.crossed)
            labelled = [model for model in self._labels if model[0] == task]
            tested = [model for model in labelled if enough(model, self._labels[model])]
            fitted = (one for one in tested if one in answered.known)
            models = sorted(fitted, key=lambda one: (len(one[1]), one[1]))
            if not models:
                lacking = "no labels" if not labelled else "few labels" if not tested else "nothing to fit"
                yield rung(missing=lacking)
                continue
            values = self._drawn(models, answered.answers)
            above = values - self._drawn(models, base.answers) if base else np.full(1, np.nan)
            yield rung(
                self._interval(models, values),
                self._interval(models, above) if base else UNDEFINED,
                tuple(question for _, question in models if question),
            )

    def _drawn(self, models: Sequence[Model], answers: Answers) -> Array:
        """The mean over models of balanced accuracy: of everybody first, then of each resample.

        A label without an answer is half right. NaN if a resample lacks a kind of label of every model.
        """
        kinds = 1 if models[0][0] in PAIRS else 2
        cells = np.zeros((len(self._row), len(models), kinds, 2))
        for column, model in enumerate(models):
            for item in self._labels[model]:
                said = answers.get((model, item.key))
                cell = cells[self._row[item.key.conversation], column, int(item.yes) if kinds == 2 else 0]
                cell += (0.5 if said is None else float(said is item.yes), 1)
        sums = self._bootstrap.unit_sums(cells.reshape(len(cells), -1))
        drawn = np.hstack([sums.sum(0)[:, None], weighted(self._bootstrap.drawn, sums)])
        drawn = drawn.reshape(len(models), kinds, 2, -1)
        with np.errstate(invalid="ignore"):
            each = (drawn[:, :, 0] / drawn[:, :, 1]).mean(axis=1)
        defined = ~np.isnan(each)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(defined, each, 0.0).sum(0) / defined.sum(0))

    def _interval(self, models: Sequence[Model], values: Array) -> Interval:
        low, high = percentiles(values[None, 1:])[:, 0]
        held = [self._row[item.key.conversation] for model in models for item in self._labels[model]]
        units = len(set(self._bootstrap.cluster_of_row[held].tolist()))
        return Interval(float(values[0]), float(low), float(high), len(held), units)
