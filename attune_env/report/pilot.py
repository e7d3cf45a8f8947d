"""The authors' human pilot: what people scored, as a dated note beside models' figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class HumanPilot:
    """Published figures of people who predicted the participants' answers. Shares in [0, 1]."""

    annotators: int
    conversations: int
    best_pairwise: float
    """Pairwise accuracy of the best annotator."""
    best_model_pairwise: float
    """Of the best of the authors' 11 models, on the same conversations."""
    best_model_binary_hp: float
    """Binary HP accuracy of the best model there."""
    source: str


PILOT: Final = HumanPilot(
    annotators=3,
    conversations=7,
    best_pairwise=0.722,
    best_model_pairwise=0.665,
    best_model_binary_hp=0.853,
    source="AttuneBench v1.0; conversations collected through March 2026",
)


def pilot_note(pilot: HumanPilot = PILOT) -> str:
    """One line for under a table. Other conversations than the table's: no row, no comparison."""
    return (
        f"Human pilot ({pilot.source}): {pilot.annotators} annotators, {pilot.conversations} conversations; "
        f"best annotator {pilot.best_pairwise:.3f} pairwise accuracy, best of the authors' models on the "
        f"same conversations {pilot.best_model_pairwise:.3f} (binary HP {pilot.best_model_binary_hp:.3f}). "
        "Other conversations than these: a note, not a row to compare with."
    )
