"""Fit readers on sources of conversations, and measure them on others."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from attune_data.errors import SettingsError, one_line
from attune_data.format.schema import Conversation
from attune_data.source.guard import for_training
from attune_env.ladder.features import Encoded, Encoder, Words
from attune_env.ladder.readers import Answers, Linear, Reader, Surface
from attune_env.ladder.tasks import PREFERRED, TASKS, Item, Key, Model, enough, items
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
    """Whether people are in both sources, so that each was read by a reader fitted without them."""
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
        tests: name -> conversations to test on. Where people are in both, readers are fitted without the
            people whom they read, in up to five folds.
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
    labels = {name: items(source) for name, source in {**fits, **tests}.items()}
    samples = {name: Sample(source, labels[name]) for name, source in tests.items()}
    found: list[Rung] = []
    cued: dict[tuple[str, str], Answered] = {}
    for fit, source in fits.items():
        known = {model for model, those in labels[fit].items() if enough(model, those)}
        surface = _Answering(fit, source, SURFACE, Surface, say)
        cued |= {(fit, test): surface.of(test, tested) for test, tested in tests.items()}
        for reader, make in readers.items():
            answering = _Answering(fit, source, reader, make, say)
            for test, tested in tests.items():
                answers = answering.of(test, tested)
                found += samples[test].rungs(fit, reader, test, answers, known, cued[fit, test])
        for test in tests:
            found += samples[test].rungs(fit, SURFACE, test, cued[fit, test], known)
    for test, tested in tests.items():
        if len({one.participant for one in tested}) == 1:
            found += [Rung(WITHIN, SURFACE, test, task, missing="one person") for task in TASKS]
            continue
        within = cued.get((test, test)) or _Answering(test, tested, SURFACE, Surface, say).of(test, tested)
        found += samples[test].rungs(WITHIN, SURFACE, test, within, labels[test])
    return found


class Answered(NamedTuple):
    """The answers of a reader, and whether people are in both sources."""

    answers: Answers
    crossed: bool


class _Answering:
    """A reader fitted on one source: once for all tests without its people."""

    def __init__(self, fit: str, source: Source, reader: str, make: Fit, say: Callable[[str], None]) -> None:
        self._fit, self._source, self._reader, self._make, self._say = fit, source, reader, make, say
        self._whole: Reader | None = None

    def of(self, test: str, tested: Source) -> Answered:
        """The answers about a test source."""
        parts = list(self._folds(test, tested))
        if not parts:
            if self._whole is None:
                self._say(f"fitting {self._reader} on {one_line(self._fit)}")
                self._whole = self._make(self._source)
            return Answered(self._whole.read(tested), crossed=False)
        answers: dict[tuple[Model, Key], bool] = {}
        names = f"{one_line(self._fit)} for {one_line(test)}"
        self._say(f"fitting {self._reader} on {names}: {len(parts)} folds, since people are in both")
        for others, mine in parts:
            answers |= self._make(others).read(mine)
        return Answered(answers, crossed=True)

    def _folds(self, test: str, tested: Source) -> Iterator[tuple[Source, Source]]:
        """(conversations to fit on, those to read), nobody in both; nothing if the sources share nobody."""
        people = {one.participant for one in tested}
        if people.isdisjoint(one.participant for one in self._source):
            return
        fold = folds(people)
        for number in sorted(set(fold.values())):
            others = [one for one in self._source if fold.get(one.participant) != number]
            if not others:
                raise SettingsError(
                    f"{one_line(self._fit)} and {one_line(test)} have one person, who is the same; a reader "
                    "is never tested on people whom it was fitted on: give other people's data"
                )
            yield others, [one for one in tested if fold[one.participant] == number]


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
        known: Container[Model],
        base: Answered | None = None,
    ) -> Iterator[Rung]:
        """The rungs of a reader on every task; `known` holds the models that its source has labels for."""
        for task in TASKS:
            rung = partial(Rung, fit, reader, test, task, crossed=answered.crossed)
            labelled = [model for model in self._labels if model[0] == task]
            tested = [model for model in labelled if enough(model, self._labels[model])]
            models = sorted((one for one in tested if one in known), key=lambda one: (len(one[1]), one[1]))
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
        kinds = 1 if models[0][0] == PREFERRED else 2
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
