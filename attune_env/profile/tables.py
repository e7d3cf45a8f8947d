"""Present scores of guesses as tables and as a file, both with the warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attune_data import __version__
from attune_env.profile import WARNING
from attune_env.profile.files import KIND
from attune_env.profile.request import template_fingerprint
from attune_env.profile.scoring import FieldScore, ModelScores
from attune_env.tables.cells import Cell
from attune_env.tables.table import Table
from attune_rewards.bootstrap import LEVEL, MEANINGFUL, RESAMPLES

SCORES = f"scores of {KIND}"
"""The marker of a file of scores."""
COLUMNS = ("field", "measure", "value", "prior", "constant", "gain", "n", "people")


def score_table(scores: ModelScores) -> Table:
    """The measures of one model, with the warning below."""
    title = (
        f"experimental: what {scores.em_model} guessed of {scores.people} participants "
        f"({scores.conversations} conversations)"
    )
    rows: list[tuple[Cell, ...]] = []
    for one in scores.fields:
        if found := one.intervals:
            measure = one.measure + " (lower is better)" * (one.measure == "mae")
            means = found["prior"].mean, found["constant"].mean
            rows.append((one.field, measure, found["value"], *means, found["gain"], one.scored, one.people))
    notes = [
        f"95% intervals by resampling participants (†: fewer than {MEANINGFUL})",
        "prior: the best constants of the other participants; constant: the best of these very conversations",
        "gain: over the better of the two, more is better, for errors too; an interval with 0 shows none",
        "unanswered counts as the worst answer; what was not stated is not scored",
        *_count_notes(scores.fields),
        *WARNING,
    ]
    return Table(title, COLUMNS, rows, notes, keys=2)


def _count_notes(fields: Sequence[FieldScore]) -> list[str]:
    notes = []
    silent = [(one.field, f"{one.unanswered} of {one.scored}") for one in fields if one.unanswered]
    if len(silent) == len(fields) and len({share for _, share in silent}) == 1:
        notes.append(f"unanswered: {silent[0][1]} in every field")
    elif silent:
        notes.append(f"unanswered: {', '.join(' '.join(one) for one in silent)}")
    if unstated := [f"{one.field} {one.unstated}" for one in fields if one.unstated]:
        notes.append(f"conversations whose participant did not state: {', '.join(unstated)}")
    for one in fields:
        if values := sorted(set(one.outside)):
            stated = ", ".join(values[:3]) + ", …" * (len(values) > 3)
            notes.append(f"{one.field}: {len(one.outside)} not scored, stated as {stated}, "
                         "which could not be guessed (`--options`)")  # fmt: skip
    return notes


def is_score_file(content: object) -> bool:
    """Whether a JSON value is a file of scores of guesses."""
    return isinstance(content, dict) and content.get("kind") == SCORES


def score_file(scores: Sequence[ModelScores], about: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a file of scores of guesses; `about` goes into its metadata."""
    return {
        "kind": SCORES,
        "warning": " ".join(WARNING),
        "metadata": {
            "versions": {"attune-env": __version__},
            "template": template_fingerprint(),
            "bootstrap": {"units": "participants", "resamples": RESAMPLES, "level": LEVEL, "seed": 0},
            **about,
        },
        "models": [
            {
                "em_model": one.em_model,
                "n_conversations": one.conversations,
                "n_participants": one.people,
                "fields": [_count(field) for field in one.fields],
                "measures": [_measured(field) for field in one.fields if field.intervals],
            }
            for one in scores
        ],
    }


def _count(one: FieldScore) -> dict[str, Any]:
    return {
        "field": one.field,
        "n": one.scored,
        "unanswered": one.unanswered,
        "not_stated": one.unstated,
        "could_not_be_guessed": {"n": len(one.outside), "values": sorted(set(one.outside))},
    }


def _measured(one: FieldScore) -> dict[str, Any]:
    head = {"field": one.field, "measure": one.measure, "n": one.scored, "n_participants": one.people}
    return head | {
        name: {"mean": found.mean, "low": found.low, "high": found.high}
        for name, found in one.intervals.items()
    }
