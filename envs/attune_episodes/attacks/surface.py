"""Attacks that use superficial features of a request without understanding it.

Each takes the prior's answers and changes them according to one visible feature: which reply was recorded,
how long texts and words are, which feelings a message names. `surface` combines all of them with the list of
questions, fitted on other participants: about as much as can be earned from regularities of the data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from attune_data.schema import Conversation
from attune_episodes.attacks.exploits import Body, Written
from attune_episodes.parsing import render
from attune_episodes.plan import plan
from attune_episodes.policies.asked import AskedPlayer, AskedPolicy
from attune_episodes.policies.base import BuiltinPolicy
from attune_episodes.policies.constant import MIDPOINT
from attune_episodes.policies.shallow import named_feelings, pick_by
from attune_episodes.request import Request
from attune_episodes.settings import Settings
from attune_rewards.predictions import Prediction, Tag
from attune_rewards.truth import truth_of

Array = npt.NDArray[np.float64]
_WORD: Final = re.compile(r"\w+")
RIDGE: Final = 1.0
"""Strength of the L2 penalty in the fit of `surface`."""


def word_length(text: str) -> float:
    """Mean length of its words in characters; 0 without any."""
    words = _WORD.findall(text)
    return sum(map(len, words)) / len(words) if words else 0.0


def _picking(worth: Callable[[Request, str], float]) -> Written:
    def write(request: Request, body: Body) -> Body | str:
        if request.stage != "prefer":
            return body
        return render(request, pick_by(request, lambda text: worth(request, text)))

    return write


def _copied(request: Request, body: Body) -> Body:
    """The feelings among the 20 items that the message names literally, if any."""
    if request.stage == "assess" and (names := named_feelings(request.user_message)):
        body["emotions"] = [{"emotion": name, "intensity": MIDPOINT} for name in names]
    return body


SURFACE: Final[Mapping[str, Written]] = {
    "not-the-recorded": _picking(lambda request, text: text != request.reply),
    "longer-reply": _picking(lambda request, text: len(text)),
    "shorter-reply": _picking(lambda request, text: -len(text)),
    "shorter-words": _picking(lambda request, text: -word_length(text)),
    "named-feelings": _copied,
}
"""Name -> the function that writes a reply from the prior's answers and one visible feature."""


def looks(request: Request, text: str) -> Array:
    """The eight surface features of a reply in a comparison."""
    marks = [text.count(mark) for mark in ("?", "!", ".", ",")]
    you = len(re.findall(r"\byou\b", text, re.IGNORECASE))
    return np.array([text == request.reply, np.log1p(len(text)), word_length(text), you, *marks], dtype=float)


def fit_picks(conversations: Sequence[Conversation], settings: Settings) -> Array:
    """Fit the weights of `looks` that predict which reply wins: a logistic regression without intercept."""
    rows, won = [], []
    for conversation in conversations:
        winners = {turn.turn: dict(turn.winners) for turn in truth_of(conversation).turns}
        for request in plan(conversation, settings):
            seen = {label: looks(request, text) for label, text in request.responses.items()}
            for comparison in request.comparisons:
                winner = winners[request.turn or 0].get(comparison.index)
                if winner is not None:
                    rows.append(seen[comparison.label_a] - seen[comparison.label_b])
                    won.append(comparison.to_shown(winner) == "A")
    if not rows:
        return np.zeros(8)
    x, y = np.array(rows), np.array(won, dtype=float)
    scale = np.maximum(x.std(axis=0), 1e-9)
    x = x / scale
    weights = np.zeros(x.shape[1])
    for _ in range(20):  # Newton's method: the loss is convex
        chance = 1 / (1 + np.exp(-(x @ weights)))
        slope = x.T @ (y - chance) - RIDGE * weights
        curve = (x * (chance * (1 - chance))[:, None]).T @ x + RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curve, slope)
    found: Array = weights / scale
    return found


class SurfacePolicy(BuiltinPolicy):
    """All surface cues combined, fitted on the prior's folds."""

    name = "surface"

    def __init__(self, asked: AskedPolicy, conversations: Sequence[Conversation]) -> None:
        self.asked = asked
        self._weights = asked.prior.on_folds(conversations, fit_picks)

    def for_conversation(self, conversation: Conversation) -> BuiltinPolicy:
        """The policy fitted without this conversation's participant."""
        weights = self._weights[self.asked.prior.fold_of(conversation)]
        return _Surface(self.asked.for_conversation(conversation), weights)


@dataclass(frozen=True, slots=True)
class _Surface(BuiltinPolicy):
    asked: AskedPlayer
    weights: Array
    name: str = "surface"

    def prediction(self, request: Request) -> Prediction:
        if request.stage == "prefer":
            return pick_by(request, lambda text: float(looks(request, text) @ self.weights))
        answers = self.asked.answers(request)
        if request.stage == "assess" and (names := named_feelings(request.user_message)):
            answers = replace(answers, tags=tuple(Tag(name, MIDPOINT) for name in names))
        return answers.prediction(request)
