"""Set aside what a reply copies: repeating a message would otherwise pass for taking it up."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from attune_rewards.reading.cues import CACHED, sentences, words
from attune_rewards.reading.exchange import Exchange

RUN: Final = 4
"""Number of consecutive words that count as copied; a sentence of fewer is copied as a whole."""
COPIED: Final = 0.75
"""The share of its words at which a sentence counts as copied."""


@lru_cache(maxsize=CACHED)
def _runs(text: str, length: int) -> frozenset[tuple[str, ...]]:
    said = words(text)
    return frozenset(zip(*(said[i:] for i in range(length)), strict=False))


def own_part(x: Exchange) -> Exchange | None:
    """The exchange without what its reply copies from the person's messages; None if nothing is left."""
    messages, found = (x.message, *(message for message, _ in x.history)), sentences(x.reply)
    lengths = {min(RUN, len(sentence.words)) for sentence in found}
    known = {n: frozenset().union(*(_runs(message, n) for message in messages)) for n in lengths}
    kept = []
    for sentence in found:
        said = sentence.words
        length = min(RUN, len(said))
        runs = known[length]
        copied: set[int] = set()
        for i in range(len(said) - length + 1):
            if said[i : i + length] in runs:
                copied.update(range(i, i + length))
        if said and len(copied) < COPIED * len(said):
            kept.append(x.reply[sentence.start : sentence.end])
    return replace(x, reply="\n".join(kept)) if kept else None
