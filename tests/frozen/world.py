"""Simulated people: the bytes of their conversations, part by part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attune_data.simulate import Simulation
from attune_data.simulate.stream import LEVELS
from tests.command import attune_here
from tests.frozen.keeping import digest

Json = dict[str, Any]
SEEDS = (0, 20_261)
ITEMS = (0, 1, 12_345)


def simulator() -> Json:
    """Hashes of the conversations of several seeds, of every level and part."""
    found: Json = {}
    for seed in SEEDS:
        for level in LEVELS:
            found[f"seed {seed}, {level}"] = {
                str(i): _record(Simulation(seed, level=level), i) for i in ITEMS
            }
    for part in ("seen", "unseen"):
        world = Simulation(4, topics=part, templates=part)
        found[f"seed 4, {part}"] = {str(i): _record(world, i) for i in ITEMS[:2]}
    return found


def written(place: Path) -> Json:
    """The bytes of the files that commands write."""
    attune_here("data simulate -n 6 --seed 3 -o people", place)
    attune_here("data simulate -n 6 --seed 3 --level tangled -o people.jsonl", place)
    attune_here("data split sample --into train=0.8,test=0.2 --stratify diagnosis -o parts", place)
    names = sorted(
        path for folder in ("people", "parts") for path in (place / folder).rglob("*") if path.is_file()
    )
    return {
        path.relative_to(place).as_posix(): digest(path.read_text("utf-8"))
        for path in [*names, place / "people.jsonl"]
    }


def _record(world: Simulation, index: int) -> str:
    """`id whole person head turn turn …`: one hash each, so that what moved can be found."""
    record = world.record(index)
    head = {name: value for name, value in record.items() if name not in ("turns", "participant_profile")}
    parts = [record["participant_profile"], head, *record["turns"]]
    whole = json.dumps(record, ensure_ascii=False)
    return " ".join([record["conversationId"], digest(whole, 16), *(digest(part, 6) for part in parts)])
