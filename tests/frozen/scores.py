"""Golden scores: the result files of `tests/golden`, and `attune score` of policies over the sample."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attune_rewards import aggregate
from tests.command import attune_here
from tests.rewards.test_golden import scored

POLICIES = ("lexicon", "prior", "empty", "oracle")
IN_FULL = ("builtin/lexicon", "builtin/empty")
Json = dict[str, Any]


def golden() -> Json:
    """Every score of each golden result, both scoring modes."""
    entries = scored()
    return {
        "conversations": {name: by_turn(entry) for name, entry in entries.items()},
        "q1_f1": {
            name: [entry["composite_exact"], entry["post_score"]["q1_looking_for_score"]]
            for name, entry in scored("f1").items()
        },
        "aggregates": aggregate(entries.values()),
    }


def score_files(place: Path) -> Json:
    """The scores file that `attune score` writes for built-in policies over the sample."""
    for policy in POLICIES:
        attune_here(["run", "builtin", policy, "sample", "--limit", "6", "-o", "results"], place)
    attune_here(
        ["run", "builtin", "lexicon", "sample", "--limit", "6", "--stages", "assess,reflect", "-o", "part"],
        place,
    )
    made = {}
    for folder, *options in (["results"], ["part"], ["results", "--q1-overlap", "f1", "--scoring", "strict"]):
        attune_here(["score", "--results", folder, "--ground-truth", "sample", *options], place)
        content = json.loads((place / "scores.json").read_text("utf-8"))
        content["metadata"]["versions"].pop("python")
        made[" ".join([folder, *options])] = _file(content, () if options else IN_FULL)
    return made


def _file(content: Json, models: Sequence[str]) -> Json:
    """Of these models the scores of each conversation too, as one list a metric."""
    entries = content["conversations"]
    columns: dict[str, dict[str, list[Any]]] = {}
    for entry in (entry for entry in entries if entry["em_model"] in models):
        flat = {n: v for n, v in entry.items() if not isinstance(v, (dict, list)) and n != "em_model"}
        for part in ("strict_parts", "post_score"):
            flat |= {f"{part}.{n}": v for n, v in entry[part].items()}
        of_model = columns.setdefault(entry["em_model"], {})
        for name, value in flat.items():
            of_model.setdefault(name, []).append(value)
    return {
        "keys": list(content),
        "metadata": content["metadata"],
        "keys of an entry": list(entries[0]),
        "keys of a turn": list(entries[0]["turn_scores"][0]),
        "keys of the post scores": list(entries[0]["post_score"]),
        "aggregates": content["aggregates"],
        "conversations": columns,
    }


def by_turn(entry: Mapping[str, Any]) -> Json:
    """Scores with those of turns as one list a metric."""
    turns: Sequence[Mapping[str, Any]] = entry["turn_scores"]
    names = list(turns[0]) if turns else []
    return {
        "turn_scores": {name: [turn[name] for turn in turns] for name in names},
        **{name: value for name, value in entry.items() if name != "turn_scores"},
    }
