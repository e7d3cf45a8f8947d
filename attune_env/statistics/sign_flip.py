"""Sign-flip test: could differences of this size arise if their signs were random?

Under the hypothesis that a difference is as likely to be +x as -x, every pattern of signs is equally likely.
A unit (a conversation, or a participant with all their conversations) is flipped as a whole. Source: the
randomisation test for paired data (Fisher 1935), with the p for a random sample of patterns, which cannot be
0 (Phipson & Smyth 2010).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from attune_rewards.bootstrap import RESAMPLES, Array, Bootstrap, weighted

EXACT: Final = 13
"""Up to this many units, all 2^units patterns (8,192) are enumerated, which are fewer than would be drawn."""
TIED: Final = 1e-9
"""Sums this close to the observed one, relative to the largest difference, count as equal (rounding)."""


def sign_flip(kernel: Bootstrap, differences: Array, *, draws: int = RESAMPLES, seed: int = 0) -> Array:
    """Test whether each column of differences is centred on 0; returns the two-sided p of each, in (0, 1].

    Args:
        kernel: the kernel whose units are flipped.
        differences: (rows, columns), such as Binary OM minus Binary HP accuracy of each model; NaN =
            undefined.
        draws: the number of random patterns; with at most `EXACT` units, all patterns are enumerated instead.
        seed: the seed of the generator, whose stream differs from the bootstrap's even with the same seed.

    The statistic is the sum of the defined differences, which orders patterns as their mean does.
    p = (1 + b)/(1 + B), where b of B patterns reach the observed sum in size; with all patterns that is the
    exact share of patterns, the observed one among them.

    Undefined (NaN): a column without any defined difference. A column of zeros has p = 1.
    """
    if kernel.units <= EXACT:
        numbers = np.arange(1, 2**kernel.units)[:, None]  # 0 would be the observed pattern
        flipped = numbers >> np.arange(kernel.units) & 1
    else:
        generator = np.random.default_rng([seed, 0x51F])
        flipped = generator.integers(0, 2, (draws, kernel.units), dtype=np.int8)
    signs = (1 - 2 * flipped).astype(np.int8)
    by_unit = kernel.unit_sums(np.nan_to_num(differences))
    reach = np.abs(by_unit.sum(axis=0)) - TIED * np.abs(by_unit).max(axis=0)
    reached = (np.abs(weighted(signs, by_unit)) >= reach[:, None]).sum(axis=1)
    p: Array = (1 + reached) / (1 + len(signs))
    p[np.isnan(differences).all(axis=0)] = np.nan
    return p
