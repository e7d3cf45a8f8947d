"""Compare `fitted` with the blind readers of the written corpus.

    python -m tools.written.ceiling

Prints the table, question by question, and writes the means into docs/rewards.md.

A blind reader is a language model that answered the same questions from the text alone
(tools/written/blind.py). Both are measured against the writers' labels, on the same answers: those of the
dev and test conversations that the label and the blind reader answer with yes or no.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from attune_rewards.bootstrap import LEVEL, Bootstrap
from attune_rewards.reading import reader
from tools.pages import DOCS, filled, table
from tools.reading.measure import answered
from tools.written.blind import Pair, pairs, turns_of

PAGE: Final = DOCS / "rewards.md"
Array = npt.NDArray[np.float64]


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


def compared(those: Sequence[Both], questions: Sequence[str]) -> tuple[str, str]:
    """The table of macro-F1, one row per question, and the means in words; both with 95% intervals."""
    names = sorted({one.conversation for one in those})
    drawn = Bootstrap(len(names)).weights
    rows, whole, again = [], [], []
    for question in questions:
        mine = [one for one in those if one.question == question]
        of = [counts(mine, by, names) for by in ("blind", "fitted")]
        whole.append([macro_f1(one.sum(0)) for one in of])
        again.append([macro_f1(drawn @ one) for one in of])
        yes = sum(one.yes for one in mine)
        rows.append((question, str(len(mine)), str(yes), *(f"{value:.2f}" for value in whole[-1])))
    means, samples = list(np.nanmean(whole, axis=0)), list(np.nanmean(again, axis=0))
    with_interval = []
    for value, sample in zip((*means, means[0] - means[1]), (*samples, samples[0] - samples[1]), strict=True):
        low, high = np.quantile(sample, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        with_interval.append(f"{value:.2f} ({low:.2f} to {high:.2f})")
    blind, fitted, apart = with_interval
    rows.append(("mean", "", "", blind, fitted))
    heads = ("question", "answers", "yes", "blind readers", "`fitted`")
    summary = (
        f"Blind readers reach a mean macro-F1 of {blind},\n`fitted` one of {fitted} on the same answers;\n"
        f"the blind readers are ahead by {apart}.\n"
    )
    return table(heads, rows), summary


def main() -> None:
    """Print the table, and write the summary into the page."""
    by = reader("fitted")
    said = {
        (a.conversation, a.turn, a.question): a.said for part in ("dev", "test") for a in answered(part, by)
    }
    made, summary = compared(both_of(pairs(), said), sorted(by.questions, key=lambda q: int(q[1:])))
    print(made)
    PAGE.write_text(filled(PAGE.read_text("utf-8"), {"ceiling": summary}), "utf-8")


if __name__ == "__main__":
    main()
