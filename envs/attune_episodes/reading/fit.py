"""Make the shipped files: weights of `fitted` and `held_out`, the guard's pairs, the rewarded questions.

`fitted` is fitted on two thirds of the people in the written train part, `held_out` on the others, each
together with simulated replies of half the total weight. Calibration, cuts and the choice of rewarded
questions come from the dev part if it has `ENOUGH` conversations and `FEWEST_ANSWERS` of each answer to the
question, and otherwise from out-of-fold predictions on train and dev. The guard is not applied.
Run: python -m attune_episodes.reading.fit
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import sparse

from attune_data.loading import load
from attune_data.seeding import digest
from attune_data.simulate import Simulation
from attune_episodes.reading.cues import sentences
from attune_episodes.reading.examples import Example, examples
from attune_episodes.reading.features import features, word_features
from attune_episodes.reading.fitted import WEIGHTS, WORD, FittedReader, Weights, squash
from attune_episodes.reading.guard import PAIRS
from attune_episodes.reading.logistic import Array, Bools, balanced, fitted, platt, quality
from attune_rewards.draft import READING_FILE

SIMULATED: Final = 400
"""How many simulated conversations are added to the written ones."""
BESIDE: Final = 0.5
"""The total weight of the simulated replies, where that of the written ones is 1."""
STRENGTH: Final = 0.03
FOLDS: Final = 6
FEWEST: Final = 4
"""The fewest replies a word must occur in to be a feature."""
FEWEST_ANSWERS: Final = 8
"""The fewest answers of each kind for a question to be fitted, and to be chosen on dev."""
ENOUGH: Final = 20
"""The fewest conversations of the dev part for it to calibrate and choose."""
LEAST: Final = 0.70
"""The balanced accuracy at which a question is rewarded."""
CUTS: Final = np.linspace(0.15, 0.85, 29)
COMMON: Final = 4
"""The fewest sentences a pair of words must occur in to be common."""


class Row(NamedTuple):
    """An example with its features."""

    example: Example
    features: dict[str, float]
    words: list[str]


def rows_of(found: Iterable[Example]) -> list[Row]:
    """Examples with their features."""
    return [
        Row(one, features(one.exchange), [" ".join(said) for said in word_features(one.exchange)])
        for one in found
    ]


class Design:
    """Turns rows into a sparse matrix, with the features that occur in the rows fitted on."""

    def __init__(self, rows: Sequence[Row]) -> None:
        known = sorted({name for row in rows for name in row.features})
        counts = Counter(word for row in rows for word in row.words)
        words = sorted(word for word, count in counts.items() if count >= FEWEST)
        self.words = len(words)
        self.names = [*known, *(f"w {word}" for word in words)]
        self._index = {name: i for i, name in enumerate(self.names)}

    def matrix(self, rows: Sequence[Row]) -> Any:
        """The matrix, with one row per reply."""
        places, columns, values = [], [], []
        for i, row in enumerate(rows):
            pairs = [*row.features.items(), *((f"w {word}", WORD) for word in row.words)]
            for name, value in pairs:
                if (column := self._index.get(name)) is not None:
                    places.append(i)
                    columns.append(column)
                    values.append(value)
        return sparse.csr_matrix((values, (places, columns)), shape=(len(rows), len(self.names)))


def answers(rows: Sequence[Row], question: str) -> tuple[list[int], Bools]:
    """The rows that answer a question, and their answers."""
    which = [i for i, row in enumerate(rows) if question in row.example.answers]
    return which, np.array([rows[i].example.answers[question] for i in which], dtype=bool)


def fit(rows: Sequence[Row], beside: Sequence[Row], asked: Sequence[str]) -> tuple[Design, Array]:
    """Fit weights, one column per question, on rows together with others of `BESIDE` times their weight."""
    design = Design(rows)
    matrix, more = design.matrix(rows), design.matrix(beside)
    columns = []
    for question in asked:
        which, yes = answers(rows, question)
        others, also = answers(beside, question)
        weights, table = balanced(yes), matrix[which]
        if also.any() and not also.all():
            table = sparse.vstack([table, more[others]]).tocsr()
            weights = np.append(weights, balanced(also) * BESIDE * len(yes) / len(also))
            yes = np.append(yes, also)
        columns.append(fitted(table, yes, weights, STRENGTH))
    return design, np.array(columns).T


def logits(design: Design, values: Array, rows: Sequence[Row]) -> Array:
    """The logits of rows, one column per question."""
    return np.asarray(design.matrix(rows) @ values[:-1] + values[-1])


def out_of_fold(rows: Sequence[Row], beside: Sequence[Row], asked: Sequence[str]) -> Array:
    """The logits of each row, fitted on other people; NaN if those people all give the same answer."""
    fold = {row.example.participant: digest("reading", row.example.participant)[0] % FOLDS for row in rows}
    found = np.full((len(rows), len(asked)), np.nan)
    for number in range(FOLDS):
        out = [i for i, row in enumerate(rows) if fold[row.example.participant] == number]
        rest = [row for row in rows if fold[row.example.participant] != number]
        can = [i for i, q in enumerate(asked) if both(answers(rest, q)[1])]
        if out and can:
            design, values = fit(rest, beside, [asked[i] for i in can])
            found[np.ix_(out, can)] = logits(design, values, [rows[i] for i in out])
    return found


def both(yes: Bools, fewest: int = 1) -> bool:
    """Whether there are at least that many of each answer."""
    return int(yes.sum()) >= fewest and int((~yes).sum()) >= fewest


def reader_of(
    name: str, train: Sequence[Row], dev: Sequence[Row], beside: Sequence[Row], whole: bool
) -> FittedReader:
    """Fit a reader on train; `whole` says whether dev is large enough to calibrate and choose on."""
    asked = sorted({q for row in train for q in row.example.answers}, key=lambda q: (len(q), q))
    asked = [q for q in asked if both(answers(train, q)[1], FEWEST_ANSWERS)]
    design, values = fit(train, beside, asked)
    held = [*train, *dev]
    folds = out_of_fold(held, beside, asked)
    on_dev = logits(design, values, dev)
    cuts, paid = {}, []
    for column, question in enumerate(asked):
        which, yes = answers(dev, question)
        found = on_dev[which, column]
        if not (whole and both(yes, FEWEST_ANSWERS)):
            which, yes = answers(held, question)
            found = folds[which, column]
            yes, found = yes[~np.isnan(found)], found[~np.isnan(found)]
        slope, shift = platt(found, yes)
        values[:, column] *= slope
        values[-1, column] += shift
        probability = squash(slope * found + shift)
        cuts[question] = best_cut(probability, yes)
        if quality(probability, probability > cuts[question], yes).balanced >= LEAST:
            paid.append(question)
    weights = Weights(design.names, design.words, asked, values.astype(np.float32), cuts, paid)
    return FittedReader(name, weights)


def best_cut(probability: Array, yes: Bools) -> float:
    """The cut with the highest macro-F1; if tied, the one nearest to ½."""
    order = sorted(CUTS, key=lambda cut: abs(cut - 0.5))
    return float(max(order, key=lambda cut: round(quality(probability, probability > cut, yes).f1, 6)))


def common_pairs(found: Iterable[Example]) -> str:
    """The pairs of adjacent words that occur in several sentences, one pair per line."""
    counts = Counter(
        pair
        for one in found
        for sentence in sentences(one.exchange.reply)
        for pair in dict.fromkeys(pairwise(sentence.words))
    )
    return "".join(f"{a} {b}\n" for (a, b), count in sorted(counts.items()) if count >= COMMON)


def paid_text(reader: FittedReader, train: Iterable[Example]) -> str:
    """A reader's rewarded questions, and the agreement of an all-no draft with what was wanted, as JSON."""
    shares = []
    for one in train:
        wants = [want for question, want in one.wanted.items() if question in reader.questions]
        if wants:
            shares.append(wants.count("no") / len(wants))
    document = {"questions": list(reader.weights.paid), "all_no": round(fmean(shares), 4)}
    return json.dumps(document) + "\n"


def for_fitted(example: Example) -> bool:
    """Whether an example's person belongs to `fitted` and not to `held_out`."""
    return digest("held out reader", example.participant)[0] % 3 > 0


def main(say: Callable[[str], None] = print) -> None:
    """Make the files."""
    train, dev = list(examples(load("written", split="train"))), load("written", split="dev")
    simulated = {
        "fitted": list(examples(Simulation(1, templates="seen").take(SIMULATED))),
        "held_out": list(examples(Simulation(2).take(SIMULATED))),
    }
    PAIRS.write_text(common_pairs([*train, *simulated["fitted"]]), encoding="utf-8")
    WEIGHTS.mkdir(exist_ok=True)
    whole, dev_rows = len(dev) >= ENOUGH, rows_of(examples(dev))
    made_of = {}
    for name, beside in simulated.items():
        mine = rows_of(one for one in train if for_fitted(one) == (name == "fitted"))
        made_of[name] = made = reader_of(name, mine, dev_rows, rows_of(beside), whole)
        (WEIGHTS / f"{name}.json").write_text(made.weights.to_text(), encoding="utf-8")
        size = (WEIGHTS / f"{name}.json").stat().st_size / 1e6
        say(f"{name}: {len(mine)} replies, {len(made.weights.features)} features, {size:.2f} MB")
        say(f"  paid: {' '.join(made.weights.paid)}")
    READING_FILE.write_text(paid_text(made_of["fitted"], train), encoding="utf-8")
    say("chosen on the dev part" if whole else f"dev has {len(dev)} conversations: chosen out of fold")


if __name__ == "__main__":
    main()
