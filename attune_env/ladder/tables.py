"""The ladder as tables and as a JSON record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from attune_data.version import __version__
from attune_env.ladder.rungs import SURFACE, WITHIN, Rung
from attune_env.ladder.tasks import DID, TASKS
from attune_env.tables.cells import Cell, interval_text
from attune_env.tables.table import Table
from attune_rewards.bootstrap import MEANINGFUL, RESAMPLES, Interval

MADE_BY: Final = "attune data ladder"
CHANCE: Final = 0.5
PLACES: Final = 2


def ladder_tables(rungs: Sequence[Rung]) -> list[Table]:
    """One table per task: a row per fitted source and reader, a column per test source, chance last."""
    tests = tuple(dict.fromkeys(rung.test for rung in rungs))
    tables = []
    for task, title in TASKS.items():
        table = Table(f"Ladder: {title}", ("fitted on", "reader", *tests), keys=2, unit="participant")
        rows: dict[tuple[str, str], list[Cell]] = {}
        for rung in rungs:
            if rung.task == task:
                rows.setdefault((rung.fit, rung.reader), []).append(_cell(rung))
        table.rows = [(*names, *cells) for names, cells in rows.items()]
        table.rows.append(("", "chance", *[f"{CHANCE:.{PLACES}f}"] * len(tests)))
        if task == DID:
            table.notes = [_questions(rungs)]
        tables.append(table)
    tables[-1].notes = _notes(rungs)
    return tables


def _cell(rung: Rung) -> str:
    if rung.missing:
        return rung.missing
    mark = ""
    if rung.above.leaves_out_zero:
        mark = " ↑" if (rung.above.mean or 0) > 0 else " ↓"
    return interval_text(rung.value, places=PLACES) + mark


def _questions(rungs: Sequence[Rung]) -> str:
    numbers: dict[int, list[str]] = {}
    for rung in rungs:
        if (rung.task, rung.reader) == (DID, SURFACE) and rung.fit != WITHIN and rung.questions:
            numbers.setdefault(len(rung.questions), []).append(f"{rung.fit} → {rung.test}")
    told = "; ".join(f"{number} ({', '.join(pairs)})" for number, pairs in sorted(numbers.items()))
    return f"Yes/no questions with enough labels in both sources: {told or 'none'}."


def _notes(rungs: Sequence[Rung]) -> list[str]:
    notes = [
        "Balanced accuracy, averaged over yes/no questions; for the preferred reply, the share of "
        f"comparisons read right. 95% percentile bootstrap interval, {RESAMPLES:,} resamples of the test "
        "data's participants. No answer counts as half right.",
        f"↑ or ↓: above or below `{SURFACE}` fitted on the same source; the interval of the paired "
        "difference leaves out 0.",
    ]
    crossed = dict.fromkeys(
        f"{rung.fit} → {rung.test}" for rung in rungs if rung.crossed and rung.fit != WITHIN
    )
    if crossed:
        pairs = ", ".join(crossed)
        notes.append(f"Fitted without the people and texts that are read, fold by fold: {pairs}.")
    if any(rung.value.few for rung in rungs):
        notes.append(f"† fewer than {MEANINGFUL} participants: the interval is not meaningful.")
    if any(rung.missing for rung in rungs):
        notes.append(
            "no labels, few labels: of the test data; nothing to fit: the fitted source has too few labels "
            "besides those of the people and texts that are read."
        )
    return notes


def ladder_record(rungs: Sequence[Rung], **about: Any) -> dict[str, Any]:
    """The ladder as JSON: `about`, and every rung with its value and how far it is above `surface`."""
    return {
        "made_by": f"{MADE_BY} {__version__}",
        **about,
        "rungs": [
            asdict(rung) | {"value": _record(rung.value), "above": _record(rung.above)} for rung in rungs
        ],
    }


def is_ladder(content: object) -> bool:
    """Whether the content of a JSON file is a ladder."""
    return isinstance(content, dict) and str(content.get("made_by")).startswith(MADE_BY)


def _record(interval: Interval) -> dict[str, Any] | None:
    if interval.mean is None:
        return None
    numbers = {name: round(getattr(interval, name), 6) for name in ("mean", "low", "high")}
    return {**numbers, "labels": interval.n, "participants": interval.units}
