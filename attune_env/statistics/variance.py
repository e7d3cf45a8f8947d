"""Sources of variance: models, conversations, residual.

Two-way analysis without replication: every model answers every conversation once, so the residual contains
both the models' interaction with conversations and chance; one run cannot tell them apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attune_rewards.bootstrap import Array


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """Shares of the variance of one metric's scores; each triple sums to 1."""

    model: float
    """Share of the variance components (the main figures): σ²_model / σ²."""
    conversation: float
    rest: float
    squares_model: float
    """Share of the sums of squares (η²): SS_model / SS_total."""
    squares_conversation: float
    squares_rest: float
    variance: float
    """σ² = the sum of the three components, in squared units of the metric."""
    rows: int
    """Number of conversations that every model has; the others are left out."""
    dropped: int
    """Number of conversations that lack a value of some model."""
    models: int


def variance_split(values: Array) -> VarianceSplit | None:
    """Decompose the variance of one metric; `values` has shape (rows, models), with NaN if undefined.

    With `x_ij` the score of model j on conversation i, n complete rows, k models, and means `x_i.`, `x_.j`
    and `x..`::

        SS_model = n Σ_j (x_.j - x..)²         MS_model = SS_model / (k - 1)
        SS_conv  = k Σ_i (x_i. - x..)²         MS_conv  = SS_conv / (n - 1)
        SS_rest  = SS_total - both             MS_rest  = SS_rest / ((n - 1)(k - 1))

        σ²_model = max(0, (MS_model - MS_rest)/n)
        σ²_conv  = max(0, (MS_conv - MS_rest)/k)
        σ²_rest  = MS_rest

    The variance components (random effects; method of moments) are the main figures: they estimate how much
    the score of another model on another conversation would vary, and do not depend on the number of either.
    The shares of the sums of squares are given beside them; they attribute part of chance to model and
    conversation (about 1/k of pure chance to conversations).

    Rows that lack any model's value are dropped; models without any value must be left out before. None if
    it is undefined: fewer than two complete rows or models, or scores that do not vary.
    """
    complete = values[~np.isnan(values).any(axis=1)]
    n, k = complete.shape
    if n < 2 or k < 2:
        return None
    centred = complete - complete.mean()
    by_model, by_row = centred.mean(axis=0), centred.mean(axis=1)
    total = float((centred**2).sum())
    if total <= np.finfo(float).eps ** 2 * centred.size * max(float(np.abs(complete).max()), 1.0) ** 2:
        return None
    ss_model, ss_row = n * float((by_model**2).sum()), k * float((by_row**2).sum())
    ss_rest = float(((centred - by_model - by_row[:, None]) ** 2).sum())
    rest = ss_rest / ((n - 1) * (k - 1))
    model = max(0.0, (ss_model / (k - 1) - rest) / n)
    row = max(0.0, (ss_row / (n - 1) - rest) / k)
    whole = rest + model + row
    components = model / whole, row / whole, rest / whole
    squares = ss_model / total, ss_row / total, ss_rest / total
    return VarianceSplit(*components, *squares, whole, n, len(values) - n, k)
