"""`DataArguments`: the arguments by which environments, trainers and harnesses select conversations."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache, reduce
from operator import add
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.files.load import Conversations, load
from attune_data.format.codebook import find_official
from attune_data.format.constants import Provenance
from attune_data.selection import select
from attune_data.source.guard import for_training
from attune_data.source.mixture import Mixture, terms
from attune_data.written.corpus import is_written, training_part
from attune_episodes.protocol.settings import Settings

SAMPLE: Final = "sample"
"""The value of `data` for the bundled conversations."""


@dataclass(frozen=True)
class DataArguments:
    """The conversations to use. All values but a `Conversations` object can be written as JSON.

    Arguments are checked here, before anything is read.

    Raises:
        TypeError: `data` has the wrong type.
        SettingsError: a value has the wrong type, or arguments conflict.
    """

    data: str | Path | Conversations = SAMPLE
    """"sample"; "written", or a part of it such as "written:test"; a path or a dataset's name, as for
    `attune_data.load`; a mixture of these, such as "3*written+sample", with three of the first to one of the
    second, which is endless (sources without weights, as in "written+sample", follow one another); or a
    `Conversations` object."""
    number: int | None = None
    """Only the first N."""
    split: str | None = None
    """Split of a dataset that has several."""
    where: str | None = None
    """Conditions on the conversations, in the syntax of `attune_data.selection.select`."""
    provenance: Provenance | None = None
    """Provenance of records without a mark, such as "own"."""

    def __post_init__(self) -> None:
        if not isinstance(self.data, (str, Path, Conversations)):
            raise TypeError(
                f"data is {show(self.data)} ({type(self.data).__name__}); "
                f'expected "{SAMPLE}", "written", a path, the name of a dataset, or Conversations'
            )
        if self.number is not None and (type(self.number) is not int or self.number < 1):
            raise SettingsError(f"number is {show(self.number)}; it must be a whole number, at least 1")
        if not isinstance(self.where, (str, type(None))):
            raise SettingsError(
                f'where is {show(self.where)}; expected a text such as "diagnosis=ADHD,who_5<13"'
            )
        if isinstance(self.data, Conversations):
            self._refuse("data, a Conversations object,", "split", "provenance")
        elif len(self.mixed) > 1:
            self._refuse(f"data={show(self.data)}", "split", "where", "provenance")

    def _refuse(self, who: str, *names: str) -> None:
        for name in names:
            if (value := getattr(self, name)) is not None:
                raise SettingsError(f"{name} is {show(value)}, which {who} does not accept")

    @property
    def mixed(self) -> list[tuple[str, int]]:
        """(source, weight) for the sources that `data` names; empty for an object or a path."""
        if not isinstance(self.data, str) or os.path.exists(self.data):
            return []
        return terms(self.data)

    def choose(
        self, *, training: bool = False, allow_benchmark_training: bool = False
    ) -> Conversations | Mixture:
        """Load the conversations; returns a `Mixture` for endless data.

        Args:
            training: refuse data that is not for training: benchmark records, filler, and the dev and test
                parts of the written corpus (its bare name then means the train part).
            allow_benchmark_training: allow benchmark records anyway.

        Raises DataError if the data cannot be read or nothing is selected; when training,
        BenchmarkTrainingError for benchmark records, and SettingsError for filler or a part of the written
        corpus that is reserved for evaluation.
        """
        check_flag("training", training)
        if len(self.mixed) > 1:
            return self._mixture(training=training, allow_benchmark_training=allow_benchmark_training)
        if isinstance(self.data, Conversations):
            found = self.data
        elif self.data == SAMPLE and self.split is None and self.provenance is None:
            found = _sample()
        elif training and isinstance(self.data, str) and is_written(self.data):
            found = load(training_part(self.data, self.split), provenance=self.provenance)
        else:
            found = load(self.data, split=self.split, provenance=self.provenance)
        if self.where is not None:
            found = select(found, self.where)
        if not found:
            wanted = "at least one conversation to play"
            raise DataError(Problem(found.source, "", "no conversation", wanted, "see load(…)"))
        found = found[: self.number]
        if training:
            for_training(found, allow_benchmark_training=allow_benchmark_training)
        return found

    def _mixture(self, **guard: bool) -> Mixture | Conversations:
        parts: list[tuple[Conversations, int]] = []
        for name, weight in self.mixed:
            part = DataArguments(name).choose(**guard)
            assert isinstance(part, Conversations)  # a name of one source
            parts.append((part, weight))
        if all(weight == 1 for _, weight in parts):
            return reduce(add, [part for part, _ in parts])[: self.number]
        mixture = Mixture(parts)
        return mixture if self.number is None else mixture.take(self.number)

    def finite(self, how: str) -> Conversations:
        """The conversations of data that must be finite; raises SettingsError for endless data.

        Args:
            how: how the caller's users set `number`, for the error message: `-T number=20`.
        """
        found = self.choose()
        if not isinstance(found, Conversations):
            raise SettingsError(f"{found.source} is endless; limit the number of conversations: {how}")
        return found

    def codebook(self, given: str | Path | None = None) -> str | None:
        """Path of the official codebook to use; None for the wording shipped here.

        It is `given` (not read here) or else found next to the data: in the folder of a file, in a folder
        itself, or in one of the two above. The sample, a dataset's name and an object have no neighbouring
        files.
        """
        if given is not None:
            return str(given)
        if not isinstance(self.data, (str, Path)) or self.data == SAMPLE:
            return None
        found = find_official(Path(self.data)) if os.path.exists(self.data) else None
        return None if found is None else str(found)


def asked_by(given: Mapping[str, Any]) -> tuple[DataArguments, Settings]:
    """Split one mapping of JSON values into arguments for the data and settings for the questions.

    Names that belong to neither are ignored. `codebook` is the one given, otherwise the one next to the data.
    """
    names = {one.name for one in fields(DataArguments)}
    chosen = DataArguments(**{name: value for name, value in given.items() if name in names})
    return chosen, Settings.from_json({**given, "codebook": chosen.codebook(given.get("codebook"))})


def check_flag(name: str, value: object, *, optional: bool = False) -> None:
    """Raise SettingsError unless an argument is True or False (or None, if `optional`)."""
    if not (isinstance(value, bool) or (optional and value is None)):
        choices = "True, False or None" if optional else "True or False"
        raise SettingsError(f"{name} is {show(value)}; it must be {choices}")


@lru_cache(maxsize=1)
def _sample() -> Conversations:
    """The bundled sample, shared by all environments of a process: records are frozen, plans are cached."""
    return load(SAMPLE)
