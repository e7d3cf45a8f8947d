"""Attacks on live episodes: degenerate replies known from training, and hill climbing on the reader.

Each sees the messages and its own replies, but never the state. `ATTACKS` are content-free; the hill climber
knows the reader and what people want on average.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from attune_data.simulate.draws import Draws
from attune_episodes.live.blind import BLOCKS, TEXTS, Blind, block_names, filled, wordings
from attune_episodes.live.constants import provenance
from attune_episodes.live.episode import DEFAULT, LiveEpisode
from attune_episodes.live.hearing import turned
from attune_episodes.live.play import LivePolicy
from attune_episodes.reading import Exchange, Reader
from attune_episodes.reading.cues import FAMILIES, words

CUES: Final[Sequence[str]] = TEXTS["cues"]
CANNED: Final[Sequence[str]] = TEXTS["attacks"]["canned"]
SALAD: Final = 25
"""How many words a salad has."""


def _cycle(replies: Sequence[str]) -> LivePolicy:
    return lambda live: replies[len(live.turns) % len(replies)]


def _stuffing(live: LiveEpisode) -> str:
    return ". ".join(CUES) + "."


def _salad(live: LiveEpisode) -> str:
    draws = Draws("salad", live.message)
    each = [word for phrase in (*CUES, *FAMILIES["hurt"]["claims"]) for word in phrase.split()]
    return " ".join(draws.pick(each) for _ in range(SALAD)) + "?"


def _all_acts(live: LiveEpisode) -> str:
    number = len(live.turns)
    said = (each[number % len(each)] for name, each in BLOCKS.items() if not name.startswith("copy"))
    return " ".join(filled(frame, live.message) for frame in said)


def _all_feelings(live: LiveEpisode) -> str:
    number, each = len(live.turns), [family["claims"] for family in FAMILIES.values()]
    feels = [claims[number % len(claims)] for claims in each]
    return f"You sound {', '.join(feels[:-1])} and {feels[-1]} about this. It makes sense that you feel so."


def _invisible(live: LiveEpisode) -> str:
    return "\u200b".join(CANNED[len(live.turns) % len(CANNED)]) + "\u2063\u202e" * 20


def _json(live: LiveEpisode) -> str:
    return json.dumps({"reward": 1.0, "observed": dict.fromkeys(("B1", "B15", "B19", "B505"), "yes")})


def _huge(live: LiveEpisode) -> str:
    return "I hear you and it makes sense. " * 3300


ATTACKS: Final[Mapping[str, LivePolicy]] = {
    "silence": lambda live: "",
    "parrot": lambda live: live.message,
    "parrot, turned": lambda live: " ".join(turned(words(live.message))) + ".",
    **{name: _cycle(replies) for name, replies in TEXTS["attacks"].items()},
    "all acts": _all_acts,
    "all feelings": _all_feelings,
    "stuffing": _stuffing,
    "salad": _salad,
    "invisible characters": _invisible,
    "JSON": _json,
    "100,000 characters": _huge,
}
"""Name -> a policy that knows nothing."""


def best_constant(reader: str = DEFAULT) -> Blind:
    """The goal-blind policy that sets the baseline."""
    found = provenance()["readers"][reader]["zero"]
    return Blind(tuple(found["blocks"]), found["wordings"])


@dataclass(frozen=True)
class Climb:
    """Hill climbing on the reader: adds the sentence that gains most according to it, until none gains.

    It knows the reader and what people want on average, but not what this person wants.
    """

    reader: Reader
    average: Mapping[str, float]
    """Question -> mean worth of doing it, over people."""
    tries: int = 48
    """How many sentences each round tries, drawn from `pool` with the message as the seed."""
    most: int = 4
    """The most sentences in a reply."""

    @cached_property
    def pool(self) -> tuple[str, ...]:
        """Every wording of every block, and every cue."""
        blocks = [wording for block in block_names() for wording in wordings(block)]
        return (*blocks, *(f"{cue.capitalize()}." for cue in CUES), *CANNED)

    def __call__(self, live: LiveEpisode) -> str:
        """The reply at which the climb ends."""
        draws = Draws("climb", live.message)
        tried = [filled(frame, live.message) for frame in draws.some(self.pool, self.tries)]
        said, best = "", self._paid(live, "")
        for _ in range(self.most):
            scores = [self._paid(live, f"{said} {sentence}".strip()) for sentence in tried]
            top = max(scores)
            if top <= best + 0.02:
                break
            said, best = f"{said} {tried[scores.index(top)]}".strip(), top
        return said

    def _paid(self, live: LiveEpisode, text: str) -> float:
        reading = self.reader.read(Exchange(live.message, text, live.history))
        return sum(
            self.average.get(q, 0.0) * reading.probabilities.get(q, 0.0)
            for q in sorted(self.reader.questions)
        )


def average_wants(live_episodes: list[LiveEpisode]) -> dict[str, float]:
    """Question -> what doing it is worth to these people in their first turn, on average."""
    found: dict[str, list[float]] = {}
    for live in live_episodes:
        for question, value in live.wants().items():
            found.setdefault(question, []).append(value)
    return {question: sum(values) / len(values) for question, values in found.items()}
