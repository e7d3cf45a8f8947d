"""Sign-flip test: could differences of this size arise if their signs were random?

Under the hypothesis that a difference is as likely to be +x as -x, every pattern of signs is equally likely.
A unit (conversation, or participant with all their conversations) is flipped as a whole. Source: the
randomisation test for paired data (Fisher 1935), with the p of a drawn sample of patterns that cannot be 0
(Phipson & Smyth 2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from attune_env.statistics.bootstrap import RESAMPLES, Array, Bootstrap, weighted

EXACT: Final = 13
"""Up to this many units all 2^units patterns are gone through (8,192): fewer than would be drawn."""
TIED: Final = 1e-9
"""Sums this close to the observed one, relative to the largest difference, equal it: it is rounding."""


@dataclass(frozen=True, slots=True)
class SignFlip:
    """The test's outcome, one entry per column."""

    mean: Array
    """Mean of the defined differences; NaN if there is none."""
    p: Array
    """Two-sided, in (0, 1]; NaN if nothing is defined."""
    exact: bool
    """Whether all patterns were gone through."""


class SignPatterns:
    """Sign patterns of some units, to be used on any number of columns.

    Args:
        kernel: says which rows are one unit.
        draws: how many patterns are drawn if there are more than `EXACT` units.
        seed: seed of the generator; not the bootstrap's stream, even with the same seed.
    """

    def __init__(self, kernel: Bootstrap, *, draws: int = RESAMPLES, seed: int = 0) -> None:
        self.kernel = kernel
        self.exact = kernel.units <= EXACT
        if self.exact:
            numbers = np.arange(1, 2**kernel.units)[:, None]  # 0 would be the observed pattern
            flipped = numbers >> np.arange(kernel.units) & 1
        else:
            generator = np.random.default_rng([seed, 0x51F])
            flipped = generator.integers(0, 2, (draws, kernel.units), dtype=np.int8)
        self.signs = (1 - 2 * flipped).astype(np.int8)
        """(patterns, units) of 1 and -1."""

    def sums(self, differences: Array) -> Array:
        """(columns, patterns): the sum of the differences under each pattern, NaN left out."""
        return weighted(self.signs, self.kernel.unit_sums(np.nan_to_num(differences)))

    def p(self, flipped: Array, differences: Array) -> Array:
        """(columns,): p = (1 + b)/(1 + B) from `sums` and the differences they are of; NaN if undefined.

        b counts the patterns whose |sum| reaches the observed one, B all patterns.
        """
        by_unit = self.kernel.unit_sums(np.nan_to_num(differences))
        reach = np.abs(by_unit.sum(axis=0)) - TIED * np.abs(by_unit).max(axis=0)
        reached = (np.abs(flipped) >= reach[:, None]).sum(axis=1)
        p: Array = (1 + reached) / (1 + len(self.signs))
        p[np.isnan(differences).all(axis=0)] = np.nan
        return p


def sign_flip(kernel: Bootstrap, differences: Array, *, draws: int = RESAMPLES, seed: int = 0) -> SignFlip:
    """Tests that each column of differences is centred on 0, two-sided.

    Args:
        kernel: whose units are flipped.
        differences: (rows, columns), such as Binary OM minus Binary HP accuracy of each model; NaN =
            undefined.
        draws: patterns that are drawn; with at most `EXACT` units all patterns are enumerated instead.
        seed: seed of the generator.

    The statistic is the sum of the defined differences, which orders patterns as their mean does. With all
    patterns, (1 + b)/(1 + B) is the exact share of patterns, the observed one among them, that reach it.

    Undefined: a column without any defined difference. A column of zeros has p = 1.
    """
    patterns = SignPatterns(kernel, draws=draws, seed=seed)
    with np.errstate(invalid="ignore"):
        mean = np.nansum(differences, axis=0) / (~np.isnan(differences)).sum(axis=0)
    return SignFlip(mean, patterns.p(patterns.sums(differences), differences), patterns.exact)
