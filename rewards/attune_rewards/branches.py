"""Four-branch scores: the HP's ratings, 1–7, of how the OM perceived, facilitated, understood, managed.

Source: AttuneBench v1.0, 4-Branch.
"""

from __future__ import annotations

from collections.abc import Mapping

from attune_data.affect import SCALE
from attune_data.constants import BRANCHES

SPAN = SCALE[1] - SCALE[0]
MIDPOINT = sum(SCALE) // 2
"""What a missing prediction counts as in the canonical reading."""


def errors(truth: Mapping[str, int | None], predicted: Mapping[str, int]) -> dict[str, int]:
    """Absolute error, 0–6, of every branch that has a truth; a missing prediction counts as 4."""
    return {
        branch: abs(want - predicted.get(branch, MIDPOINT))
        for branch in BRANCHES
        if (want := truth.get(branch)) is not None
    }


def normalized(branch_errors: Mapping[str, int]) -> float:
    """1 - MAE/6, in [0, 1]; 1 without any truth."""
    if not branch_errors:
        return 1.0
    return 1.0 - sum(branch_errors.values()) / len(branch_errors) / SPAN


def strict_score(truth: int, predicted: int | None) -> float:
    """1 - error/6 of one branch; a prediction that is missing or outside 1–7 is 0."""
    if predicted is None or not SCALE[0] <= predicted <= SCALE[1]:
        return 0.0
    return 1.0 - abs(truth - predicted) / SPAN
