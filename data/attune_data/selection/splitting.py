"""Split conversations by participant, the same way on every machine."""

from __future__ import annotations

import hashlib
import json
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Final, Literal

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_data.files.conversations import Conversations
from attune_data.format.schema import Conversation, Metadata
from attune_data.selection.facts import folded, stated

Strata = Literal["topic", "category", "diagnosis"]
STRATA: Final[tuple[Strata, ...]] = ("topic", "category", "diagnosis")
_Stratum = tuple[str, ...]
"""From coarse to fine: a category and its topic; whether there is a diagnosis, and which."""
_PART: Final = re.compile(r"[A-Za-z0-9_][\w.-]{0,59}", re.ASCII)


def split(
    conversations: Conversations,
    shares: Mapping[str, float],
    *,
    seed: int = 0,
    stratify: Strata | None = None,
) -> dict[str, Conversations]:
    """Split conversations so that each participant is in only one split.

    Participants are ordered by hashes of the seed and their ids; the first split takes participants from the
    start until it has its share of the conversations, and so on. So neither the order of the input nor the
    machine matters. If participants are added, only those near a cut change sides: at each cut, at most about
    as many conversations move as were added.

    Args:
        conversations: the conversations to divide. `Conversation.participant` identifies participants.
        shares: split -> its share of the conversations, above 0; they sum to 1. A split misses its share by
            no more than the conversations of the participant with the most (twice as many with `stratify`),
            and gets at least one participant.
        seed: determines the order of the participants.
        stratify: divide each group of participants by these shares: by `category`; by `topic` (the
            metadata's text, and so by category as well); or by `diagnosis` (the set of them, and so by
            having one as well). A participant belongs to the group of most of their conversations. What a
            small group cannot supply, the next one does, so the splits keep their sizes. The order of the
            groups depends on all of them, so a new group may move participants of others.

    Returns:
        Split -> its conversations, in the order of the input.

    Raises:
        SettingsError: invalid shares, or fewer participants than splits.
        UnknownNameError: no such strata.
    """
    if stratify is not None and stratify not in STRATA:
        raise UnknownNameError("stratification", stratify, STRATA)
    fractions = _checked(shares)
    owned: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        owned.setdefault(conversation.participant, []).append(conversation)
    if len(owned) < len(fractions):
        raise SettingsError(
            f"{len(fractions)} splits ({', '.join(fractions)}) need {len(fractions)} participants or more, "
            f"and {conversations.source} has {len(owned)}: no participant is divided between splits"
        )
    strata: dict[_Stratum, list[str]] = {}
    for who, theirs in owned.items():
        counts = Counter(_stratum(conversation, stratify) for conversation in theirs)
        mostly = min(counts, key=lambda stratum: (-counts[stratum], stratum))
        strata.setdefault(mostly, []).append(who)
    sizes = {who: len(theirs) for who, theirs in owned.items()}

    def place_of(stratum: _Stratum) -> list[bytes]:  # random, but coarse kinds stay together
        return [_hash(seed, *stratum[:depth]) for depth in range(1, len(stratum) + 1)]

    ordered = [
        sorted(strata[stratum], key=partial(_hash, seed, *stratum))
        for stratum in sorted(strata, key=place_of)
    ]
    parts = _filled(_cut(ordered, sizes, fractions), sizes)
    place = {who: name for name, members in parts.items() for who in members}
    return {
        name: conversations.chosen(i for i, c in enumerate(conversations) if place[c.participant] == name)
        for name in fractions
    }


def parse_shares(text: str) -> dict[str, float]:
    """Parse `train=0.8,test=0.2` into a mapping; raises SettingsError if it is invalid."""
    shares: dict[str, float] = {}
    for piece in text.split(","):
        name, _, share = (side.strip() for side in piece.partition("="))
        try:
            value = float(share)
        except ValueError:
            value = math.nan
        if not _PART.fullmatch(name) or name in shares or not math.isfinite(value):
            again = "a second " if name in shares else ""
            raise SettingsError(
                f"splits {show(text)}: found {again}{show(piece.strip())}, expected a unique name (letters, "
                "digits, . _ -) and a share, such as train=0.8,test=0.2"
            )
        shares[name] = value
    _checked(shares)
    return shares


def _checked(shares: Mapping[str, float]) -> dict[str, Fraction]:
    """The shares as exact fractions; raises SettingsError unless they are positive and sum to 1."""
    given: object = shares
    if not isinstance(given, Mapping) or not all(isinstance(share, (int, float)) for share in given.values()):
        expected = 'splits and their shares, such as {"train": 0.8, "test": 0.2}'
        raise SettingsError(f"shares is {show(shares)}; expected {expected}")
    if not shares:
        raise SettingsError("no splits: name each with its share, such as train=0.8, test=0.2")
    if wrong := [f"{name}={show(share)}" for name, share in shares.items() if not 0 < share <= 1]:
        raise SettingsError(
            f"shares {', '.join(wrong)}: each must be above 0 and at most 1; leave out a split that should "
            "be empty"
        )
    said = ", ".join(f"{name}={share:g}" for name, share in shares.items())
    total = math.fsum(shares.values())
    if not math.isclose(total, 1, abs_tol=1e-6):
        raise SettingsError(f"shares {said} sum to {total:g}, expected 1")
    # from their decimal digits, so that 0.1 is exactly a tenth and equal shares cut equally
    return {name: Fraction(repr(float(share))) for name, share in shares.items()}


def _stratum(conversation: Conversation, stratify: Strata | None) -> _Stratum:
    if stratify is None:
        return ()
    if stratify == "diagnosis":
        said = stated(conversation.diagnoses)
        named = sorted({folded(name) for name in conversation.diagnoses or ()})
        return (said, *named) if said == "any" else (said,)
    metadata = conversation.metadata or Metadata()
    category = folded(metadata.category or "")
    topic = folded(metadata.text or metadata.subtopic or "")
    return (category,) if stratify == "category" else (category, topic)


def _hash(*parts: object) -> bytes:
    return hashlib.sha256(json.dumps(parts).encode()).digest()


def _cut(
    strata: list[list[str]], sizes: Mapping[str, int], shares: Mapping[str, Fraction]
) -> dict[str, list[str]]:
    """Split -> participants: each stratum is cut where the conversations so far come closest to the shares.

    A cut takes all strata so far into account, so that rounding in one is made up for in the next.
    """
    upto = list(accumulate(shares.values()))
    given = [0] * len(upto)
    """Target number of conversations before each cut, over the strata so far."""
    before = 0
    parts: dict[str, list[str]] = {name: [] for name in shares}
    for members in strata:
        edges = [0, *accumulate(sizes[who] for who in members)]
        start = 0
        for number, name in enumerate(shares):
            target = upto[number] * (before + edges[-1]) - given[number]
            last = number == len(upto) - 1
            stop = len(members) if last else max(start, _nearest(edges, target))
            parts[name] += members[start:stop]
            given[number] += edges[stop]
            start = stop
        before += edges[-1]
    return parts


def _nearest(edges: list[int], target: Fraction) -> int:
    """Index of the edge closest to a target; of two equally close ones, the lower."""
    above = min(bisect_right(edges, target), len(edges) - 1)
    below = max(above - 1, 0)
    return below if target - edges[below] <= edges[above] - target else above


def _filled(parts: dict[str, list[str]], sizes: Mapping[str, int]) -> dict[str, list[str]]:
    """Move the smallest participant of the split with the most participants to each empty split."""
    for members in parts.values():
        if not members:
            richest = max(parts.values(), key=len)
            members.append(richest.pop(min(range(len(richest)), key=lambda i: (sizes[richest[i]], -i))))
    return parts
