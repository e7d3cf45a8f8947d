"""Pairwise preference: which of two responses the HP chose, and the ranking that the choices imply.

Letters are in the frame of the conversation's comparisons. Source: AttuneBench v1.0, Pairwise Accuracy
and Kendall Tau. Picks are A or B, so the null of the accuracy is 0.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from attune_data.constants import Side
from attune_data.schema import PairwiseComparison
from attune_rewards.binary import right_share


def accuracy(comparisons: Sequence[PairwiseComparison], picks: Mapping[int, Side]) -> float:
    """Share of all comparisons whose pick is the HP's; in [0, 1].

    A missing pick or a missing winner is wrong; no comparisons: 1.
    """
    if not comparisons:
        return 1.0
    hits = sum(c.winner is not None and picks.get(i) == c.winner for i, c in enumerate(comparisons))
    return hits / len(comparisons)


def strict_accuracy(winners: Sequence[tuple[int, Side]], picks: Mapping[int, Side]) -> float:
    """Share right among the comparisons that have a winner: (index, winner), at least one."""
    return right_share(winners, picks)


def kendall_tau(comparisons: Sequence[PairwiseComparison], picks: Mapping[int, Side]) -> float | None:
    """Kendall's tau, -1 to 1, between the HP's and the model's ranking of the responses.

    Responses are ranked by their wins over the turn; ties fall back to the alphabetical order of the
    names, so rankings hold no ties. None without any pick or with fewer than two responses.
    """
    used = {index: side for index, side in picks.items() if 0 <= index < len(comparisons)}
    names = sorted({name for c in comparisons for name in (c.response_a, c.response_b)})
    if not used or len(names) < 2:
        return None
    truth = _ranks(names, comparisons, {i: c.winner for i, c in enumerate(comparisons) if c.winner})
    guess = _ranks(names, comparisons, used)
    agreement = [
        1 if (truth[a] - truth[b]) * (guess[a] - guess[b]) > 0 else -1 for a, b in combinations(names, 2)
    ]
    return sum(agreement) / len(agreement)


def _ranks(
    names: Sequence[str], comparisons: Sequence[PairwiseComparison], winners: Mapping[int, Side]
) -> dict[str, int]:
    wins = dict.fromkeys(names, 0)
    for index, side in winners.items():
        comparison = comparisons[index]
        wins[comparison.response_a if side == "A" else comparison.response_b] += 1
    ordered = sorted(names, key=lambda name: (-wins[name], name))
    return {name: rank for rank, name in enumerate(ordered)}
