"""`asked`: answer only from which yes/no questions a turn asks, without reading any text.

Which questions apply is itself an annotation that the protocol has to reveal: some are asked only if there
was a feeling, some only if another question has a certain answer. This policy exploits that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from attune_data.format.affect import EMOTIONS
from attune_data.format.schema import Conversation
from attune_episodes.policies import fitted
from attune_episodes.policies.base import BuiltinPolicy, Given
from attune_episodes.policies.constant import MIDPOINT, Answers
from attune_episodes.policies.fitted import FittedPolicy
from attune_episodes.protocol.request import Request
from attune_rewards.metrics import emotion
from attune_rewards.predictions import Prediction, Tag, YesNo
from attune_rewards.truth import TurnTruth, truth_of

POLICIES: Final = {
    "asked": {
        "kind": "shallow",
        "fitted": True,
        "uses": "which questions are asked, but no text; fitted like `prior`",
        "answers": "as `prior`, except where the list of questions reveals more",
    },
}
SIDES: Final = ("observed", "preferred")
TAG_SETS: Final[tuple[tuple[Tag, ...], ...]] = ((), *((Tag(name, MIDPOINT),) for name in EMOTIONS))


class Split(NamedTuple):
    """A rule: one answer if a question is asked, another if it is not."""

    question: str
    asked: int
    """Index of the answer (into the tag sets, or 1 = yes, 0 = no)."""
    otherwise: int

    def choose(self, questions: Sequence[str]) -> int:
        """The answer for a turn with these questions."""
        return self.asked if self.question in questions else self.otherwise


class AskedRules(NamedTuple):
    """Rules based on the list of questions: one for the tags, one for each question and side."""

    tags: Split
    answers: Mapping[tuple[str, str], Split]

    def said(self, side: str, questions: Sequence[str]) -> dict[str, YesNo]:
        """The answers to these questions on one side, as far as there are rules."""
        found = {question: self.answers.get((side, question)) for question in questions}
        return {q: "yes" if split.choose(questions) else "no" for q, split in found.items() if split}


def fit_asked(conversations: Sequence[Conversation]) -> AskedRules:
    """Find, for the tags and each yes/no answer, the question whose presence is most informative."""
    turns = [turn for conversation in conversations for turn in truth_of(conversation).turns]
    questions = sorted({question for turn in turns for question in turn.applicable})

    def best(rows: Sequence[tuple[TurnTruth, Sequence[float]]]) -> Split:
        """Find the question whose presence best separates two constant answers.

        Each row is a turn with what each answer earns in it.
        """
        if not rows:
            return Split("", 0, 0)
        worth = np.array([earned for _, earned in rows], dtype=float)
        total = worth.sum(axis=0)
        if not questions:
            return Split("", int(np.argmax(total)), int(np.argmax(total)))
        asked = np.array([[q in turn.applicable for q in questions] for turn, _ in rows], dtype=float)
        present = asked.T @ worth
        absent = total - present
        first = int(np.argmax(present.max(axis=1) + absent.max(axis=1)))
        return Split(questions[first], int(np.argmax(present[first])), int(np.argmax(absent[first])))

    tags = best([
        (turn, [emotion.f1(felt, tags) + emotion.va_score(felt, tags) for tags in TAG_SETS])
        for turn in turns
        if (felt := turn.tags) is not None
    ])  # fmt: skip
    answers = {}
    for side in SIDES:
        given = [(turn, dict(getattr(turn, side))) for turn in turns]
        for q in questions:
            if rows := [(turn, (known[q] == "no", known[q] == "yes")) for turn, known in given if q in known]:
                answers[side, q] = best(rows)
    return AskedRules(tags, answers)


class AskedPolicy(BuiltinPolicy):
    """Plays the prior's answers, except where the list of questions reveals more.

    Args:
        prior: gives the other answers; its folds are used.
        conversations: the conversations on which the prior was fitted.
    """

    name = "asked"

    def __init__(self, prior: FittedPolicy, conversations: Sequence[Conversation]) -> None:
        self.prior = prior
        self._rules = prior.on_folds(conversations, lambda others, settings: fit_asked(others))

    def for_conversation(self, conversation: Conversation) -> AskedPlayer:
        """The policy fitted without this conversation's participant."""
        rules = self._rules[self.prior.fold_of(conversation)]
        return AskedPlayer(self.prior.for_conversation(conversation).answers, rules)


def make(name: str, given: Given) -> AskedPolicy:
    """Make this policy."""
    return AskedPolicy(fitted.make("prior", given), given.fitting)


@dataclass(frozen=True, slots=True)
class AskedPlayer(BuiltinPolicy):
    """`asked` for one conversation."""

    prior: Answers
    rules: AskedRules
    name: str = "asked"

    def prediction(self, request: Request) -> Prediction:
        """The prior's answer, except where the list of questions reveals more."""
        return self.answers(request).prediction(request)

    def answers(self, request: Request) -> Answers:
        """Answer this request."""
        if request.stage not in ("assess", "assess_hp"):
            return self.prior
        return replace(
            self.prior,
            tags=TAG_SETS[self.rules.tags.choose(request.questions)],
            observed={**self.prior.observed, **self.rules.said("observed", request.questions)},
            preferred={**self.prior.preferred, **self.rules.said("preferred", request.questions)},
        )
