"""Make the files that ship with the reader `fitted`: its weights, and the questions that are rewarded.

Fits one logistic regression per question on the train part of the written corpus. Those questions ship that
are read with a balanced accuracy of at least `LEAST` by regressions fitted without the people who are read,
fold by fold.
Run: python -m tools.reading.fit
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from attune_data.format.constants import BINARY_IDS
from attune_data.source.load import load
from attune_env.ladder.regression import regression
from attune_episodes.policies.fitted import folds
from attune_rewards.metrics.draft import READING_FILE
from attune_rewards.reading.exchange import Exchange
from attune_rewards.reading.features import features
from attune_rewards.reading.fitted import WEIGHTS, FittedReader
from attune_rewards.reading.own import own_part
from tools.reading.examples import Example, examples
from tools.reading.measure import quality

STRENGTH: Final = 0.03
"""The inverse of the penalty on large weights."""
RARER: Final = 0.75
"""How far the rarer answer is raised: at 0 each reply counts the same, at 1 each answer does."""
FEWEST: Final = 4
"""The fewest replies a feature must occur in."""
FEWEST_ANSWERS: Final = 8
"""The fewest answers of each kind for a question to be fitted."""
LEAST: Final = 0.70
"""The balanced accuracy, out of fold, at which a question is rewarded."""
STEPS: Final = 60

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Row(NamedTuple):
    """An example, the part of its exchange that is read, and its features."""

    example: Example
    own: Exchange
    features: Mapping[str, float]


def rows_of(found: Iterable[Example]) -> list[Row]:
    """Examples with their features; replies without words of their own are left out."""
    read = ((one, own_part(one.exchange)) for one in found)
    return [Row(one, own, features(own)) for one, own in read if own]


def common_features(rows: Sequence[Row]) -> list[str]:
    """The features that occur in enough rows, sorted."""
    counts = Counter(name for row in rows for name in row.features)
    return sorted(name for name, count in counts.items() if count >= FEWEST)


def matrix(rows: Sequence[Row], names: Sequence[str]) -> Any:
    """The features of rows as a sparse matrix."""
    column = {name: i for i, name in enumerate(names)}
    cells = [
        (i, column[name], value)
        for i, row in enumerate(rows)
        for name, value in row.features.items()
        if name in column
    ]
    places, columns, values = zip(*cells, strict=True)
    return sparse.csr_matrix((values, (places, columns)), shape=(len(rows), len(names)))


def answers(rows: Sequence[Row], question: str) -> tuple[list[int], Bools]:
    """The rows that answer a question, and their answers."""
    which = [i for i, row in enumerate(rows) if question in row.example.answers]
    return which, np.array([rows[i].example.answers[question] for i in which], dtype=bool)


def balanced(yes: Bools) -> Array:
    """Weights that raise the rarer answer by `RARER`, with a mean of 1."""
    share = np.where(yes, yes.mean(), 1 - yes.mean())
    weights = share**-RARER
    return np.asarray(weights / weights.mean(), dtype=np.float64)


def enough(yes: Bools) -> bool:
    """Whether there are enough answers of each kind."""
    return min(int(yes.sum()), int((~yes).sum())) >= FEWEST_ANSWERS


def fit(train: Sequence[Row], say: Callable[[str], None] = print) -> FittedReader:
    """Fit on all, and keep the questions that are read well without having seen the person."""
    names = common_features(train)
    features = matrix(train, names)
    owners = [row.example.participant for row in train]
    place = folds(owners)
    kept = {}
    for question in BINARY_IDS:
        which, yes = answers(train, question)
        if not enough(yes):
            continue
        rows, fold = features[which], np.array([place[owners[i]] for i in which])
        said = np.zeros(len(which), dtype=bool)
        for out in sorted(set(fold)):
            weights = _weights(rows[fold != out], yes[fold != out])
            said[fold == out] = rows[fold == out] @ weights[:-1] + weights[-1] > 0
        found = quality(said, yes)
        say(f"{question}: balanced accuracy {found.balanced:.3f} out of fold")
        if found.balanced >= LEAST:
            kept[question] = _weights(rows, yes)
    return FittedReader(names, kept)


def _weights(rows: Any, yes: Bools) -> Array:
    return regression(rows, yes, balanced(yes), STRENGTH, steps=STEPS)


def rewarded(questions: Iterable[str], train: Iterable[Example]) -> str:
    """The rewarded questions, and the agreement of an all-no draft with what was wanted, as JSON."""
    listed = list(questions)
    wants = [[want for q, want in one.wanted.items() if q in listed] for one in train]
    document = {
        "questions": listed,
        "all_no": round(fmean(of.count("no") / len(of) for of in wants if of), 4),
    }
    return json.dumps(document) + "\n"


def main() -> None:
    """Make the files."""
    train = list(examples(load("written", split="train")))
    made = fit(rows_of(train))
    WEIGHTS.write_text(made.to_text(), encoding="utf-8")
    READING_FILE.write_text(rewarded(made.weights, train), encoding="utf-8")
    print(f"{len(train)} replies; rewarded: {' '.join(made.weights)}")


if __name__ == "__main__":
    main()
