"""Write the table of docs/reading.md that compares `fitted` with the blind readers of the written corpus.

    python -m tests.written.ceiling

A blind reader is a language model that answered the same questions from the text alone
(tests/written/blind.py). Both are measured against the writers' labels, on the same answers: those of the
sixty conversations that the label and the blind reader answer with yes or no. On train conversations
`fitted` is read out of fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from attune_data.written.corpus import PARTS
from attune_env.statistics.bootstrap import LEVEL, Bootstrap
from attune_episodes.reading import reader
from attune_episodes.reading.logistic import Array
from attune_episodes.reading.measure import BLOCK, answered
from tests.metric_reference import table
from tests.written.blind import Pair, pairs, turns_of

PAGE: Final = Path(__file__).parents[2] / "docs" / "reading.md"
CHARGED: Final = ("B310", "B315", "B408")
"""Unwanted behaviour with an aim of its own: recall of .60 at a precision of .50."""


class Both(NamedTuple):
    """One answer of the label, a blind reader and `fitted`."""

    conversation: str
    question: str
    yes: bool
    blind: bool
    fitted: bool


def both_of(these: Iterable[Pair], said: dict[tuple[str, int, str], bool]) -> list[Both]:
    """The answers that the label, the blind reader and `fitted` all give; `said` has those of `fitted`."""
    found = []
    for pair in these:
        for n, turns in enumerate(turns_of([pair])):
            label, blind = (dict(turn.observed) for turn in turns)
            for question in label:
                fitted = said.get((pair.name, n, question))
                if fitted is not None and {label[question], blind.get(question)} <= {"yes", "no"}:
                    yes = label[question] == "yes"
                    found.append(Both(pair.name, question, yes, blind[question] == "yes", fitted))
    return found


def counts(those: Sequence[Both], by: str, names: Sequence[str]) -> Array:
    """(conversations, 4): how often a reader was right and wrong with yes, and right and wrong with no."""
    found = np.zeros((len(names), 4))
    for one in those:
        said = getattr(one, by)
        found[names.index(one.conversation), 2 * (not said) + (said != one.yes)] += 1
    return found


def macro_f1(sums: Array) -> Array:
    """The mean of the F1 of yes and the F1 of no, from counts in the order of `counts` on the last axis."""
    hits, false_yes, right_no, false_no = np.moveaxis(sums, -1, 0)
    wrong = false_yes + false_no
    with np.errstate(invalid="ignore"):
        return np.asarray(hits / (2 * hits + wrong) + right_no / (2 * right_no + wrong))


def compared(those: Sequence[Both], questions: Sequence[str], paid: Iterable[str]) -> str:
    """The table: one row per question, and the mean of the rewarded ones with 95% intervals."""
    names = sorted({one.conversation for one in those})
    drawn = Bootstrap(len(names)).weights
    rows, whole, again = [], [], []
    for question in questions:
        mine = [one for one in those if one.question == question]
        of = [counts(mine, by, names) for by in ("blind", "fitted")]
        sums = [one.sum(0) for one in of]
        figures = [value for one in sums for value in (*_ratios(one), float(macro_f1(one)))]
        name = f"**{question}**" if question in paid else question
        rows.append((name, str(len(mine)), str(sum(one.yes for one in mine)), *map(_shown, figures)))
        if question in paid:
            whole.append([macro_f1(one) for one in sums])
            again.append([macro_f1(drawn @ one) for one in of])
    with_interval = []
    mean, resampled = np.mean(whole, axis=0), np.nanmean(again, axis=0)
    for value, sample in zip(
        (*mean, mean[0] - mean[1]), (*resampled, resampled[0] - resampled[1]), strict=True
    ):
        low, high = np.quantile(sample, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        with_interval.append(f"{value:.2f} ({low:.2f} to {high:.2f})")
    blind, fitted, apart = with_interval
    rows.append(("mean of the rewarded", "", "", "", "", blind, "", "", fitted))
    heads = ("question", "answers", "yes", *(f"{by}: {figure}" for by in ("blind", "`fitted`")
                                             for figure in ("precision", "recall", "macro-F1")))  # fmt: skip
    return table(heads, rows) + f"\nOn average, the blind readers are ahead by {apart}.\n"


def _ratios(sums: Array) -> tuple[float, float]:
    hits, false_yes, _, false_no = map(float, sums)
    nan = float("nan")
    return (hits / (hits + false_yes) if hits + false_yes else nan,
            hits / (hits + false_no) if hits + false_no else nan)  # fmt: skip


def _shown(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}"


def rewritten(page: str) -> str:
    """The page with the table made again."""
    by = reader("fitted")
    said = {(a.conversation, a.turn, a.question): a.said for part in PARTS for a in answered(part, by)}
    questions = sorted({*by.questions, *CHARGED}, key=lambda q: (q not in by.questions, int(q[1:])))
    made = compared(both_of(pairs(), said), questions, by.questions)
    return BLOCK.sub(
        lambda found: found[1] + (made if found[2] == "ceiling" else found[0][len(found[1]) :]), page
    )


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text("utf-8")), "utf-8")
