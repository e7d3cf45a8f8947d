"""Measure how far a linear reader gets on simulated people, between the baselines and the ceiling.

Fits bags of words (crossed with the question and with what the reply claims) on simulated conversations and
scores it on people it has not seen, and with --unseen also on unseen topics and phrases. Needs
scikit-learn. Run: python examples/linear_reader.py --train 2000 --test 600 --unseen (some ten minutes;
the defaults are a quick look, too few conversations to learn much).
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from attune_data.affect import EMOTIONS, POSITIVE, SIMILARITY
from attune_data.selection import Where
from attune_data.simulate.constructs import CONTEXTUAL
from attune_data.simulate.texts import Part, texts
from attune_env import (
    Conversation,
    Conversations,
    Policy,
    Request,
    Settings,
    Simulation,
    builtin_policy,
    plan,
    rollout,
)
from attune_env.statistics.bootstrap import Bootstrap
from attune_episodes.ceiling import latent_ceiling
from attune_episodes.request import ShownComparison
from attune_rewards import Assess, Prediction, Prefer, Reflect
from attune_rewards.emotion import va_score
from attune_rewards.predictions import Stage, Tag, YesNo
from attune_rewards.truth import TurnTruth, truth_of

SETTINGS = Settings(stages=("assess", "prefer"))
CLAIMS = re.compile("|".join(claim for family in texts().families.values() for claim in family.claims))
NONE = "(none)"
ROWS = ("emotion", "textual", "contextual", "preferred", "pairwise")
ACT_WORDS = {
    "could", "might", "step", "help", "because", "makes", "wonder", "understandable", "what", "how", "sound",
    "perhaps", "maybe", "clearly", "rule", "general", "sense", "view",
}  # fmt: skip
Bag = list[str]
Rows = Any  # a sparse matrix of scipy
Array = Any  # of numpy


def words(text: str, *, pairs: bool = True) -> Bag:
    """The words of a text, including question and exclamation marks, and pairs of adjacent ones."""
    found = re.findall(r"[\w']+|[!?]", text.lower())
    return [*dict.fromkeys(found), *(dict.fromkeys(f"{a}_{b}" for a, b in pairwise(found)) if pairs else ())]


class Bags:
    """Bags of words as rows of a sparse matrix; words seen in fewer than three bags are left out."""

    def __init__(self, bags: list[Bag]) -> None:
        self.vectorizer = CountVectorizer(analyzer=list, min_df=3, dtype=np.float32).fit(bags)

    def rows(self, bags: list[Bag]) -> Rows:
        """One row per bag."""
        return self.vectorizer.transform(bags)


def fitted(rows: Rows, labels: list[str], strength: float, *, intercept: bool = True) -> LogisticRegression:
    """A logistic regression; a row of zeros keeps the other label in where only one occurs."""
    missing = {"yes", "no"} - set(labels) if set(labels) <= {"yes", "no"} else set()
    if missing:
        rows, labels = sparse.vstack([rows, rows[:1] * 0]), [*labels, *missing]
    return LogisticRegression(C=strength, max_iter=300, fit_intercept=intercept).fit(rows, labels)


class Reader:
    """Linear models over words: one for the feelings, one per question, one for the choices."""

    name = "linear"

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        asked = [
            (truth_of(c).by_number[r.turn], r) for c in conversations for r in plan(c, SETTINGS) if r.turn
        ]
        assess = [(turn, request) for turn, request in asked if request.stage == "assess"]
        messages = [words(request.user_message) for _, request in assess]
        self.messages = Bags(messages)
        felt = [turn.tags[0].emotion if turn.tags else NONE for turn, _ in assess]
        self.feelings = fitted(self.messages.rows(messages), felt, 0.1)
        self.none = list(self.feelings.classes_).index(NONE)
        likely = self.feelings.predict_proba(self.messages.rows(messages))
        replies = [self.reply_bag(request, row) for (_, request), row in zip(assess, likely, strict=True)]
        self.replies = Bags(replies)
        self.questions = self.fit_questions(self.replies.rows(replies), [turn for turn, _ in assess])
        chosen = [(pair, comparison.to_shown(winner)) for turn, request in asked if request.stage == "prefer"
                  for comparison, pair in self.sides(request)
                  if (winner := dict(turn.winners).get(comparison.index))]  # fmt: skip
        self.texts = Bags([side for (a, b), _ in chosen for side in (a, b)])
        self.choice = fitted(
            self.differences([pair for pair, _ in chosen]), [side for _, side in chosen], 0.1, intercept=False
        )

    def fit_questions(self, rows: Rows, turns: list[TurnTruth]) -> dict[tuple[str, str], LogisticRegression]:
        """(observed or preferred, question) -> its model."""
        found: dict[tuple[str, str], list[tuple[int, YesNo]]] = {}
        for i, turn in enumerate(turns):
            for side, answers in (("observed", turn.observed), ("preferred", turn.preferred)):
                for question, answer in answers:
                    found.setdefault((side, question), []).append((i, answer))
        return {
            (side, question): fitted(rows[[i for i, _ in those]], [answer for _, answer in those],
                                     0.03 if question in CONTEXTUAL or side == "preferred" else 0.1)
            for (side, question), those in found.items()
        }  # fmt: skip

    def reply_bag(self, request: Request, felt: Array) -> Bag:
        """The reply's words, and its claims crossed with what was read from the message."""
        likely = [str(self.feelings.classes_[i]) for i in np.argsort(-felt)[:3]]
        pleasant = np.isin(self.feelings.classes_, POSITIVE)
        likely.append(
            "pleasant" if felt[pleasant].sum() > felt[~pleasant].sum() - felt[self.none] else "unpleasant"
        )
        claims = CLAIMS.findall(request.reply or "")
        crossed = [f"{claim}×{feeling}" for claim in claims for feeling in likely]
        return [*words(request.reply or "", pairs=False), *crossed, f"turn {request.turn}"]

    def sides(self, request: Request) -> Iterator[tuple[ShownComparison, tuple[Bag, Bag]]]:
        """Each comparison's two bags: words, crossed with the question and with the end of the message."""
        wanted = words(request.user_message[-80:], pairs=False)[:12]
        bags = {}
        for label, text in request.responses.items():
            plain = words(text, pairs=False)
            bags[label] = plain, [f"{w}×{act}" for w in wanted for act in plain if act in ACT_WORDS]
        for c in request.comparisons:
            a, b = (
                [*bags[x][0], *bags[x][1], *(f"{c.question}×{w}" for w in bags[x][0])]
                for x in (c.label_a, c.label_b)
            )
            yield c, (a, b)

    def differences(self, pairs: list[tuple[Bag, Bag]]) -> Rows:
        """Side A minus side B."""
        return self.texts.rows([a for a, _ in pairs]) - self.texts.rows([b for _, b in pairs])

    def felt(self, request: Request) -> Array:
        """Probabilities over `feelings.classes_`."""
        return self.feelings.predict_proba(self.messages.rows([words(request.user_message)]))[0]

    def reply(self, request: Request) -> Prediction:
        """The answer to one request."""
        if request.stage == "prefer":
            found = list(self.sides(request))
            sides = self.choice.predict(self.differences([pair for _, pair in found]))
            return Prefer(
                {c.index: c.to_conversation(side) for (c, _), side in zip(found, sides, strict=True)}
            )
        if request.stage != "assess":
            return Reflect()
        felt = self.felt(request)
        row = self.replies.rows([self.reply_bag(request, felt)])
        observed, preferred = (
            {
                q: self.questions[side, q].predict(row)[0]
                for q in request.questions
                if (side, q) in self.questions
            }
            for side in ("observed", "preferred")
        )
        return Assess(self.tags(felt), observed, preferred)

    def tags(self, felt: Array) -> tuple[Tag, ...]:
        """The one tag, or none, with the highest expected mean of F1 and VA under the probabilities."""
        chance = dict(zip(self.feelings.classes_, felt, strict=True))
        worth = {NONE: chance.get(NONE, 0.0)}
        for item in EMOTIONS:
            near = sum(p * SIMILARITY[item, other] for other, p in chance.items() if other != NONE)
            worth[item] = 0.5 * chance.get(item, 0.0) + 0.5 * near
        best = max(worth, key=lambda name: worth[name])
        return () if best == NONE else (Tag(best, 4),)

    def two_tags(self, request: Request) -> tuple[Tag, ...]:
        """The two likeliest items: a reader that never answers "none"."""
        order = [str(self.feelings.classes_[i]) for i in np.argsort(-self.felt(request))]
        return tuple(Tag(item, 4) for item in order if item != NONE)[:2]


def scores(conversation: Conversation, policy: Policy) -> list[float]:
    """A conversation's value for each of `ROWS`, averaged over its turns."""
    found: dict[str, list[float]] = {row: [] for row in ROWS}
    for step in rollout(conversation, policy, SETTINGS).steps:
        parts = step.score.parts
        if step.request.stage == "prefer":
            found["pairwise"].append(parts["pairwise"])
        elif isinstance(step.outcome, Assess):
            found["emotion"].append((parts["emotion_f1"] + parts["emotion_va"]) / 2)
            found["preferred"].append(parts["binary_hp"])
            for kind, wanted in (("textual", False), ("contextual", True)):
                asked = [(q, a) for q, a in truth_of(conversation).by_number[step.request.turn or 0].observed
                         if (q in CONTEXTUAL) is wanted]  # fmt: skip
                if asked:
                    found[kind].append(sum(step.outcome.observed.get(q) == a for q, a in asked) / len(asked))
    return [float(np.mean(values)) if values else np.nan for values in found.values()]


def compare(reader: Reader, train: Conversations, test: Conversations, ceiling: dict[str, float]) -> None:
    """Print what each policy earns on the test conversations, and by how much it exceeds `prior`."""
    prior, lexicon = (
        builtin_policy("prior", test, SETTINGS, fit_on=train),
        builtin_policy("lexicon", test, SETTINGS),
    )
    values = [np.array([scores(c, policy) for c in test]) for policy in (prior, lexicon, reader)]
    top = {
        "emotion": (ceiling["emotion_f1"] + ceiling["emotion_va"]) / 2,
        "textual": 1.0,
        "contextual": ceiling["binary_om_contextual"],
        "preferred": ceiling["binary_hp"],
        "pairwise": ceiling["pairwise"],
    }
    kernel = Bootstrap(len(test), [c.participant for c in test])
    gains = [kernel.intervals(value - values[0]) for value in values[1:]]
    print("| part | prior | lexicon | over prior | linear | over prior | ceiling |")
    print("|---|---|---|---|---|---|---|")
    for i, row in enumerate(ROWS):
        cells = [f"{np.nanmean(values[0][:, i]):.3f}"]
        for value, gain in zip(values[1:], gains, strict=True):
            cells += [f"{np.nanmean(value[:, i]):.3f}",
                      f"{gain[i].mean:+.3f} ({gain[i].low:+.3f} to {gain[i].high:+.3f})"]  # fmt: skip
        print(f"| {row} | {' | '.join(cells)} | {top[row]:.3f} |", flush=True)


def aims(reader: Reader, test: Conversations) -> None:
    """Print the values of the reader and the baselines for the quantities in the published figures."""
    third: list[list[float]] = [[], [], []]
    va: dict[bool, list[float]] = {False: [], True: []}
    neutral: dict[bool, list[bool]] = {False: [], True: []}
    om, hp = [], []
    for conversation in test:
        diagnosed = not Where.parse("diagnosis=none").holds(conversation)
        for step in rollout(conversation, reader, SETTINGS).steps:
            if step.request.stage == "assess":
                turn = truth_of(conversation).by_number[step.request.turn or 0]
                va[diagnosed].append(va_score(turn.tags or (), reader.two_tags(step.request)))
                neutral[diagnosed].append(not turn.tags)
                om.append(step.score.parts["binary_om"])
                hp.append(step.score.parts["binary_hp"])
                third[3 * (turn.turn - 1) // len(conversation.turns)].append(om[-1])

    def mean_total(policy: str, *stages: Stage) -> float:
        settings = Settings(stages=stages)
        player = builtin_policy(policy, test, settings)
        return float(np.mean([rollout(c, player, settings).total for c in test]))

    groups = [[*neutral[False], *neutral[True]], neutral[False], neutral[True]]
    reads = [[*va[False], *va[True]], va[False], va[True]]
    picks = [mean_total(name, "prefer") for name in ("longest", "shortest", "copy", "always-yes")]
    totals = [100 * mean_total(name, "assess", "prefer", "reflect") for name in ("empty", "prior", "lexicon")]
    rows: dict[str, tuple[list[Any], str]] = {
        "turns without a tag: all, no diagnosis, any": (groups, ".2f"),
        "emotion VA of a reader that always gives two tags: all, no diagnosis, any": (reads, ".2f"),
        "observed behaviour, linear reader: all, thirds of a conversation": ([om, *third], ".3f"),
        "preferred behaviour, linear reader": ([hp], ".3f"),
        "perspective gap (observed less preferred)": ([np.mean(om) - np.mean(hp)], "+.3f"),
        "pairwise: longest, shortest, copy, always A": (picks, ".3f"),
        "strict Composite: empty, prior, lexicon": (totals, ".1f"),
    }
    print("\n| quantity | measured |\n|---|---|")
    for name, (values, form) in rows.items():
        print(f"| {name} | {', '.join(format(float(np.mean(value)), form) for value in values)} |")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--train", type=int, default=240)
    arguments.add_argument("--test", type=int, default=60)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--unseen", action="store_true")
    chosen = arguments.parse_args()
    first = -(-chosen.train // 6) * 6  # a person's conversations are within a block of six
    worlds: list[tuple[Part, Part]] = [("all", "all")]
    if chosen.unseen:
        worlds += [("unseen", "seen"), ("seen", "unseen"), ("unseen", "unseen")]
    fit: dict[Part, tuple[Reader, Conversations]] = {}
    for topics, phrases in worlds:
        part: Part = "all" if topics == phrases == "all" else "seen"
        if part not in fit:
            train = Simulation(chosen.seed, topics=part, templates=part).take(chosen.train)
            fit[part] = Reader(train), train
        world = Simulation(chosen.seed, topics=topics, templates=phrases, start=first)
        test = world.take(chosen.test)
        print(f"\n{chosen.train} conversations fitted, {part} topics and phrases; tested on {chosen.test} of")
        print(f"other people, {topics} topics and {phrases} phrases\n")
        compare(*fit[part], test, latent_ceiling(world, range(first, first + chosen.test)))
        if part == "all":
            aims(fit[part][0], test)
