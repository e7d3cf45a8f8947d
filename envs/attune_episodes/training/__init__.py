"""Training rows: one request each, with all that scoring a reply to it needs."""

from attune_episodes.training.dataset import to_dataset
from attune_episodes.training.scoring import score_row, score_truth

__all__ = ["score_row", "score_truth", "to_dataset"]
