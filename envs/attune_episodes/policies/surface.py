"""`surface`: answer from surface cues of the text and the list of questions, without understanding either.

It combines what single cues give away (which reply was recorded, how long texts and words are, punctuation,
feelings that a message names) with the rules of `asked`: about as much as can be earned from regularities of
the data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from attune_data.format.schema import Conversation
from attune_episodes.policies import asked
from attune_episodes.policies.asked import AskedPlayer, AskedPolicy
from attune_episodes.policies.base import BuiltinPolicy, Given
from attune_episodes.policies.constant import MIDPOINT
from attune_episodes.policies.shallow import named_feelings, pick_by
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.request import Request
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import Prediction, Tag
from attune_rewards.truth import truth_of

POLICIES: Final = {
    "surface": {
        "kind": "shallow",
        "fitted": True,
        "uses": "surface cues of the text, and which questions are asked; fitted like `prior`",
        "answers": "as `asked`, but named feelings as tags, and replies picked by how they look",
    },
}
Array = npt.NDArray[np.float64]
_WORD: Final = re.compile(r"\w+")
RIDGE: Final = 1.0
"""Strength of the L2 penalty in the fit of the weights: the loss has RIDGE/2 times their sum of squares."""

CONSTANT: Final = 1e-9
"""A feature whose standard deviation is not above this is constant up to rounding."""


def word_length(text: str) -> float:
    """Mean length of its words in characters; 0 without any."""
    words = _WORD.findall(text)
    return sum(map(len, words)) / len(words) if words else 0.0


def looks(request: Request, text: str) -> Array:
    """The eight surface features of a reply in a comparison.

    Whether it is the recorded reply (0 or 1), ln(1 + characters), characters per word, how often it says
    "you" in any case, and how many question marks, exclamation marks, full stops and commas it has.
    """
    marks = [text.count(mark) for mark in ("?", "!", ".", ",")]
    you = len(re.findall(r"\byou\b", text, re.IGNORECASE))
    return np.array([text == request.reply, np.log1p(len(text)), word_length(text), you, *marks], dtype=float)


def fit_picks(conversations: Sequence[Conversation], settings: Settings) -> Array:
    """Fit the weights of `looks` that predict which reply wins: a logistic regression without intercept.

    Its rows are the features of A minus those of B as shown, divided by their standard deviation unless
    constant. Returns one weight per feature, of the undivided features; zeros if no comparison has a winner.
    """
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
    spread = x.std(axis=0)
    scale = np.where(spread > CONSTANT, spread, 1.0)
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
    """Answers like `asked`, tags the feelings that a message names, and picks replies by how they look.

    Args:
        asked: gives the other answers; the folds of its prior are used.
        conversations: the conversations on which that prior was fitted.
    """

    name = "surface"

    def __init__(self, asked: AskedPolicy, conversations: Sequence[Conversation]) -> None:
        self.asked = asked
        self._weights = asked.prior.on_folds(conversations, fit_picks)

    def for_conversation(self, conversation: Conversation) -> SurfacePlayer:
        """The policy fitted without this conversation's participant."""
        weights = self._weights[self.asked.prior.fold_of(conversation)]
        return SurfacePlayer(self.asked.for_conversation(conversation), weights)


def make(name: str, given: Given) -> SurfacePolicy:
    """Make this policy."""
    return SurfacePolicy(asked.make("asked", given), given.fitting)


@dataclass(frozen=True, slots=True)
class SurfacePlayer(BuiltinPolicy):
    """`surface` for one conversation."""

    asked: AskedPlayer
    weights: Array
    """One weight per feature of `looks`."""
    name: str = "surface"

    def prediction(self, request: Request) -> Prediction:
        """Pick by the weighted features; otherwise the answer of `asked`, with the named feelings as tags."""
        if request.stage == "prefer":
            return pick_by(request, lambda text: float(looks(request, text) @ self.weights))
        answers = self.asked.answers(request)
        if request.stage == "assess" and (names := named_feelings(request.user_message)):
            answers = replace(answers, tags=tuple(Tag(name, MIDPOINT) for name in names))
        return answers.prediction(request)
