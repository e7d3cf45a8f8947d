"""Readers: linear models on the numbers of texts, and `surface`, which counts and does not read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from attune_data.format.affect import POLARITY
from attune_data.format.schema import Conversation
from attune_env.ladder.features import Features
from attune_env.ladder.regression import Matrix, regression
from attune_env.ladder.tasks import (
    DID,
    PAIRS,
    TASKS,
    UNMARKED,
    VALENCE,
    Grouped,
    Item,
    Key,
    Model,
    enough,
    items,
)
from attune_episodes.policies import builtin_policy
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.settings import Settings
from attune_rewards.bootstrap import Array
from attune_rewards.predictions import Assess, Prefer

STRENGTH: Final = 3.0
"""The inverse of the penalty on large weights, chosen on `written:dev`."""
FTOL, GTOL = 1e-12, 1e-6
"""How closely the optimum is approached."""
TIE: Final = 1e-6
"""A margin that is not above this is no answer: the fit is not more exact."""
SETTINGS: Final = Settings(stages=("assess", "prefer"))

Answers = Mapping[tuple[Model, Key], bool]
"""(model, place) -> the reader's answer; labels that it leaves open are absent."""


class Reader(Protocol):
    """A fitted reader."""

    def read(self, conversations: Sequence[Conversation]) -> Answers:
        """Its answers about the labelled texts of some conversations."""


class Linear:
    """One logistic regression per yes/no question, one for valence, and one for the preferred reply.

    Both answers to a question have the same weight in all. A comparison is the difference of its replies, and
    counts from both sides, so that a side by itself means nothing.
    """

    def __init__(self, features: Features, conversations: Sequence[Conversation]) -> None:
        those = {model: found for model, found in items(conversations).items() if enough(model, found)}
        tasks = {task for task, _ in those}
        self._rows_of = {task: features.fit(_texts(those, task)) for task in TASKS if task in tasks}
        self._weights = {model: _fitted(model, rows, those[model]) for model, rows in self._rows(those)}

    def read(self, conversations: Sequence[Conversation]) -> Answers:
        """Its answers; there are none to questions that it was not fitted on."""
        those = {model: found for model, found in items(conversations).items() if model in self._weights}
        answers = {}
        for model, rows in self._rows(those):
            margins = rows @ self._weights[model][:-1] + self._weights[model][-1]
            for item, margin in zip(those[model], margins, strict=True):
                if abs(margin) > TIE:
                    answers[model, item.key] = bool(margin > 0)
        return answers

    def _rows(self, those: Grouped) -> Iterator[tuple[Model, Matrix]]:
        """The rows of each model's items; those of comparisons are differences."""
        for task, rows_of in self._rows_of.items():
            texts = _texts(those, task)
            place, rows = {text: i for i, text in enumerate(texts)}, rows_of(texts)
            for model, found in those.items():
                if model[0] == task:
                    of = rows[[place[item.text] for item in found]]
                    if task in PAIRS:
                        of = of - rows[[place[item.against] for item in found]]
                    yield model, of


def _texts(those: Grouped, task: str) -> list[str]:
    """The distinct texts of a task, sorted."""
    mine = [item for model, found in those.items() if model[0] == task for item in found]
    return sorted({item.text for item in mine} | {item.against for item in mine if task in PAIRS})


def _fitted(model: Model, rows: Matrix, those: Sequence[Item]) -> Array:
    yes = np.array([item.yes for item in those])
    if model[0] in PAIRS:
        rows = sparse.vstack([rows, -rows]).tocsr()
        yes = np.concatenate([yes, ~yes])
    weights = _balanced(yes) * len(those) / len(yes)
    return regression(rows, yes, weights, STRENGTH, ftol=FTOL, gtol=GTOL)


def _balanced(yes: npt.NDArray[np.bool_]) -> Array:
    """Weights with a mean of 1 that give both answers the same weight in all."""
    return np.asarray(len(yes) / 2 / np.where(yes, yes.sum(), (~yes).sum()), dtype=np.float64)


class Surface:
    """The policy `surface`; it has no answer about valence where its feelings cancel out."""

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        self._policy = builtin_policy("surface", conversations, SETTINGS, fit_on=conversations)

    def read(self, conversations: Sequence[Conversation]) -> Answers:
        """Its answers."""
        answers: dict[tuple[Model, Key], bool] = {}
        for conversation in conversations:
            player = self._policy.for_conversation(conversation)
            for request in plan(conversation, SETTINGS):
                key, said = Key(conversation.conversation_id, request.turn or 0), player.prediction(request)
                if isinstance(said, Assess):
                    sign = sum(1 if POLARITY[tag.emotion] == "positive" else -1 for tag in said.tags or ())
                    if sign:
                        answers[(VALENCE, ""), key] = sign > 0
                    for question, answer in said.observed.items():
                        for task in (DID, UNMARKED):
                            answers[(task, question), key] = answer == "yes"
                elif isinstance(said, Prefer):
                    for index, side in said.picks.items():
                        for task in PAIRS:
                            answers[(task, ""), key._replace(comparison=index)] = side == "A"
        return answers
