"""Scores of guesses as tables for people and as a file, the warning in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attune_data import __version__
from attune_data.errors import DataError, Problem
from attune_data.jsonio import read_json
from attune_env.profile.files import KIND
from attune_env.profile.scoring import ERROR, Compared, FieldCount, ModelScores
from attune_env.report.table import Column, Table
from attune_env.statistics.bootstrap import LEVEL, RESAMPLES, Interval
from attune_episodes.profile import WARNING, template_fingerprint

SCORES = f"scores of {KIND}"
"""Tells a file of scores."""
COLUMNS = (
    Column("field"),
    Column("measure"),
    Column("value"),
    Column("prior"),
    Column("constant"),
    Column("gain", places=3),
    Column("n"),
    Column("people"),
)


def score_table(scores: ModelScores) -> Table:
    """The measures of one model, the warning beneath."""
    table = Table(
        f"experimental: what {scores.em_model} guessed of {scores.people} participants "
        f"({scores.conversations} conversations)",
        COLUMNS,
        keys=2,
    )
    for row in scores.compared:
        below = " (lower is better)" if row.measure == ERROR else ""
        table.rows.append(
            (row.field, row.measure + below, row.value, row.prior.mean, row.constant.mean, row.gain,
             row.value.n, row.people)
        )  # fmt: skip
    table.notes = [
        "95 % intervals by resampling participants (†: fewer than 5)",
        "prior: the best constants of the other participants; constant: the best of these very conversations",
        "gain: over the better of the two, more is better, for errors too; an interval with 0 shows none",
        "unanswered counts as the worst answer; what was not stated is not scored",
        *_count_notes(scores.counts),
    ]
    table.notes += WARNING
    return table


def _count_notes(counts: Sequence[FieldCount]) -> list[str]:
    notes = []
    silent = [(one.field, f"{one.unanswered} of {one.scored}") for one in counts if one.unanswered]
    if len(silent) == len(counts) and len({share for _, share in silent}) == 1:
        notes.append(f"unanswered: {silent[0][1]} in every field")
    elif silent:
        notes.append(f"unanswered: {', '.join(' '.join(one) for one in silent)}")
    if unstated := [f"{one.field} {one.unstated}" for one in counts if one.unstated]:
        notes.append(f"conversations whose participant did not state: {', '.join(unstated)}")
    notes += [
        f"{one.field}: {one.n_outside} not scored, stated as {', '.join(one.outside[:3])}"
        f"{', …' * (len(one.outside) > 3)}, which could not be guessed (`--options`)"
        for one in counts
        if one.n_outside
    ]
    return notes


def check_replaceable(path: Path) -> None:
    """Raises DataError where `path` is a file, and not an earlier one of scores of guesses."""
    if not path.exists():
        return
    try:
        content = read_json(path, max_bytes=None)
    except DataError:
        content = None
    if not isinstance(content, dict) or content.get("kind") != SCORES:
        raise DataError(
            Problem(str(path), "", "a file that holds no scores of guesses", "a new name, or an earlier one",
                    "choose another --output")
        )  # fmt: skip


def score_file(scores: Sequence[ModelScores], about: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a scores file of guesses; `about` is put into its metadata."""
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
                "fields": [_count(count) for count in one.counts],
                "measures": [_compared(row) for row in one.compared],
            }
            for one in scores
        ],
    }


def _count(count: FieldCount) -> dict[str, Any]:
    return {
        "field": count.field,
        "n": count.scored,
        "unanswered": count.unanswered,
        "not_stated": count.unstated,
        "could_not_be_guessed": {"n": count.n_outside, "values": list(count.outside)},
    }


def _compared(row: Compared) -> dict[str, Any]:
    return {
        "field": row.field,
        "measure": row.measure,
        "n": row.value.n,
        "n_participants": row.people,
        "value": _interval(row.value),
        "prior": _interval(row.prior),
        "constant": _interval(row.constant),
        "gain_over_prior": _interval(row.over_prior),
        "gain_over_constant": _interval(row.over_constant),
        "gain": _interval(row.gain),
    }


def _interval(value: Interval) -> dict[str, float | None]:
    return {"mean": value.mean, "low": value.low, "high": value.high}
