"""Token overlap of texts."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=64)
def tokens(text: str) -> frozenset[str]:
    """The set of tokens of a text: lower-cased, split at white space, punctuation kept."""
    return frozenset(text.lower().split())


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Shared / all tokens, in [0, 1]; 0 if neither has any."""
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if first or second else 0.0
