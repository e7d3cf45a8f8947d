"""Simulated conversations that several tests read, made once a process; none of them may change one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from attune_data.simulate import LEVELS, Simulation

Json = dict[str, Any]
SEED = 11
ALL_LEVELS = tuple(LEVELS)


@cache
def records(level: str = "default", count: int = 100) -> tuple[Json, ...]:
    """The first records of this seed's world."""
    world = Simulation(SEED, level=level)
    return tuple(world.record(i) for i in range(count))


def of_all_levels(count: int) -> Iterator[Json]:
    """The first records of every level."""
    for level in LEVELS:
        yield from records(level, count)


def turns(some: Iterable[Json]) -> Iterator[tuple[Json, int]]:
    """(record, 0-based turn) of all turns."""
    for record in some:
        for number in range(len(record["turns"])):
            yield record, number


def answers(record: Json, turn: int, field: str = "observedBehavior") -> dict[str, str]:
    """Question -> answer, of those that were asked in a turn."""
    judgements = record["turns"][turn]["annotations"]["binaryJudgements"]
    found = {judgement["questionId"]: judgement[field] for judgement in judgements}
    assert len(found) == len(judgements)
    return found


def written(record: Json) -> Iterator[tuple[str, str]]:
    """(whose, text) of everything that is written in a conversation."""
    for turn in record["turns"]:
        yield "person", turn["userMessage"]
        yield "original", turn["llmResponse"]
        yield "alternate", turn["annotations"]["alternateResponses"]["llmImproved"]
        yield "human", turn["annotations"]["alternateResponses"]["humanEdited"]


def digest(some: Iterable[object]) -> str:
    """One fingerprint of JSON values in a row."""
    whole = hashlib.sha256()
    for value in some:
        whole.update(json.dumps(value, sort_keys=True).encode())
    return whole.hexdigest()


def share(some: Iterable[Json], holds: Callable[[Json], bool]) -> float:
    """The share of which something holds."""
    values = [holds(one) for one in some]
    return sum(values) / len(values)
