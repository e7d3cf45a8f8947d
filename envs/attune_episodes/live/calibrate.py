"""Measure the baseline and the unit of live totals: `python -m attune_episodes.live.calibrate`.

Rewrites `constants.json` for the embedded readers in about ten minutes on one core; nothing else has to be
run when the readers' weights change. The baseline is the best goal-blind policy that a greedy search finds,
block by block, among fixed replies, cycles of them, and frames that copy from the message. The search uses
the people of one seed, the measurement those of another.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from attune_data.seeding import digest
from attune_data.simulate.stream import LEVELS, VERSION, Simulation
from attune_episodes.live.blind import Blind, block_names
from attune_episodes.live.constants import FILE, RAW, Constants
from attune_episodes.live.episode import DEFAULT, LiveEpisode, named
from attune_episodes.live.play import LivePolicy, play_live
from attune_episodes.reading import READERS, Exchange, Reader

SEARCHED: Final = 101
"""The seed of the people that the search uses."""
MEASURED: Final = 102
"""The seed of the people on whom the result is measured."""
MOST: Final = 4
"""The most blocks a goal-blind policy may have."""
KEPT: Final = 4
"""How many policies of a round are compared on all people of the search."""
GAIN: Final = 0.005
"""The least gain for which a block is added."""


class Effort(NamedTuple):
    """How many conversations are played for each purpose."""

    first: int = 36
    """For each policy in a round of the search."""
    search: int = 300
    """For the best policies of a round, and for the numbers of wordings; with a hundred, luck decides."""
    blind: int = 240
    """For the baseline and for silence."""
    oracle: int = 96


EFFORT: Final = Effort()


def calibrated(reader: Reader, levels: Iterable[str], effort: Effort = EFFORT) -> dict[str, Any]:
    """The constants of a reader at the given levels, and where they come from."""
    found = search(reader, effort)
    return {
        "fingerprint": fingerprint(reader),
        "zero": {"blocks": list(found.blocks), "wordings": found.wordings},
        "levels": {level: _measured(reader, level, found, effort)._asdict() for level in levels},
    }


def search(reader: Reader, effort: Effort = EFFORT, level: str = "default") -> Blind:
    """Find the best goal-blind policy, block by block."""
    world = Simulation(SEARCHED, level=level)

    def earns(policy: LivePolicy, number: int) -> float:
        return _mean(policy, world, number, reader)

    best, worth = Blind(()), -math.inf
    for _ in range(MOST):
        added = [Blind((*best.blocks, block)) for block in block_names() if block not in best.blocks]
        first = sorted(added, key=lambda policy: -earns(policy, effort.first))[:KEPT]
        scores = [earns(policy, effort.search) for policy in first]
        if max(scores) < worth + GAIN:
            break
        worth = max(scores)
        best = first[scores.index(worth)]
    fewer = [Blind(best.blocks, wordings) for wordings in (1, 2, 3)]
    return max([best, *fewer], key=lambda policy: earns(policy, effort.search))


def fingerprint(reader: Reader) -> str:
    """A hash of how a reader reads some simulated replies; it changes with the reader's rules or weights."""
    world = Simulation(0)
    answers: list[list[object]] = []
    for conversation in world.take(6):
        history: tuple[tuple[str, str], ...] = ()
        for turn in conversation.turns:
            found = reader.read(Exchange(turn.user_message, turn.llm_response, history))
            answers.append([q for q in sorted(reader.questions) if found.says(q)])
            answers.append([round(found.probabilities.get(q, 0.0), 3) for q in sorted(reader.questions)])
            answers.append([claim.family for claim in found.claims])
            history = (*history, (turn.user_message, turn.llm_response))
    return digest(json.dumps(answers)).hex()[:16]


def _measured(reader: Reader, level: str, blind: Blind, effort: Effort) -> Constants:
    world = Simulation(MEASURED, level=level)
    return Constants(
        zero=_mean(blind, world, effort.blind, reader),
        oracle=_mean(LiveEpisode.oracle, world, effort.oracle, reader),
        silence=_mean(Blind(()), world, effort.blind, reader),
    )


def _mean(policy: LivePolicy, world: Simulation, number: int, reader: Reader) -> float:
    found = play_live(policy, world, range(number), reader=reader, measured=RAW)
    return round(math.fsum(one.total for one in found) / number, 4)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make `constants.json`."""
    parser = argparse.ArgumentParser(prog="python -m attune_episodes.live.calibrate", description=__doc__)
    parser.parse_args(arguments)
    document: dict[str, Any] = {
        "made by": parser.prog,
        "world": VERSION,
        "seeds": {"search": SEARCHED, "measure": MEASURED},
        "conversations": EFFORT._asdict(),
        "readers": {
            name: calibrated(named(name), LEVELS if name == DEFAULT else ("default",)) for name in READERS
        },
    }
    FILE.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    for name, found in document["readers"].items():
        for level, values in found["levels"].items():
            one = Constants(**values)
            print(f"{name}, {level}: {values}, {one.share:.0%} of the range from silence to oracle")
        print(f"{name}: {Blind(tuple(found['zero']['blocks']), found['zero']['wordings']).name}")


if __name__ == "__main__":
    main()
