"""Replies that ignore the person: sentences that fit anywhere, and frames that copy from the message.

In every turn, a `Blind` policy says one wording of each of its blocks: the same one each time if `wordings`
is 1, otherwise in rotation. Frames fill {word} and {other} with the message's longest rare words, {first} and
{last} with its first and last sentence, turned into the second person.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attune_episodes.live.hearing import turned
from attune_episodes.reading.cues import FAMILIES, WORDS, sentences, words

if TYPE_CHECKING:
    from attune_episodes.live.episode import LiveEpisode

TEXTS: Final[Mapping[str, Any]] = tomllib.loads((Path(__file__).parent / "blind.toml").read_text("utf-8"))
BLOCKS: Final[Mapping[str, Sequence[str]]] = TEXTS["blocks"]
"""Block -> the ways to word it."""


@dataclass(frozen=True, slots=True)
class Blind:
    """A policy that knows nothing: the blocks it says, and how many wordings of each it rotates through."""

    blocks: tuple[str, ...]
    wordings: int = 4

    @property
    def name(self) -> str:
        """A short description, such as "validate + ask, 4 wordings"."""
        said = " + ".join(self.blocks) or "silence"
        return f"{said}, {self.wordings} wording{'s' * (self.wordings > 1)}" if self.blocks else said

    def __call__(self, live: LiveEpisode) -> str:
        """The reply to the person's current message."""
        number = len(live.turns)
        said = (wordings(block) for block in self.blocks)
        return " ".join(filled(each[number % min(self.wordings, len(each))], live.message) for each in said)


def block_names() -> tuple[str, ...]:
    """Every block: those of `BLOCKS`, and one per family of feelings, claiming that the person feels it."""
    return (*BLOCKS, *(f"claim {family}" for family in FAMILIES))


def wordings(block: str) -> Sequence[str]:
    """The wordings of a block."""
    if block in BLOCKS:
        return BLOCKS[block]
    claims = FAMILIES[block.removeprefix("claim ")]["claims"]
    return [frame.format(feel=feel) for frame, feel in zip(TEXTS["claim"], claims, strict=False)]


def filled(frame: str, message: str) -> str:
    """Fill a frame with what it copies from the message."""
    return frame.format_map(_copied(message)) if "{" in frame else frame


@lru_cache(maxsize=512)
def _copied(message: str) -> dict[str, str]:
    said = dict.fromkeys(w for w in words(message) if w not in WORDS["common"] and len(w) > 3)
    rare = [*sorted(said, key=lambda w: -len(w)), "matter", "rest"]
    each = [" ".join(turned(sentence.words)) for sentence in sentences(message)] or [""]
    return {"word": rare[0], "other": rare[1], "first": each[0] + ".", "last": each[-1] + "."}
