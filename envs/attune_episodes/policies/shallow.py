"""Shallow policies, which read only surface features (length, shared words)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from attune_data.format.affect import EMOTIONS
from attune_data.format.constants import Side
from attune_episodes.policies.base import BuiltinPolicy, Given
from attune_episodes.policies.constant import MIDPOINT, Answers, PanasGuess, always
from attune_episodes.protocol.request import Request
from attune_rewards.predictions import Assess, AssessHP, Draft, Prediction, Prefer, Tag, YesNo

POLICIES: Final = {
    "longest": {
        "kind": "shallow",
        "uses": "the lengths of the replies",
        "answers": "the longer response; otherwise as `always-no`",
    },
    "shortest": {
        "kind": "shallow",
        "uses": "the lengths of the replies",
        "answers": "the shorter response; otherwise as `always-no`",
    },
    "copy": {
        "kind": "shallow",
        "uses": "words shared by the message and the reply",
        "answers": "the words and feelings of the message; the reply that repeats more of it",
    },
}
_WORD: Final = re.compile(r"\w{5,}")
_UNCHANGED: Final = (PanasGuess(), PanasGuess())


@dataclass(frozen=True, slots=True)
class LengthPolicy(BuiltinPolicy):
    """Prefers the longer (or the shorter) response; otherwise answers like `always-no`."""

    name: str
    sign: int
    """1 for the longest, -1 for the shortest."""

    def prediction(self, request: Request) -> Prediction:
        """Pick by length."""
        if request.stage != "prefer":
            return always("no").prediction(request)
        return pick_by(request, lambda text: self.sign * len(text))


def make(name: str, given: Given) -> BuiltinPolicy:
    """Make one of these policies."""
    return CopyPolicy() if name == "copy" else LengthPolicy(name, 1 if name == "longest" else -1)


def pick_by(request: Request, worth: Callable[[str], float]) -> Prefer:
    """Pick the response with the higher worth in each comparison; A if they are equal."""
    worths = {label: worth(text) for label, text in request.responses.items()}
    picks: dict[int, Side] = {}
    for comparison in request.comparisons:
        shown: Side = "A" if worths[comparison.label_a] >= worths[comparison.label_b] else "B"
        picks[comparison.index] = comparison.to_conversation(shown)
    return Prefer(picks)


def named_feelings(*texts: str) -> tuple[str, ...]:
    """The feelings among the 20 items that occur literally in the texts, ignoring case, in order."""
    words = {word.casefold() for text in texts for word in _WORD.findall(text)}
    return tuple(name for name in EMOTIONS if name.casefold() in words)


@dataclass(frozen=True, slots=True)
class CopyPolicy(BuiltinPolicy):
    """Repeats what is in the prompt: the person's words, the PANAS words in them, the earlier feelings.

    Answers yes to every question if the reply repeats a longer word of the message, and prefers the response
    that shares more such words with it.
    """

    name: str = "copy"

    def prediction(self, request: Request) -> Prediction:
        """The copied answer."""
        words = set(_WORD.findall(request.user_message.lower()))

        def shared(text: str) -> int:
            return len(words.intersection(_WORD.findall(text.lower())))

        if request.stage == "draft":
            return Draft(request.user_message.strip() or "…")
        if request.stage == "prefer":
            return pick_by(request, shared)
        if request.stage == "reflect":
            return Answers(otherwise="no", panas=_UNCHANGED).prediction(request)
        repeats: YesNo = "yes" if shared(request.reply or "") else "no"
        answers = dict.fromkeys(request.questions, repeats)
        if request.stage == "assess_hp":
            return AssessHP(answers, answers)
        tags = tuple(Tag(name, MIDPOINT) for name in named_feelings(request.user_message))
        return Assess(tags, answers, answers)
