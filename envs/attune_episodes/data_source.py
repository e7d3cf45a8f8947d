"""What every environment's and trainer's data arguments mean (`choose_data`), and in whose wording to ask.

All of them can be written as JSON (a `Conversations` object aside), so that configurations, flags and
environment specs can name them.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

from attune_data.codebook import find_official
from attune_data.constants import Provenance
from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.guard import for_training
from attune_data.loading import Conversations, load
from attune_data.selection import select
from attune_data.simulate.levels import Level, level_of
from attune_data.simulate.stream import Simulation

SAMPLE: Final = "sample"
"""The `data` that names the bundled conversations."""
SIMULATED: Final = "simulated"
"""The `data` that names a world of simulated conversations."""


def choose_data(
    data: str | Path | Conversations = "sample",
    *,
    level: str | Level = "default",
    world_seed: int = 0,
    number: int | None = None,
    split: str | None = None,
    where: str | None = None,
    provenance: Provenance | None = None,
    training: bool = False,
) -> Conversations | Simulation:
    """The conversations that the arguments name; a `Simulation` where they name a world without end.

    Args:
        data: "sample"; a path or a dataset's name, as `attune_data.load` takes it; "simulated", a world
            without end whose conversations are made when they are read; or a `Conversations` object.
        level: of a simulated world: a name of `attune_data.simulate.LEVELS`, or a Level.
        world_seed: of a simulated world.
        number: only the first so many; of a simulated world these are made at once and kept.
        split: of a dataset that has several.
        where: conditions on the conversations, as `attune_data.selection.select` reads them.
        provenance: the mark of records that carry none, such as "own".
        training: refuse benchmark records, which are for evaluation only.

    Raises:
        SettingsError: arguments that do not go together.
        UnknownNameError: a level that is not there.
        DataError: the data cannot be read, or holds nothing.
        BenchmarkTrainingError: `training` and a benchmark record.
    """
    check_flag("training", training)
    check_source(
        data,
        level=level,
        world_seed=world_seed,
        number=number,
        split=split,
        where=where,
        provenance=provenance,
    )
    if isinstance(data, str) and data == SIMULATED:
        return (
            Simulation(world_seed, level=level) if number is None else _simulated(world_seed, level, number)
        )
    chosen = _chosen(data, split, where, provenance)[:number]
    if training:
        for_training(chosen)
    return chosen


def codebook_for(data: object, given: str | Path | None = None) -> str | None:
    """Path of the official codebook to ask with: the one given, else the one beside the data.

    Args:
        data: as `choose_data` takes it. Beside a file or folder is in its folder or one of the two above;
            there is no place beside the bundled sample, simulated people, a dataset's name or an object.
        given: the path that was asked for; it is not looked at.

    Returns None where neither is there: the questions are then asked in our own wording.
    """
    if given is not None:
        return str(given)
    if not isinstance(data, (str, Path)) or data in (SAMPLE, SIMULATED) or not Path(data).exists():
        return None
    found = find_official(Path(data))
    return None if found is None else str(found)


def check_source(
    data: object,
    *,
    level: str | Level = "default",
    world_seed: int = 0,
    number: int | None = None,
    split: str | None = None,
    where: str | None = None,
    provenance: Provenance | None = None,
) -> None:
    """Raises what `choose_data` raises for these arguments before it reads or makes anything."""
    if number is not None and (type(number) is not int or number < 1):
        raise SettingsError(f"number is {show(number)}; it must be a whole number, at least 1")
    if not isinstance(where, (str, type(None))):
        raise SettingsError(f'where is {show(where)}; expected a text such as "diagnosis=ADHD,who_5<13"')
    if isinstance(data, str) and data == SIMULATED:
        _refuse(data, split=split, where=where, provenance=provenance)
        level_of(level)
        if type(world_seed) is not int:
            raise SettingsError(f"world_seed is {show(world_seed)}; it must be a whole number")
    elif level != "default" or world_seed != 0:
        raise SettingsError(f'level and world_seed describe data="{SIMULATED}"; data is {show(data)}')


def check_flag(name: str, value: object, *, optional: bool = False) -> None:
    """Raises SettingsError where an argument that is True or False (or None, if `optional`) is neither."""
    if not (isinstance(value, bool) or (optional and value is None)):
        choices = "True, False or None" if optional else "True or False"
        raise SettingsError(f"{name} is {show(value)}; it must be {choices}")


def _refuse(data: str, **given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise SettingsError(f'{name} is {show(value)}, which data="{data}" does not take')


def _chosen(
    data: str | Path | Conversations, split: str | None, where: str | None, provenance: Provenance | None
) -> Conversations:
    if isinstance(data, Conversations):
        _refuse("a Conversations object", split=split, provenance=provenance)
        found = data
    elif isinstance(data, (str, Path)):
        bundled = data == SAMPLE and split is None and provenance is None
        found = _sample() if bundled else load(data, split=split, provenance=provenance)
    else:
        raise TypeError(
            f'data is {show(data)} ({type(data).__name__}); expected "sample", "{SIMULATED}", a path, the '
            "name of a dataset, or Conversations"
        )
    if where is not None:
        found = select(found, where)
    if not found:
        raise DataError(
            Problem(found.source, "", "no conversation", "at least one conversation to play", "see load(…)")
        )
    return found


@lru_cache(maxsize=1)
def _sample() -> Conversations:
    """The bundled sample, shared by all environments of a process: records are frozen, plans are kept."""
    return load(SAMPLE)


@lru_cache(maxsize=2)
def _simulated(seed: int, level: str | Level, number: int) -> Conversations:
    return Simulation(seed, level=level).take(number)
