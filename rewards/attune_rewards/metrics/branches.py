"""Four-branch scores: the HP's ratings (1–7) of how well the OM perceived, facilitated, understood, managed.

Source: AttuneBench v1.0, 4-Branch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attune_data.format.affect import SCALE
from attune_data.format.constants import BRANCHES
from attune_data.selection.means import mean
from attune_rewards.metrics.leaf import Leaf, PartText
from attune_rewards.metrics.metric import ReflectMetric
from attune_rewards.predictions import Reflect
from attune_rewards.truth import ConversationTruth

PLACE: Final = 6
"""Among the topics, in score files and tables."""

SPAN = SCALE[1] - SCALE[0]
MIDPOINT = sum(SCALE) // 2
"""The value of a missing prediction in the canonical variant."""


def errors(truth: Mapping[str, int | None], predicted: Mapping[str, int]) -> dict[str, int]:
    """Absolute error (0–6) of every branch that was rated; a missing prediction counts as 4."""
    return {
        branch: abs(want - predicted.get(branch, MIDPOINT))
        for branch in BRANCHES
        if (want := truth.get(branch)) is not None
    }


def normalized(branch_errors: Mapping[str, int]) -> float:
    """1 - MAE/6, in [0, 1]; 1 if nothing was rated."""
    if not branch_errors:
        return 1.0
    return 1.0 - sum(branch_errors.values()) / len(branch_errors) / SPAN


def strict_score(truth: int, predicted: int | None) -> float:
    """1 - error/6 of one branch; 0 if the prediction is missing or outside 1–7."""
    if predicted is None or not SCALE[0] <= predicted <= SCALE[1]:
        return 0.0
    return 1.0 - abs(truth - predicted) / SPAN


def _errors(truth: ConversationTruth, said: Reflect) -> dict[str, int]:
    return errors(truth.branches, said.branches)


METRICS: Final = (
    ReflectMetric(
        "four_branch_mae", "mean absolute error over the rated branches",
        lambda truth, said: mean(_errors(truth, said).values()),
        better="lower", high=SPAN, edges="a missing prediction counts as 4", undefined="no branch was rated",
    ),
    ReflectMetric(
        "four_branch_normalized", "1 − four_branch_mae/6",
        lambda truth, said: normalized(_errors(truth, said)),
        edges="a missing prediction counts as 4; 1 if no branch was rated",
        label="Branch ratings (4-Branch)", role="input",
    ),
    ReflectMetric(
        "four_branch_per_branch",
        "absolute error of each branch; in aggregates `four_branch_error_perceiving` and so on", _errors,
        better="lower", high=SPAN, edges="branches without a rating are left out",
    ),
)  # fmt: skip


def _leaf(name: str) -> Leaf[ConversationTruth, Reflect]:
    return Leaf(
        name=f"branch_{name}",
        stage="reflect",
        node="branches",
        label=f"Rating of the assistant: {name}",
        value=lambda truth, said: strict_score(truth.branches[name], said.branches.get(name)),
        annotated=lambda truth: name in truth.branches,
        answered=lambda truth, said: float(said.branches.get(name) is not None),
        reads=(f"branches.{name}",),
        text=PartText(
            f"how well the assistant did at {name} feelings, as rated by the person from 1 to 7",
            "1 − |predicted − rated|/6",
            "the branch is rated",
            "no whole number from 1 to 7",
        ),
    )


LEAVES: Final = tuple(map(_leaf, BRANCHES))
