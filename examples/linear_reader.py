"""Measure what the words of one data source teach a linear reader about another.

Fits ridge regressions on words and pairs of words, and prints how well they read each test source: what a
reply did, whether the person feels pleasant, which reply the person prefers. `surface`, which counts and does
not read, stands beside it; chance is 0.5 everywhere. A source is whatever `load` takes: written:train, a
folder of your own records, imported data.
Run: python examples/linear_reader.py --fit written:train --test written:test --test sample
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsqr

from attune_data.format.affect import POSITIVE
from attune_data.source.guard import for_training
from attune_env import Conversation, Conversations, Settings, builtin_policy, load, rollout
from attune_rewards import Assess, Prefer
from attune_rewards.bootstrap import LEVEL, Bootstrap
from attune_rewards.truth import truth_of

PARTS = ("what the reply did", "valence", "preferred reply")
JUDGED = ("B2", "B8", "B9", "B10", "B20", "B109")
"""Questions that ask for the person's judgement and are left out: the text does not settle them."""
FEWEST = 5
"""Answers of each kind that a question needs in the test data to count."""
RARE = 3
"""Words in fewer texts are left out."""
DAMP = 20.0
"""The square root of the ridge penalty, chosen on written:dev."""
RESAMPLES = 2000
SETTINGS = Settings(stages=("assess", "prefer"))

Array = Any  # of NumPy, or a sparse matrix of SciPy


class Key(NamedTuple):
    """One thing to be read."""

    part: str
    conversation: int
    turn: int
    question: str = ""
    """The yes/no question, or the number of the comparison."""


class Item(NamedTuple):
    """A key with its texts and the true answer."""

    key: Key
    text: str
    against: str
    """The text of side B of a comparison."""
    yes: bool
    """Yes, pleasant, or side A."""


def items(conversations: Iterable[Conversation]) -> Iterator[Item]:
    """Everything in some conversations that is read and has an answer."""
    for i, conversation in enumerate(conversations):
        truth = truth_of(conversation).by_number
        for turn in conversation.turns:
            known, number = truth[turn.turn_number], turn.turn_number
            for question, answer in known.observed:
                if question not in JUDGED:
                    yield Item(Key(PARTS[0], i, number, question), turn.llm_response, "", answer == "yes")
            signs = {tag.emotion in POSITIVE for tag in known.tags or ()}
            if len(signs) == 1:  # neither neutral nor mixed
                yield Item(Key(PARTS[1], i, number), turn.user_message, "", signs.pop())
            winners = dict(known.winners)
            for index, pair in enumerate(turn.comparisons):
                a, b = turn.responses[pair.response_a], turn.responses[pair.response_b]
                if a and b and index in winners:
                    yield Item(Key(PARTS[2], i, number, str(index)), a, b, winners[index] == "A")


@cache
def words(text: str) -> frozenset[str]:
    """The words of a text, including question and exclamation marks, and pairs of adjacent ones."""
    said = re.findall(r"[\w']+|[!?]", text.lower().replace("’", "'"))
    return frozenset([*said, *(f"{first} {second}" for first, second in pairwise(said))])


class Bags:
    """Turns texts into sparse rows of words, without rare ones."""

    def __init__(self, texts: Iterable[str]) -> None:
        counts = Counter(word for text in set(texts) for word in words(text))
        common = sorted(word for word, count in counts.items() if count >= RARE)
        self.column = {word: i for i, word in enumerate(common)}

    def rows(self, texts: Sequence[str]) -> Array:
        """One row per text."""
        found = [
            (i, self.column[word])
            for i, text in enumerate(texts)
            for word in words(text)
            if word in self.column
        ]
        places, columns = np.array(found, dtype=int).reshape(-1, 2).T
        shape = (len(texts), len(self.column))
        return sparse.csr_matrix((np.ones(len(found)), (places, columns)), shape=shape)


class Reader:
    """A linear model per question, one for valence and one for preferred replies."""

    def __init__(self, conversations: Iterable[Conversation]) -> None:
        found = list(items(conversations))
        self.bags = Bags(text for one in found for text in (one.text, one.against))
        self.weights = {model: self.fitted(those) for model, those in grouped(found).items()}

    def rows(self, those: Sequence[Item]) -> Array:
        """The words of each item, less those of side B, and a column for the intercept."""
        texts = self.bags.rows([one.text for one in those]) - self.bags.rows([one.against for one in those])
        return sparse.hstack([texts, sparse.csr_matrix(np.ones((len(those), 1)))]).tocsr()

    def fitted(self, those: Sequence[Item]) -> Array:
        """Ridge regression of ±1, with half of the weight on each answer."""
        yes = np.array([one.yes for one in those])
        weights = np.sqrt(len(yes) / 2 / np.where(yes, yes.sum(), (~yes).sum()))
        rows = sparse.diags(weights) @ self.rows(those)
        return lsqr(rows, weights * np.where(yes, 1.0, -1.0), damp=DAMP)[0]

    def read(self, conversations: Iterable[Conversation]) -> dict[Key, bool]:
        """Its answers; a question that it was not fitted on has none."""
        answers: dict[Key, bool] = {}
        for model, those in grouped(items(conversations)).items():
            if model in self.weights:
                said = self.rows(those) @ self.weights[model] > 0
                answers |= {one.key: bool(yes) for one, yes in zip(those, said, strict=True)}
        return answers


def grouped(found: Iterable[Item]) -> dict[tuple[str, str], list[Item]]:
    """Items by what one model reads: each yes/no question for itself, all comparisons together."""
    groups: dict[tuple[str, str], list[Item]] = {}
    for one in found:
        part = one.key.part
        groups.setdefault((part, one.key.question if part == PARTS[0] else ""), []).append(one)
    return groups


def played(name: str, conversations: Conversations) -> dict[Key, bool]:
    """The answers of a built-in policy; it has none about valence where its tags cancel out."""
    policy = builtin_policy(name, conversations, SETTINGS)
    answers: dict[Key, bool] = {}
    for i, conversation in enumerate(conversations):
        for step in rollout(conversation, policy, SETTINGS).steps:
            number, said = step.request.turn or 0, step.outcome
            if isinstance(said, Assess):
                sign = sum(1 if tag.emotion in POSITIVE else -1 for tag in said.tags or ())
                answers |= {Key(PARTS[1], i, number): sign > 0} if sign else {}
                answers |= {Key(PARTS[0], i, number, q): a == "yes" for q, a in said.observed.items()}
            elif isinstance(said, Prefer):
                answers |= {Key(PARTS[2], i, number, str(index)): a == "A" for index, a in said.picks.items()}
    return answers


class Value(NamedTuple):
    """A balanced accuracy with its 95% interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def measured(answers: dict[Key, bool], conversations: Conversations) -> dict[str, Value]:
    """Part -> the mean over its questions of balanced accuracy, with an interval over participants.

    Balanced accuracy is the mean share of right answers among true yes and true no; no answer is half right.
    """
    drawn = Bootstrap(
        len(conversations), [one.participant for one in conversations], resamples=RESAMPLES
    ).weights
    weights = np.vstack([np.ones(len(conversations)), drawn])  # first everybody once
    values: dict[str, list[Array]] = {part: [] for part in PARTS}
    for (part, _), those in grouped(items(conversations)).items():
        cells = np.zeros((len(conversations), 2, 2))  # conversation × no, yes × right, all
        for one in those:
            right = 0.5 if one.key not in answers else float(answers[one.key] is one.yes)
            cells[one.key.conversation, int(one.yes)] += right, 1
        if cells[:, :, 1].sum(0).min() >= FEWEST:
            sums = np.tensordot(weights, cells, 1)
            with np.errstate(invalid="ignore"):  # a resample may lack one of the answers
                values[part].append((sums[..., 0] / sums[..., 1]).mean(1))
    tails = [50 * (1 - LEVEL), 50 * (1 + LEVEL)]
    means = {part: np.nanmean(those, axis=0) for part, those in values.items() if those}
    return {part: Value(mean[0], *np.nanpercentile(mean[1:], tails)) for part, mean in means.items()}


def main() -> None:
    """Print one table for each test source."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", action="append", metavar="DATA", help="fit on this; default: written:train")
    parser.add_argument("--test", action="append", metavar="DATA", help="test on this; default: sample")
    chosen = parser.parse_args()
    readers = {}
    for name in chosen.fit or ["written:train"]:
        source = load(name)
        for_training(source)
        readers[name] = Reader(source)
    for name in chosen.test or ["sample"]:
        test = load(name)
        rows = {f"fitted on {source}": reader.read(test) for source, reader in readers.items()}
        rows["surface"] = played("surface", test)
        print(f"\n### {name}\n\n| | {' | '.join(PARTS)} |\n|---{'|---' * len(PARTS)}|")
        for row, answers in rows.items():
            values = measured(answers, test)
            print(f"| {row} | {' | '.join(str(values.get(part, '–')) for part in PARTS)} |")


if __name__ == "__main__":
    main()
