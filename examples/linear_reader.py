"""How far a linear reader gets on simulated people: it stands between the nulls and the ceiling.

Fits bags of words (crossed with the question and with what the reply claims) on simulated conversations and
scores the fit on people it has not met; with --unseen also on topics and phrases it has not met. Needs
scikit-learn. Run: python examples/linear_reader.py [--train 2000] [--test 600] [--seed 1] [--unseen]
"""

import argparse
import re
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from attune_data.affect import EMOTIONS, SIMILARITY
from attune_data.simulate import Simulation
from attune_data.simulate.constructs import CONTEXTUAL
from attune_data.simulate.person import NO_DIAGNOSIS
from attune_data.simulate.texts import texts
from attune_env import Conversation, Conversations, Request, Settings, builtin_policy, plan, rollout
from attune_env.statistics.bootstrap import Bootstrap
from attune_episodes.ceiling import latent_ceiling
from attune_rewards import Assess, Prediction, Prefer, Reflect
from attune_rewards.emotion import va_score
from attune_rewards.predictions import Tag
from attune_rewards.truth import truth_of

SETTINGS = Settings(stages=("assess", "prefer"))
CLAIMS = re.compile("|".join(claim for family in texts().families.values() for claim in family.claims))
NONE = "(none)"
ROWS = ("emotion", "textual", "contextual", "preferred", "pairwise")
Words = list[str]


def words(text: str, prefix: str = "") -> Words:
    """Words and pairs of words, each once."""
    found = re.findall(r"[\w']+", text.lower())
    return [f"{prefix}{w}" for w in {*found, *(f"{a}_{b}" for a, b in zip(found, found[1:], strict=False))}]


class Reader:
    """Linear models over words: one for the feelings, one for each question, one for the choices."""

    name = "linear"

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        asked = [(c, r) for c in conversations for r in plan(c, SETTINGS)]
        assess = [(truth_of(c).turn(r.turn or 0), r) for c, r in asked if r.stage == "assess"]
        self.feelings = Linear([words(r.user_message) for _, r in assess],
                               [t.tags[0].emotion if t and t.tags else NONE for t, r in assess])  # fmt: skip
        felt = self.feelings.probabilities([words(r.user_message) for _, r in assess])
        found: dict[tuple[str, str], tuple[list[Words], list[str]]] = {}
        for (turn, request), probabilities in zip(assess, felt, strict=True):
            seen = self.reply_words(request, probabilities)
            for side, answers in (("observed", turn.observed), ("preferred", turn.preferred)) if turn else ():
                for question, answer in answers:
                    xs, ys = found.setdefault((side, question), ([], []))
                    xs.append(seen)
                    ys.append(answer)
        self.questions = {
            (side, question): Linear(
                xs, ys, strength=0.01 if question in CONTEXTUAL or side == "preferred" else 0.1
            )
            for (side, question), (xs, ys) in found.items()
        }
        choices = [(truth_of(c).turn(r.turn or 0), r) for c, r in asked if r.stage == "prefer"]
        rows, won = [], []
        for turn, request in choices:
            winners = dict(turn.winners) if turn else {}
            for comparison, pair in self.pairs(request):
                if comparison.index in winners:
                    rows.append(pair)
                    won.append(comparison.to_shown(winners[comparison.index]))
        self.choice = Linear([a for a, _ in rows], won, minus=[b for _, b in rows])

    def reply_words(self, request: Request, felt: np.ndarray) -> Words:
        """The reply's words, and its claims crossed with the feelings read from the message."""
        claims = CLAIMS.findall(request.reply or "")
        likely = [str(self.feelings.model.classes_[i]) for i in np.argsort(-felt)[:3]]
        crossed = [f"claim:{claim}×{feeling}" for claim in claims for feeling in likely]
        plain = [w for w in words(request.reply or "", "r:") if "_" not in w]
        return [*plain, *crossed, f"turn:{request.turn}"]

    def pairs(self, request: Request) -> Iterator[tuple[object, tuple[Words, Words]]]:
        """For each comparison, the words of both sides, also crossed with the question and with what was asked."""
        goal = words(request.user_message.splitlines()[-1][-80:])
        for comparison in request.comparisons:
            sides = []
            for label in (comparison.label_a, comparison.label_b):
                plain = [w for w in words(request.responses[label]) if "_" not in w]
                crossed = [f"{comparison.question}×{w}" for w in plain]
                marks = [w for w in plain if w in ACT_WORDS]
                sides.append([*plain, *crossed, *(f"{g}×{w}" for g in goal[:12] for w in marks)])
            yield comparison, (sides[0], sides[1])

    def reply(self, request: Request) -> Prediction:
        """The answer to one request."""
        if request.stage == "prefer":
            pairs = list(self.pairs(request))
            sides = self.choice.predict([a for _, (a, _) in pairs], minus=[b for _, (_, b) in pairs])
            return Prefer({c.index: c.to_conversation(s) for (c, _), s in zip(pairs, sides, strict=True)})
        if request.stage != "assess":
            return Reflect()
        felt = self.feelings.probabilities([words(request.user_message)])[0]
        seen = self.reply_words(request, felt)
        answers = {
            side: {q: self.questions[side, q].predict([seen])[0] if (side, q) in self.questions else "no"
                   for q in request.questions}
            for side in ("observed", "preferred")
        }  # fmt: skip
        return Assess(self.tags(felt), answers["observed"], answers["preferred"])

    def two_tags(self, request: Request) -> tuple[Tag, ...]:
        """The two likeliest items: a reader that never answers "none", as the benchmark's models seldom do."""
        felt = self.feelings.probabilities([words(request.user_message)])[0]
        order = [str(self.feelings.model.classes_[i]) for i in np.argsort(-felt)]
        return tuple(Tag(item, 4) for item in order if item != NONE)[:2]

    def tags(self, felt: np.ndarray) -> tuple[Tag, ...]:
        """The one tag, or none, with the highest expected mean of F1 and VA under the probabilities."""
        chance = dict(zip(self.feelings.model.classes_, felt, strict=True))
        worth = {NONE: chance.get(NONE, 0.0)}
        for item in EMOTIONS:
            near = sum(p * SIMILARITY[item, other] for other, p in chance.items() if other != NONE)
            worth[item] = 0.5 * chance.get(item, 0.0) + 0.5 * near
        best = max(worth, key=lambda name: worth[name])
        return () if best == NONE else (Tag(best, 4),)


ACT_WORDS = {"could", "might", "step", "help", "because", "makes", "wonder", "understandable", "what", "how",
             "sound", "you're", "perhaps", "maybe", "clearly", "rule", "general", "sense", "view", "or"}  # fmt: skip


class Linear:
    """Logistic regression over bags of words; of a difference of two bags where `minus` is given."""

    def __init__(
        self, bags: list[Words], labels: list[str], minus: list[Words] | None = None, strength: float = 0.1
    ) -> None:
        self.vectors = CountVectorizer(analyzer=lambda bag: bag, min_df=3, dtype=np.float32)
        self.vectors.fit([*bags, *(minus or [])])
        single = len(set(labels)) == 1
        self.only = labels[0] if single else None
        self.model = LogisticRegression(C=strength, max_iter=300, fit_intercept=minus is None)
        if not single:
            self.model.fit(self.rows(bags, minus), labels)

    def rows(self, bags: list[Words], minus: list[Words] | None) -> sparse.csr_matrix:
        rows = self.vectors.transform(bags)
        return rows - self.vectors.transform(minus) if minus is not None else rows

    def predict(self, bags: list[Words], minus: list[Words] | None = None) -> list:
        """The likeliest label of each."""
        return [self.only] * len(bags) if self.only else list(self.model.predict(self.rows(bags, minus)))

    def probabilities(self, bags: list[Words]) -> np.ndarray:
        """Rows of probabilities over `model.classes_`."""
        return self.model.predict_proba(self.rows(bags, None))


def scores(conversation: Conversation, policy: object) -> list[float]:
    """A conversation's value of each of `ROWS`: means over its turns."""
    found: dict[str, list[float]] = {row: [] for row in ROWS}
    for step in rollout(conversation, policy, SETTINGS).steps:
        parts = step.score.parts
        if "emotion_f1" in parts:
            found["emotion"].append((parts["emotion_f1"] + parts["emotion_va"]) / 2)
        if "binary_hp" in parts:
            found["preferred"].append(parts["binary_hp"])
        if "pairwise" in parts:
            found["pairwise"].append(parts["pairwise"])
        if isinstance(step.outcome, Assess):
            turn = truth_of(conversation).turn(step.request.turn or 0)
            for kind, wanted in (("textual", False), ("contextual", True)):
                right = [
                    step.outcome.observed.get(q) == a for q, a in turn.observed if (q in CONTEXTUAL) is wanted
                ]
                if right:
                    found[kind].append(sum(right) / len(right))
    return [float(np.mean(values)) if values else np.nan for values in found.values()]


def table(train: Conversations, test: Conversations, world: Simulation, indices: range) -> Reader:
    """Fits a reader, and prints what each policy earns on the test conversations, and how far above `prior` it is."""
    reader = Reader(train)
    policies = [
        builtin_policy("prior", test, SETTINGS, fit_on=train),
        builtin_policy("lexicon", test, SETTINGS),
        reader,
    ]
    values = [np.array([scores(c, policy) for c in test]) for policy in policies]
    ceiling = latent_ceiling(world, indices)
    top = {"emotion": (ceiling["emotion_f1"] + ceiling["emotion_va"]) / 2, "pairwise": ceiling["pairwise"],
           "textual": 1.0, "contextual": ceiling["binary_om_contextual"], "preferred": ceiling["binary_hp"]}  # fmt: skip
    kernel = Bootstrap(len(test), [c.participant for c in test])
    print(
        "| part | prior | lexicon | over prior | linear | over prior | ceiling |\n|---|---|---|---|---|---|---|"
    )
    gains = [kernel.intervals(value - values[0]) for value in values[1:]]
    for i, row in enumerate(ROWS):
        cells = [f"{np.nanmean(values[0][:, i]):.3f}"]
        for value, gain in zip(values[1:], gains, strict=True):
            cells += [
                f"{np.nanmean(value[:, i]):.3f}",
                f"{gain[i].mean:+.3f} ({gain[i].low:+.3f} to {gain[i].high:+.3f})",
            ]
        print(f"| {row} | {' | '.join(cells)} | {top[row]:.3f} |", flush=True)
    return reader


def aims(reader: Reader, test: Conversations) -> None:
    """Prints where the reader and the nulls stand in the quantities that the published figures name."""
    third: dict[int, list[float]] = {0: [], 1: [], 2: []}
    va: dict[bool, list[float]] = {False: [], True: []}
    neutral: dict[bool, list[bool]] = {False: [], True: []}
    om, hp = [], []
    for conversation in test:
        profile = conversation.participant_profile
        diagnosed = profile.demographics.diagnoses != (NO_DIAGNOSIS,)
        for step in rollout(conversation, reader, SETTINGS).steps:
            if step.request.stage != "assess":
                continue
            turn = truth_of(conversation).turn(step.request.turn)
            va[diagnosed].append(va_score(turn.tags, reader.two_tags(step.request)))
            neutral[diagnosed].append(not turn.tags)
            om.append(step.score.parts["binary_om"])
            hp.append(step.score.parts["binary_hp"])
            third[3 * (turn.turn - 1) // len(conversation.turns)].append(om[-1])
    full = Settings(stages=("assess", "prefer", "reflect"))
    totals = {name: np.mean([100 * rollout(c, builtin_policy(name, test, full), full).total for c in test])
              for name in ("empty", "prior", "lexicon")}  # fmt: skip
    picks = {name: np.mean([rollout(c, builtin_policy(name, test), Settings(stages=("prefer",))).total for c in test])
             for name in ("longest", "shortest", "copy", "always-yes")}  # fmt: skip
    both = [*va[False], *va[True]]
    rows = {
        "turns without a tag: all / no diagnosis / any":
            f"{np.mean([*neutral[False], *neutral[True]]):.2f} / {np.mean(neutral[False]):.2f} / {np.mean(neutral[True]):.2f}",
        "emotion VA of a reader that always gives two tags: all / no diagnosis / any":
            f"{np.mean(both):.2f} / {np.mean(va[False]):.2f} / {np.mean(va[True]):.2f}",
        "observed behaviour, linear: all; by thirds":
            f"{np.mean(om):.3f}; " + " ".join(f"{np.mean(values):.3f}" for values in third.values()),
        "preferred behaviour, linear; gap": f"{np.mean(hp):.3f}; {np.mean(om) - np.mean(hp):+.3f}",
        "pairwise: longest / shortest / nearest to the original / always A":
            " / ".join(f"{picks[name]:.3f}" for name in ("longest", "shortest", "copy", "always-yes")),
        "strict Composite: empty / prior / lexicon": " / ".join(f"{v:.1f}" for v in totals.values()),
    }  # fmt: skip
    print("\n| quantity | measured |\n|---|---|")
    print("\n".join(f"| {name} | {value} |" for name, value in rows.items()))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--train", type=int, default=2000)
    arguments.add_argument("--test", type=int, default=600)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--unseen", action="store_true")
    chosen = arguments.parse_args()
    first = -(-chosen.train // 6) * 6  # people hold up to two conversations of a block of six
    for topics, templates in [("all", "all")] + [
        ("unseen", "seen"),
        ("seen", "unseen"),
        ("unseen", "unseen"),
    ] * chosen.unseen:
        part = "seen" if topics != templates or topics == "unseen" else "all"
        train = Simulation(chosen.seed, topics=part, templates=part).take(chosen.train)
        world = Simulation(chosen.seed, topics=topics, templates=templates, start=first)
        print(
            f"\n{chosen.train} conversations to fit on; {chosen.test} of other people, {topics} topics, {templates} phrases\n"
        )
        test = world.take(chosen.test)
        fitted = table(train, test, world, range(first, first + chosen.test))
        if part == "all":
            aims(fitted, test)
