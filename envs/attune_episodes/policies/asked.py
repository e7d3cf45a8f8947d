"""`asked`: reads no text, only which yes/no questions a turn asks, and answers from that.

Which questions apply is itself an annotation, and the protocol has to show it: some are only asked where
there was a feeling, some only where another has one answer. This policy takes what can be had from that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from attune_data.affect import EMOTIONS
from attune_data.schema import Conversation
from attune_episodes.policies.base import BuiltinPolicy
from attune_episodes.policies.constant import MIDPOINT, Answers
from attune_episodes.policies.fitted import FittedPolicy
from attune_episodes.request import Request
from attune_rewards import emotion
from attune_rewards.predictions import Prediction, Tag, YesNo
from attune_rewards.truth import TurnTruth, truth_of

Array = npt.NDArray[np.float64]
SIDES: Final = ("observed", "preferred")
TAG_SETS: Final[tuple[tuple[Tag, ...], ...]] = ((), *((Tag(name, MIDPOINT),) for name in EMOTIONS))


@dataclass(frozen=True, slots=True)
class Split:
    """One answer where a question is asked, another where it is not."""

    question: str
    asked: int
    """Index of the answer (into the tag sets, or 1 = yes, 0 = no)."""
    otherwise: int

    def choose(self, questions: Sequence[str]) -> int:
        """The answer for a turn that asks these questions."""
        return self.asked if self.question in questions else self.otherwise


@dataclass(frozen=True, slots=True)
class AskedRules:
    """The information in the list of questions: one split for the tags, one for each question and side."""

    tags: Split
    answers: Mapping[tuple[str, str], Split]


def fit_asked(conversations: Sequence[Conversation]) -> AskedRules:
    """For the tags and each yes/no answer, the question whose being asked tells most about it."""
    turns = [turn for conversation in conversations for turn in truth_of(conversation).turns]
    questions = sorted({question for turn in turns for question in turn.applicable})
    shape = (len(turns), len(questions))
    asked = np.array([[q in turn.applicable for q in questions] for turn in turns], dtype=float).reshape(
        shape
    )
    tagged = [i for i, turn in enumerate(turns) if turn.tags is not None]
    worth = np.array([[_worth(turns[i], tags) for tags in TAG_SETS] for i in tagged])
    answers: dict[tuple[str, str], Split] = {}
    for side in SIDES:
        given = [dict(getattr(turn, side)) for turn in turns]
        for question in questions:
            rows = [i for i, known in enumerate(given) if question in known]
            right = np.array([[given[i][question] == "no", given[i][question] == "yes"] for i in rows])
            if rows:
                answers[side, question] = _best_split(questions, asked[rows], right.astype(float))
    return AskedRules(_best_split(questions, asked[tagged], worth), answers)


def _worth(turn: TurnTruth, tags: tuple[Tag, ...]) -> float:
    felt = turn.tags or ()
    return emotion.f1(felt, tags) + emotion.va_score(felt, tags)


def _best_split(questions: Sequence[str], asked: Array, worth: Array) -> Split:
    """The question by whose being asked the best two constant answers earn most.

    `asked` has shape (turns, questions), `worth` (turns, answers): what each answer earns in each turn.
    """
    if not worth.size:
        return Split("", 0, 0)
    total = worth.sum(axis=0)
    if not questions:
        return Split("", int(np.argmax(total)), int(np.argmax(total)))
    present = asked.T @ worth
    absent = total - present
    best = int(np.argmax(present.max(axis=1) + absent.max(axis=1)))
    return Split(questions[best], int(np.argmax(present[best])), int(np.argmax(absent[best])))


class AskedPolicy(BuiltinPolicy):
    """Plays the prior's answers, but for what the list of questions tells.

    Args:
        prior: gives the other answers; its folds are used.
        conversations: what the prior was fitted on.
    """

    name = "asked"

    def __init__(self, prior: FittedPolicy, conversations: Sequence[Conversation]) -> None:
        self.prior = prior
        self._rules = prior.on_folds(conversations, lambda others, settings: fit_asked(others))

    def for_conversation(self, conversation: Conversation) -> AskedPlayer:
        """The policy fitted without this conversation's participant."""
        fold = self.prior.fold_of(conversation)
        return AskedPlayer(self.prior.for_conversation(conversation).answers, self._rules[fold])


@dataclass(frozen=True, slots=True)
class AskedPlayer(BuiltinPolicy):
    """`asked` as it plays one conversation."""

    prior: Answers
    rules: AskedRules
    name: str = "asked"

    def prediction(self, request: Request) -> Prediction:
        """The prior's answer, but for what the list of questions tells."""
        return self.answers(request).prediction(request)

    def answers(self, request: Request) -> Answers:
        """Answer this request."""
        if request.stage not in ("assess", "assess_hp"):
            return self.prior
        return replace(
            self.prior,
            tags=TAG_SETS[self.rules.tags.choose(request.questions)],
            observed=dict(self.prior.observed) | self._said("observed", request.questions),
            preferred=dict(self.prior.preferred) | self._said("preferred", request.questions),
        )

    def _said(self, side: str, questions: Sequence[str]) -> dict[str, YesNo]:
        rules = {question: self.rules.answers.get((side, question)) for question in questions}
        return {
            question: "yes" if split.choose(questions) else "no"
            for question, split in rules.items()
            if split is not None
        }
