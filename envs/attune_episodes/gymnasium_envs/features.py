"""What `Attune/Features-v0` observes: numbers read off the texts that a request may show, and what it asks.

Words are hashed with CRC-32 and cues are the word lists of the `lexicon` policy, so the numbers depend on the
text and on nothing else: no fitting, no seed, no locale. Every number lies in [-1, 1].
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from zlib import crc32

import numpy as np
import numpy.typing as npt

from attune_data.affect import EMOTIONS, TOTALS
from attune_data.constants import BINARY_IDS, PAIRWISE_IDS
from attune_data.errors import SettingsError, show
from attune_episodes.policies.lexicon import replies, wishes
from attune_episodes.policies.lexicon.exchange import advice_in
from attune_episodes.policies.lexicon.feelings import Feelings, read
from attune_episodes.policies.lexicon.reading import count, details, plain, words
from attune_episodes.policies.lexicon.words import NAMED
from attune_episodes.request import Request
from attune_rewards.coded import PICKS
from attune_rewards.predictions import Stage

Array = npt.NDArray[np.float32]

NUMERIC_STAGES: Final[tuple[Stage, ...]] = ("assess", "prefer", "reflect")
"""The stages that are observed as numbers, in the order of their marks."""
RESPONSES: Final = 3
"""Texts beside the message: the reply, or the responses to choose between."""
WORDS: Final = 64
"""Hash buckets a text, unless told otherwise."""
LATE: Final = 16
"""Turns from which on the turn's number stands still at 1."""

_REPLY_CUES: Final[Mapping[str, re.Pattern[str]]] = {
    name.lower(): pattern
    for name, pattern in sorted(vars(replies).items())
    if name.isupper() and isinstance(pattern, re.Pattern)
}
_MESSAGE_CUES: Final[Mapping[str, re.Pattern[str]]] = {
    name.lower(): pattern
    for name, pattern in sorted(vars(wishes).items())
    if name.isupper() and isinstance(pattern, re.Pattern)
}
MESSAGE_CUES: Final = (
    *(f"feels {name}" for name in EMOTIONS),
    *("pleasant", "requests", "named", "length", "?", "!"),
    *_MESSAGE_CUES,
)
"""What the cues of a message are: feelings read of it, and what it asks for."""
TEXT_CUES: Final = (
    *("length", "?", "!", "advice", "echoes", "repeats", "feelings", "same feeling"),
    *_REPLY_CUES,
)
"""What the cues of a reply are: how it relates to the message and to earlier replies, and what it does."""


def layout(buckets: int = WORDS) -> dict[str, slice]:
    """Part of an observation -> its place in the array.

    stage            3    one-hot of `NUMERIC_STAGES`; all 0 after the last request
    turn             2    number of the turn / 16 (reflect: of all turns), at most 1; 1 in the first turn
    questions       36    1 where a yes/no question is asked (assess)
    sides       12 x 3    of each comparison: 1 at the response that is A, -1 at the one that is B (prefer)
    about           12    of each comparison: number of its question / 17, "general" first (prefer)
    totals           2    PANAS totals before / 70 where they are shown (reflect)
    message        M+W    cues and words of the person's message (reflect: means over all messages)
    texts     3 x (T+W)   cues and words of the reply (assess), of the responses in the order of their
                          labels (prefer), of all replies in the mean (reflect)
    earlier          M    cues of the messages of earlier turns, in the mean (reflect: of the last message)

    M = len(MESSAGE_CUES), T = len(TEXT_CUES), W = `buckets`.
    """
    message, text = len(MESSAGE_CUES), len(TEXT_CUES)
    widths = {
        "stage": len(NUMERIC_STAGES), "turn": 2, "questions": len(BINARY_IDS), "sides": PICKS * RESPONSES,
        "about": PICKS, "totals": 2, "message": message + buckets, "texts": RESPONSES * (text + buckets),
        "earlier": message,
    }  # fmt: skip
    found, start = {}, 0
    for name, width in widths.items():
        found[name] = slice(start, start + width)
        start += width
    return found


def size(buckets: int = WORDS) -> int:
    """Length of an observation."""
    return int(max(place.stop for place in layout(buckets).values()))


def checked_buckets(words: Any) -> int:
    """The number of hash buckets, or SettingsError."""
    if type(words) is not int or not 0 <= words <= MOST_BUCKETS:
        raise SettingsError(f"words is {show(words)}; it must be a whole number from 0 to {MOST_BUCKETS:,}")
    return int(words)


MOST_BUCKETS: Final = 65_536


def observe(requests: Sequence[Request], buckets: int = WORDS) -> Array:
    """The observations of the requests of one plan, shape (len(requests), `size(buckets)`).

    Each is a function of its own request alone. Stages other than `NUMERIC_STAGES` raise SettingsError.
    """
    table = np.zeros((len(requests), size(buckets)), np.float32)
    reader = _Reader(buckets)
    for row, request in zip(table, requests, strict=True):
        reader.write(row, request)
    return table


class _Reader:
    """Reads the texts of one conversation, each once."""

    def __init__(self, buckets: int) -> None:
        self.buckets = buckets
        self.layout = layout(buckets)
        self.feelings: dict[str, Feelings] = {}
        self.messages: dict[str, Array] = {}
        self.texts: dict[tuple[str, str, int], Array] = {}

    def write(self, row: Array, request: Request) -> None:
        """Fills one row of zeros."""
        if request.stage not in NUMERIC_STAGES:
            raise SettingsError(
                f"stage {request.stage!r} has no numeric observation; choose from {', '.join(NUMERIC_STAGES)}"
            )
        place, history = self.layout, request.history
        row[place["stage"].start + NUMERIC_STAGES.index(request.stage)] = 1.0
        row[place["turn"]] = [min(LATE, request.turn or len(history)) / LATE, request.turn == 1]
        if request.stage == "reflect":
            self._reflect(row, request)
            return
        before = tuple(text for _, text in history)
        row[place["message"]] = self.message(request.user_message)
        row[place["earlier"]] = _mean(self.message(said) for said, _ in history)[: len(MESSAGE_CUES)]
        shown = list(request.responses.values()) or [request.reply or ""]
        texts = [self.text(text, request.user_message, before) for text in shown[:RESPONSES]]
        written = np.concatenate(texts)
        row[place["texts"].start :][: written.size] = written
        if request.stage == "assess":
            row[place["questions"]] = [question in request.questions for question in BINARY_IDS]
            return
        labels = list(request.responses)
        for number, comparison in enumerate(request.comparisons[:PICKS]):
            start = place["sides"].start + number * RESPONSES
            row[start + labels.index(comparison.label_a)] += 1.0
            row[start + labels.index(comparison.label_b)] -= 1.0
            row[place["about"].start + number] = question_number(comparison.question) / len(PAIRWISE_IDS)

    def _reflect(self, row: Array, request: Request) -> None:
        place, history = self.layout, request.history
        if request.pre_totals is not None:
            row[place["totals"]] = np.clip(request.pre_totals, 0, TOTALS[1]) / TOTALS[1]
        if not history:
            return
        row[place["message"]] = _mean(self.message(said) for said, _ in history)
        row[place["earlier"]] = self.message(history[-1][0])[: len(MESSAGE_CUES)]
        read_so_far = _mean(
            self.text(reply, said, tuple(earlier for _, earlier in history[:turn]))
            for turn, (said, reply) in enumerate(history)
        )
        row[place["texts"].start :][: read_so_far.size] = read_so_far

    def felt(self, text: str) -> Feelings:
        """The feelings read of a message."""
        if text not in self.feelings:
            self.feelings[text] = read(text)
        return self.feelings[text]

    def message(self, text: str) -> Array:
        """Cues and words of a message."""
        if text not in self.messages:
            felt, low = self.felt(text), plain(text)
            cues = [min(1.0, felt.weights.get(name, 0.0) / 2) for name in EMOTIONS]
            cues += [felt.valence, felt.requests / 3, min(1.0, len(felt.named) / 3)]
            cues += [_share(len(words(text)), 100), _share(text.count("?"), 3), _share(text.count("!"), 3)]
            cues += [float(pattern.search(low) is not None) for pattern in _MESSAGE_CUES.values()]
            self.messages[text] = np.concatenate([np.array(cues, np.float32), hashed(text, self.buckets)])
        return self.messages[text]

    def text(self, text: str, message: str, before: tuple[str, ...]) -> Array:
        """Cues and words of a reply to a message, after earlier replies."""
        key = (text, message, len(before))
        if key not in self.texts:
            low, about = plain(text), details(text)
            feelings = {name for name, pattern in NAMED.items() if pattern.search(low)}
            cues = [_share(len(words(text)), 100), _share(text.count("?"), 3), _share(text.count("!"), 3)]
            cues += [_share(len(advice_in(text)), 3), _share(len(about & details(message)), 6)]
            cues += [_share(max((len(about & details(earlier)) for earlier in before), default=0), 6)]
            same = feelings & self.felt(message).weights.keys()
            cues += [_share(len(feelings), 3), float(bool(same))]
            cues += [_share(count(pattern, low), 2) for pattern in _REPLY_CUES.values()]
            self.texts[key] = np.concatenate([np.array(cues, np.float32), hashed(text, self.buckets)])
        return self.texts[key]


def hashed(text: str, buckets: int) -> Array:
    """The words of a text, each once, as signed hash buckets of Euclidean length 1 (no word: 0); (buckets,).

    A word's CRC-32 gives its bucket (modulo) and its sign (highest bit).
    """
    found = np.zeros(buckets, np.float32)
    if buckets:
        for word in dict.fromkeys(words(text)):
            code = _code(word)
            found[(code & 0x7FFFFFFF) % buckets] += -1.0 if code >> 31 else 1.0
    length = np.sqrt(np.sum(found**2))
    return found / length if length else found


def question_number(question: str) -> int:
    """1 for "general" to 17 for PW16; 0 for a question that is none of them."""
    return PAIRWISE_IDS.index(question) + 1 if question in PAIRWISE_IDS else 0


@lru_cache(maxsize=16_384)
def _code(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))


def _share(number: float, full: float) -> float:
    return min(1.0, number / full)


def _mean(rows: Iterable[Array]) -> Array:
    listed = list(rows)
    if not listed:
        return np.zeros(len(MESSAGE_CUES), np.float32)
    mean: Array = np.mean(listed, axis=0, dtype=np.float32)
    return np.clip(mean, -1.0, 1.0, out=mean)
