"""`score_row`: what a model's text earns, from the row alone. Every trainer's adapter calls this."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from attune_data.errors import DataError, Problem, show
from attune_episodes.parsing import parse
from attune_episodes.request import Request
from attune_episodes.score import as_scored
from attune_episodes.training.truth import read_truth
from attune_rewards.reward import Score, ScoredRequest

Paid = Mapping[str, tuple[float, float]]
"""Part -> (its share of the row's reward, the null that it is measured from). The shares sum to 1."""
KEPT: Final = 1024
"""Truths kept read: a group of replies to one prompt, and the prompts of a batch, read each only once."""


def score_row(row: Mapping[str, Any], text: str | None) -> Score:
    """The score of a model's reply to the prompt of a row; the very score that an `Episode` gives it.

    Args:
        row: a row of `to_dataset`, or any mapping with its `truth`.
        text: the reply. None, as some clients give for no content, counts as an empty text.

    Returns:
        The score: `value` in [0, 1] (below 0 where the reward measures from nulls), `reason`, `parts`,
        and the row's `weight`. Never None in `value`: what no part scores is no row.

    Raises DataError where the row has no truth, or one that another scoring version wrote; TypeError for
    what is no row.
    """
    if not isinstance(row, Mapping):
        raise TypeError(f"a row is a mapping with its truth, got {show(row)} ({type(row).__name__})")
    truth = row.get("truth")
    if not isinstance(truth, str):
        raise DataError(
            Problem("row", "truth", show(truth), "the JSON text that to_dataset wrote", "keep that column")
        )
    return score_truth(truth, text)


def score_truth(truth: str, text: str | None) -> Score:
    """`score_row` for those who have the column `truth` only, as trainers hand columns over."""
    if text is not None and not isinstance(text, str):
        raise TypeError(f"a reply is a text (of chat messages: the content), got {type(text).__name__}")
    request, scored, _ = _read(truth)
    said, reason = as_scored(request, parse(request, text or ""), scored.truth)
    return scored.score(said, reason)


def paid_by(truth: str) -> Paid:
    """What the parts of a row are paid: Σ share · (score - null)/(1 - null) is the value of its score."""
    return _read(truth)[2]


@lru_cache(maxsize=KEPT)
def _read(truth: str) -> tuple[Request, ScoredRequest, Paid]:
    request, scored = read_truth(truth)
    paid = {name: (weight / scored.weight, null) for name, weight, null in scored.parts}
    return request, scored, MappingProxyType(paid)
