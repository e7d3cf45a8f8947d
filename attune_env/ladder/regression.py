"""Logistic regression with an L2 penalty."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from attune_rewards.bootstrap import Array

Matrix = Any
"""A sparse matrix of SciPy, one row per example."""
STEPS: Final = 1000


def regression(
    rows: Matrix,
    yes: npt.NDArray[np.bool_],
    weights: Array,
    strength: float,
    *,
    steps: int = STEPS,
    ftol: float = 2.2204460492503131e-09,
    gtol: float = 1e-5,
) -> Array:
    """The weights and, last, the intercept that minimise Σ weight · log loss + |w|²/(2 · strength).

    The intercept is not penalised.

    Args:
        rows: (examples, features).
        yes: the label of each example.
        weights: how much each example counts.
        strength: the inverse of the penalty on large weights.
        steps: the most iterations of SciPy's L-BFGS-B.
        ftol: its relative tolerance of the loss, at which it stops.
        gtol: its tolerance of the gradient.
    """
    signs = np.where(yes, 1.0, -1.0)
    across = rows.T.tocsr()

    def loss(beta: Array) -> tuple[float, Array]:
        margin = signs * (rows @ beta[:-1] + beta[-1])
        slope = -signs * weights * strength * 0.5 * (1 - np.tanh(0.5 * margin))
        value = strength * float(weights @ np.logaddexp(0.0, -margin)) + 0.5 * float(beta[:-1] @ beta[:-1])
        return value, np.append(across @ slope + beta[:-1], slope.sum())

    start = np.zeros(rows.shape[1] + 1)
    best = minimize(loss, start, jac=True, method="L-BFGS-B",
                    options={"maxiter": steps, "ftol": ftol, "gtol": gtol})  # fmt: skip
    return np.asarray(best.x, dtype=np.float64)
