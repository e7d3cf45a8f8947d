"""Measure what training text teaches: a linear reader, fitted on each source, tested on others.

Fits a logistic regression on words and pairs of words to the grammar of simulated participants, to the train
split of the written corpus and to both; tests each on unseen phrases of the grammar, on the written test
split and on the sample, beside the baselines and the ceiling. Needs scikit-learn.
Run: python examples/transfer.py
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from attune_data.affect import POSITIVE
from attune_data.errors import DataError
from attune_data.schema import Turn
from attune_data.simulate.constructs import CONTEXTUAL
from attune_env import (
    Conversation,
    Conversations,
    Settings,
    Simulation,
    builtin_policy,
    load,
    rollout,
)
from attune_episodes.ceiling import latent_ceiling
from attune_rewards import Assess, Prefer

PARTS: Final = ("textual", "contextual", "preferred", "valence", "pairwise")
AIMS: Final = {"textual": 0.75, "valence": 0.75, "pairwise": 0.60}
"""Targets for the reader fitted on the written train split, tested on the written test split."""
BASELINES: Final = ("prior", "asked", "surface", "lexicon")
FEWEST: Final = 5
"""Yes answers, and no answers, that a question needs in the test data to count."""
RESAMPLES: Final = 1000
STRENGTH: Final = 0.1
SETTINGS: Final = Settings(stages=("assess", "prefer"))

Array = Any
Key = tuple[Hashable, ...]
Sides = ("observed", "preferred")


class Exchange(NamedTuple):
    """One turn, with its position."""

    place: tuple[int, int]
    """Index of its conversation, and its number."""
    participant: str
    turn: Turn

    @property
    def sign(self) -> bool | None:
        """Whether the feelings tagged are pleasant; None if there is none, or both kinds."""
        signs = {tag.emotion in POSITIVE for tag in self.turn.mood_shift_tags or ()}
        return signs.pop() if len(signs) == 1 else None

    def answers(self, side: str) -> dict[str, bool]:
        """Question -> whether its answer is yes, where it applies."""
        found = {j.question_id: getattr(j, side) for j in self.turn.judgements}
        return {question: answer == "yes" for question, answer in found.items() if answer in ("yes", "no")}

    def choices(self) -> dict[int, tuple[str, str, str, bool]]:
        """Index of a comparison -> its question, the text of either side, whether A won."""
        texts = self.turn.responses
        return {i: (c.question_id, a, b, c.winner == "A") for i, c in enumerate(self.turn.comparisons)
                if c.winner and (a := texts[c.response_a]) and (b := texts[c.response_b])}  # fmt: skip


def exchanges(conversations: Iterable[Conversation]) -> list[Exchange]:
    """Every turn of some conversations."""
    return [Exchange((i, turn.turn_number), c.participant, turn)
            for i, c in enumerate(conversations) for turn in c.turns]  # fmt: skip


@dataclass
class Predicted:
    """The predictions of a reader or a baseline for each turn."""

    answers: dict[Key, bool] = field(default_factory=dict)
    """(place, side, question) -> yes"""
    signs: dict[Key, float] = field(default_factory=dict)
    """place -> how pleasant the person feels"""
    choices: dict[Key, bool] = field(default_factory=dict)
    """(place, index) -> A"""


def tokens(text: str) -> list[str]:
    """The words of a text, including question and exclamation marks."""
    return re.findall(r"[\w']+|[!?]", text.lower().replace("’", "'"))


class Bags:
    """Texts as sets of words and pairs of words; those in fewer than three texts are left out."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.vectorizer = CountVectorizer(
            tokenizer=tokens, token_pattern=None, lowercase=False, ngram_range=(1, 2), min_df=3, binary=True
        ).fit(texts)

    def __call__(self, texts: Sequence[str]) -> Array:
        """One sparse row per text."""
        return self.vectorizer.transform(texts).astype(np.float32)


def fitted(rows: Array, labels: Sequence[bool], *, intercept: bool = True) -> LogisticRegression | bool:
    """A logistic regression with balanced classes, or the only answer that occurs."""
    if len(set(labels)) < 2:
        return labels[0]
    model = LogisticRegression(C=STRENGTH, max_iter=500, class_weight="balanced", fit_intercept=intercept)
    return model.fit(rows, list(labels))


def scored(model: LogisticRegression | bool, rows: Array) -> Array:
    """Above 0 for yes."""
    return (
        np.full(rows.shape[0], 2.0 * model - 1) if isinstance(model, bool) else model.decision_function(rows)
    )


class Reader:
    """Linear models over words: one for valence, one per question, one for choices."""

    def __init__(self, conversations: Iterable[Conversation]) -> None:
        turns = exchanges(conversations)
        self.messages = Bags([one.turn.user_message for one in turns])
        self.replies = Bags([one.turn.llm_response for one in turns])
        tagged = [one for one in turns if one.sign is not None]
        self.valence = fitted(self.messages([one.turn.user_message for one in tagged]),
                              [bool(one.sign) for one in tagged])  # fmt: skip
        rows = {side: self.rows(turns, side) for side in Sides}
        self.questions = {}
        for side in Sides:
            known = [one.answers(side) for one in turns]
            for question in sorted({question for answers in known for question in answers}):
                where = [i for i, answers in enumerate(known) if question in answers]
                labels = [known[i][question] for i in where]
                self.questions[side, question] = fitted(rows[side][where], labels)
        chosen = [choice for one in turns for choice in one.choices().values()]
        self.choice = fitted(self.differences(chosen), [won for *_, won in chosen], intercept=False)

    def rows(self, turns: Sequence[Exchange], side: str) -> Array:
        """The reply's words; for what the person would have wanted, also the message's."""
        replies = self.replies([one.turn.llm_response for one in turns])
        if side == "observed":
            return replies
        return sparse.hstack([replies, self.messages([one.turn.user_message for one in turns])]).tocsr()

    def differences(self, choices: Sequence[tuple[str, str, str, bool]]) -> Array:
        """Words of side A minus words of side B."""
        return self.replies([a for _, a, _, _ in choices]) - self.replies([b for _, _, b, _ in choices])

    def read(self, conversations: Iterable[Conversation]) -> Predicted:
        """Its predictions for each turn."""
        turns, found = exchanges(conversations), Predicted()
        signs = scored(self.valence, self.messages([one.turn.user_message for one in turns]))
        found.signs = {(one.place,): float(sign) for one, sign in zip(turns, signs, strict=True)}
        for side in Sides:
            rows = self.rows(turns, side)
            for (of, question), model in self.questions.items():
                if of == side:
                    yes = map(bool, scored(model, rows) > 0)
                    found.answers |= {
                        (one.place, side, question): said for one, said in zip(turns, yes, strict=True)
                    }
        choices = {(one.place, i): choice for one in turns for i, choice in one.choices().items()}
        picks = scored(self.choice, self.differences(list(choices.values()))) > 0
        found.choices = dict(zip(choices, map(bool, picks), strict=True))
        return found


def played(name: str, conversations: Conversations) -> Predicted:
    """The predictions of a built-in policy for each turn."""
    policy, found = builtin_policy(name, conversations, SETTINGS), Predicted()
    for i, conversation in enumerate(conversations):
        for step in rollout(conversation, policy, SETTINGS).steps:
            place, said = (i, step.request.turn or 0), step.outcome
            if isinstance(said, Assess):
                found.signs[place,] = sum(
                    (1 if tag.emotion in POSITIVE else -1) * (tag.intensity or 4) for tag in said.tags or ()
                )
                for side, answers in (("observed", said.observed), ("preferred", said.preferred)):
                    found.answers |= {(place, side, question): a == "yes" for question, a in answers.items()}
            elif isinstance(said, Prefer):
                found.choices |= {(place, index): side == "A" for index, side in said.picks.items()}
    return found


class Interval(NamedTuple):
    """A value with its 95% bootstrap interval over participants."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f}–{self.high:.3f})"


class Measure:
    """Scores predictions about some conversations; the same resamples of participants for all of them."""

    def __init__(self, conversations: Conversations) -> None:
        self.turns = exchanges(conversations)
        who = sorted({one.participant for one in self.turns})
        self.index = {name: i for i, name in enumerate(who)}
        draws = np.random.default_rng(0).integers(len(who), size=(RESAMPLES, len(who)))
        counts = [np.ones(len(who)), *(np.bincount(draw, minlength=len(who)) for draw in draws)]
        self.weights = np.array(counts)
        """The first row has everybody exactly once."""

    def __call__(self, said: Predicted) -> dict[str, Interval]:
        """Part -> its value."""
        kinds: dict[str, tuple[str, Callable[[str], bool]]] = {
            "textual": ("observed", lambda question: question not in CONTEXTUAL),
            "contextual": ("observed", lambda question: question in CONTEXTUAL),
            "preferred": ("preferred", lambda question: True),
        }
        found = {part: self.balanced(said, *kind) for part, kind in kinds.items()}
        return found | {"valence": self.area(said), "pairwise": self.accuracy(said)}

    def balanced(self, said: Predicted, side: str, wanted: Callable[[str], bool]) -> Interval:
        """Balanced accuracy, pooled over turns, averaged over questions."""
        cells: dict[str, Array] = {}  # question -> participant × (no right, yes right, no, yes)
        for one in self.turns:
            for question, yes in filter(lambda item: wanted(item[0]), one.answers(side).items()):
                cell = cells.setdefault(question, np.zeros((len(self.index), 4)))
                row = cell[self.index[one.participant]]
                row[int(yes)] += (
                    said.answers.get((one.place, side, question)) is yes
                )  # a bool would be a mask
                row[2 + yes] += 1
        values = []
        for _, cell in sorted(cells.items()):
            if cell[:, 2:].sum(0).min() >= FEWEST:
                right = self.weights @ cell
                with np.errstate(invalid="ignore", divide="ignore"):
                    values.append((right[:, :2] / right[:, 2:]).mean(1))
        if not values:
            return Interval(np.nan, np.nan, np.nan)
        with catch_warnings():  # a resample may lack all answers of a kind
            simplefilter("ignore", RuntimeWarning)
            return self.interval(np.nanmean(values, axis=0))

    def area(self, said: Predicted) -> Interval:
        """Area under the curve of pleasant against unpleasant, among turns tagged with one kind."""
        tagged = [one for one in self.turns if one.sign is not None]
        scores = [said.signs.get((one.place,), 0.0) for one in tagged]
        levels, level = np.unique(scores, return_inverse=True)
        counts = np.zeros((2, len(self.index), len(levels)))
        for one, column in zip(tagged, level, strict=True):
            counts[int(bool(one.sign)), self.index[one.participant], column] += 1
        bad, good = (self.weights @ side for side in counts)
        below = np.cumsum(bad, axis=1) - bad / 2  # a tie counts half
        with np.errstate(invalid="ignore"):
            return self.interval((good * below).sum(1) / (good.sum(1) * bad.sum(1)))

    def accuracy(self, said: Predicted) -> Interval:
        """Share of comparisons whose winner was picked."""
        cell = np.zeros((len(self.index), 2))
        for one in self.turns:
            for i, (*_, won) in one.choices().items():
                cell[self.index[one.participant]] += said.choices.get((one.place, i)) is won, 1
        right = self.weights @ cell
        return self.interval(right[:, 0] / right[:, 1])

    def interval(self, values: Array) -> Interval:
        """The first value, within the middle 95% of the others."""
        low, high = np.nanpercentile(values[1:], [2.5, 97.5])
        return Interval(float(values[0]), float(low), float(high))


def written(part: str) -> Conversations | None:
    """A part of the written corpus; None as long as it is not written."""
    try:
        return load(f"written:{part}")
    except DataError as error:
        if "no conversation" in str(error):
            return None
        raise


def table(grammar: int, unseen: int, seed: int) -> dict[str, dict[str, dict[str, Interval]]]:
    """Test data -> what was fitted, or the baseline -> part -> value."""
    world = Simulation(seed, topics="seen", templates="seen").take(grammar)
    sources: dict[str, list[Conversation]] = {"grammar": list(world)}
    if train := written("train"):
        sources |= {"written": list(train), "both": [*world, *train]}
    readers = {name: Reader(conversations) for name, conversations in sources.items()}
    first = -(-grammar // 6) * 6  # a person's conversations are within a block of six
    others = Simulation(seed, topics="seen", templates="unseen", start=first)
    tests = {"unseen phrases": others.take(unseen), "written:test": written("test"), "sample": load("sample")}
    found: dict[str, dict[str, dict[str, Interval]]] = {}
    for name, test in tests.items():
        if test is None:
            continue
        measure = Measure(test)
        rows = {f"fitted on {source}": measure(reader.read(test)) for source, reader in readers.items()}
        rows |= {policy: measure(played(policy, test)) for policy in BASELINES}
        rows["ceiling"] = measure(played("oracle", test))
        if name == "unseen phrases":
            best = latent_ceiling(others, range(first, first + unseen))["pairwise"]
            rows["ceiling"]["pairwise"] = Interval(best, best, best)
        found[name] = rows
    return found


def show(found: dict[str, dict[str, dict[str, Interval]]]) -> None:
    """Print the table, and the targets that are missed."""
    for test, rows in found.items():
        print(f"\n### {test}\n\n| | {' | '.join(PARTS)} |\n|---|{'---|' * len(PARTS)}")
        for name, values in rows.items():
            print(f"| {name} | {' | '.join(str(values[part]) for part in PARTS)} |")
    reached = found.get("written:test", {})
    for part, aim in AIMS.items() if reached else ():
        value = reached["fitted on written"][part].value
        best = max(reached[name][part].value for name in BASELINES)
        verdict = "reached" if value >= aim and value > best else "missed"
        print(f"\n{part} {value:.3f}: {verdict} (aim {aim:.2f}, best baseline {best:.3f})")
    if not reached:
        print("\nThe written corpus is not written yet: its rows are left out.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--grammar", type=int, default=1600, help="simulated conversations to fit on")
    parser.add_argument("--unseen", type=int, default=400, help="simulated conversations to test on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="write the values as JSON too")
    chosen = parser.parse_args()
    results = table(chosen.grammar, chosen.unseen, chosen.seed)
    show(results)
    if chosen.output:
        plain = {test: {row: {part: value._asdict() for part, value in values.items()}
                        for row, values in rows.items()} for test, rows in results.items()}  # fmt: skip
        chosen.output.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
