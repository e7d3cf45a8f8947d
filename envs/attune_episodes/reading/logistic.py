"""Logistic regression on sparse rows, and the quality of predictions: the tools of `fit` and `measure`.

Needs SciPy; reading does not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.stats import rankdata

from attune_episodes.reading.fitted import squash

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
BINS = 10
STEPS = 60


def fitted(rows: Any, yes: Bools, weights: Array, strength: float) -> Array:
    """The weights and, last, the intercept that minimise the weighted log loss plus |w|²/(2·strength)."""
    signs = np.where(yes, 1.0, -1.0)
    across = rows.T.tocsr()

    def loss(beta: Array) -> tuple[float, Array]:
        margin = signs * (rows @ beta[:-1] + beta[-1])
        slope = -signs * squash(-margin) * weights * strength
        value = strength * float(weights @ np.logaddexp(0.0, -margin)) + 0.5 * float(beta[:-1] @ beta[:-1])
        return value, np.append(across @ slope + beta[:-1], slope.sum())

    start = np.zeros(rows.shape[1] + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return np.asarray(found.x, dtype=np.float64)


def balanced(yes: Bools) -> Array:
    """Weights that give each answer half of the total."""
    share = yes.mean()
    return np.asarray(np.where(yes, 0.5 / share, 0.5 / (1 - share)), dtype=np.float64)


def platt(logits: Array, yes: Bools) -> tuple[float, float]:
    """The slope and intercept that calibrate logits, with one pseudo-observation of each answer.

    Source: Platt 1999, with the slope kept from 0.05 to 2.
    """
    from scipy.sparse import csr_matrix

    scale = float(np.std(logits)) or 1.0
    middle = float(np.mean(logits))
    rows = csr_matrix(np.append((logits - middle) / scale, [0.0, 0.0])[:, None])
    slope, shift = fitted(rows, np.append(yes, [True, False]), np.ones(len(yes) + 2), 10.0)
    slope = min(2.0, max(0.05, slope / scale))
    return slope, shift - slope * middle


class Quality(NamedTuple):
    """How well a question is read. Undefined ratios are NaN."""

    number: int
    yes: int
    precision: float
    recall: float
    f1: float
    """The mean of the F1 of yes and the F1 of no."""
    area: float
    """Area under the ROC curve: the probability that a yes ranks above a no."""
    balanced: float
    """Balanced accuracy: the mean of the recall of yes and the recall of no."""
    brier: float
    error: float
    """Expected calibration error, in ten bins of equal width."""


def quality(probability: Array, said: Bools, yes: Bools) -> Quality:
    """The quality of predictions, from probabilities, what was read, and the true answers."""
    with np.errstate(invalid="ignore", divide="ignore"):
        hits, right_no = float((said & yes).sum()), float((~said & ~yes).sum())
        precision, recall = np.divide(hits, said.sum()), np.divide(hits, yes.sum())
        f_yes = 2 * hits / (said.sum() + yes.sum()) if said.any() or yes.any() else np.nan
        f_no = 2 * right_no / ((~said).sum() + (~yes).sum()) if not (said.all() and yes.all()) else np.nan
        both = np.divide(right_no, (~yes).sum())
        area = np.nan
        if yes.any() and not yes.all():
            ranks = rankdata(probability)
            area = (ranks[yes].sum() - yes.sum() * (yes.sum() + 1) / 2) / (yes.sum() * (~yes).sum())
    place = np.minimum((probability * BINS).astype(int), BINS - 1)
    gaps = [
        abs(float(probability[place == b].sum() - yes[place == b].sum()))
        for b in range(BINS)
        if (place == b).any()
    ]
    return Quality(
        len(yes), int(yes.sum()), float(precision), float(recall), float((f_yes + f_no) / 2), float(area),
        float((recall + both) / 2), float(np.mean((probability - yes) ** 2)), sum(gaps) / len(yes),
    )  # fmt: skip
