"""Pairwise preference: which of two responses the HP chose, and the ranking that the choices imply.

The letters A and B refer to the sides in the conversation's own comparisons, and the chance level of the
accuracy is 0.5. Source: AttuneBench v1.0, Pairwise Accuracy and Kendall Tau.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

from attune_data.format.constants import ResponseName, Side
from attune_data.format.schema import PairwiseComparison
from attune_rewards.metrics.binary import given_share, right_share
from attune_rewards.metrics.leaf import Leaf, PartText
from attune_rewards.metrics.metric import TurnMetric
from attune_rewards.predictions import Prefer, TurnPrediction
from attune_rewards.truth import TurnTruth

PLACE: Final = 3
"""Among the topics, in score files and tables."""


def accuracy(comparisons: Sequence[PairwiseComparison], picks: Mapping[int, Side]) -> float:
    """Share of all comparisons, in [0, 1], in which the pick matches the HP's.

    A missing pick or a missing winner counts as wrong; 1 if there are no comparisons.
    """
    if not comparisons:
        return 1.0
    hits = sum(c.winner is not None and picks.get(i) == c.winner for i, c in enumerate(comparisons))
    return hits / len(comparisons)


def kendall_tau(comparisons: Sequence[PairwiseComparison], picks: Mapping[int, Side]) -> float | None:
    """Kendall's tau, -1 to 1, between the HP's and the model's ranking of the responses.

    Responses are ranked by their wins in the turn; ties are broken by the alphabetical order of the names, so
    that rankings have no ties. None without any pick or with fewer than two responses.
    """
    used = {index: side for index, side in picks.items() if 0 <= index < len(comparisons)}
    names = _labels(comparisons)
    if not used or len(names) < 2:
        return None
    truth = _ranks(names, comparisons, {i: c.winner for i, c in enumerate(comparisons) if c.winner})
    guess = _ranks(names, comparisons, used)
    agreement = [
        1 if (truth[a] - truth[b]) * (guess[a] - guess[b]) > 0 else -1 for a, b in combinations(names, 2)
    ]
    return sum(agreement) / len(agreement)


def _labels(comparisons: Sequence[PairwiseComparison]) -> list[ResponseName]:
    return sorted({name for c in comparisons for name in (c.response_a, c.response_b)})


def _ranks(
    names: Sequence[str], comparisons: Sequence[PairwiseComparison], winners: Mapping[int, Side]
) -> dict[str, int]:
    wins = dict.fromkeys(names, 0)
    for index, side in winners.items():
        comparison = comparisons[index]
        wins[comparison.response_a if side == "A" else comparison.response_b] += 1
    ordered = sorted(names, key=lambda name: (-wins[name], name))
    return {name: rank for rank, name in enumerate(ordered)}


def _picks(said: TurnPrediction) -> Mapping[int, Side]:
    return said.prefer.picks if said.prefer else {}


METRICS: Final = (
    TurnMetric(
        "pairwise_accuracy", "right picks / all comparisons",
        lambda turn, said: accuracy(turn.comparisons, _picks(said)),
        needs=("prefer",), edges="1 if there are no comparisons; a missing pick or winner counts as wrong",
        label="Preferred reply (Pairwise)", role="input",
    ),
    TurnMetric(
        "pairwise_kendall_tau",
        "τ between the HP's and the EM's ranking of the responses by wins, with ties in alphabetical order",
        lambda turn, said: kendall_tau(turn.comparisons, _picks(said)),
        needs=("prefer",), low=-1.0, undefined="no pick, or fewer than two responses",
        label="Ranking of replies (Kendall tau)", role="beside",
    ),
)  # fmt: skip


def _strict_tau(turn: TurnTruth, said: Prefer) -> float:
    """τ over the comparisons with a winner, so that the annotations' own answers earn 1."""
    picks = {index: said.picks[index] for index, _ in turn.winners if index in said.picks}
    tau = kendall_tau(turn.comparisons, picks)
    return 0.0 if tau is None else (tau + 1) / 2


def _picked(turn: TurnTruth, said: Prefer) -> float:
    return given_share(turn.winners, said.picks)


LEAVES: Final = (
    Leaf(
        name="pairwise",
        stage="prefer",
        node="evaluation",
        value=lambda turn, said: right_share(turn.winners, said.picks),
        annotated=lambda turn: bool(turn.winners),
        answered=_picked,
        reads=("comparisons",),
        canonical="avg_pairwise_accuracy",
        text=PartText(
            "which of two replies the person preferred, in each comparison",
            "right picks / comparisons with a winner",
            "at least one comparison has a winner",
            "each comparison without a pick",
        ),
    ),
    Leaf(
        name="pairwise_kendall_tau",
        stage="prefer",
        node=None,
        value=_strict_tau,
        annotated=lambda turn: bool(turn.winners) and len(_labels(turn.comparisons)) > 1,
        answered=_picked,
        reads=("comparisons",),
        text=PartText(
            "how the person ranked the replies",
            "(τ + 1)/2 for the two rankings by wins",
            "at least one comparison of two replies has a winner",
            "no pick",
        ),
    ),
)
