"""A random reward of the same distribution: what it pays, and whether the reward can be told from it.

Training on random rewards can raise scores too (arXiv 2506.10947), so that scores rose says little about a
reward. A random reward deals the returns that were earned in a conversation to other answers at random:
policies that earned the same still do (their answers may be the same), but what was answered no longer
matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from attune_env.statistics.ranks import FEWEST, STEP
from attune_rewards.bootstrap import Array

DEALS: Final = 1000
"""How many random rewards are dealt."""
TAIL: Final = 97.5
"""The percentile of the random rewards that the reward has to exceed."""


@dataclass(frozen=True, slots=True)
class RandomReward:
    """A reward beside random rewards of the same distribution."""

    correlation: float
    """Mean over conversations of Spearman's correlation, across policies, of return and strict Composite."""
    chance: float
    """The `TAIL`th percentile of that correlation under random rewards."""
    pays: float
    """What a random reward pays any policy on average."""
    luckiest: float
    """The `TAIL`th percentile of what it pays the luckiest policy on average."""
    pays_best: float
    """What the reward itself pays the best of these policies on average."""
    conversations: int
    """Number of conversations in which neither returns nor Composites all tie."""

    @property
    def distinguishable(self) -> bool:
        """Whether the reward ranks the policies' answers by their quality more than a random one does."""
        return self.correlation > self.chance


def beside_random(returns: Array, truth: Array, seed: int = 0) -> RandomReward | None:
    """Set a reward beside random ones; None if it never tells these policies apart.

    Args:
        returns: (policies, conversations); NaN = not scored.
        truth: the strict Composite of the same, 0–100.
        seed: of the random rewards.
    """
    defined = ~(np.isnan(returns) | np.isnan(truth)).any(axis=0)
    returns, truth = returns[:, defined], truth[:, defined]
    ours, right = _standard(returns), _standard(truth)
    told = (ours.any(axis=0) & right.any(axis=0)) if ours.size else np.zeros(0, dtype=bool)
    if len(returns) < FEWEST or not told.any():
        return None
    returns, ours, right = returns[:, told], ours[:, told], right[:, told]
    worth, group = _groups(returns)
    random = np.random.default_rng(seed)
    found, luckiest = np.empty(DEALS), np.empty(DEALS)
    for deal in range(DEALS):
        # inf sorts last, so the groups of each conversation change places among themselves
        keys = np.where(np.isnan(worth), np.inf, random.random(worth.shape))
        dealt = np.take_along_axis(np.take_along_axis(worth, keys.argsort(axis=0), axis=0), group, axis=0)
        found[deal] = (_standard(dealt) * right).sum(axis=0).mean()
        luckiest[deal] = dealt.mean(axis=1).max()
    return RandomReward(
        correlation=float((ours * right).sum(axis=0).mean()),
        chance=float(np.percentile(found, TAIL)),
        pays=float(np.nanmean(worth, axis=0).mean()),
        luckiest=float(np.percentile(luckiest, TAIL)),
        pays_best=float(returns.mean(axis=1).max()),
        conversations=int(told.sum()),
    )


def _groups(returns: Array) -> tuple[Array, npt.NDArray[np.intp]]:
    """Group -> return in each conversation, NaN beyond its last group; and each policy's group."""
    worth, group = np.full_like(returns, np.nan), np.empty(returns.shape, dtype=np.intp)
    for place, column in enumerate(returns.T):
        _, first, group[:, place] = np.unique(np.rint(column / STEP), return_index=True, return_inverse=True)
        worth[: len(first), place] = column[first]
    return worth, group


def _standard(values: Array) -> Array:
    """Mid-ranks down each column with mean 0 and length 1; zeros where all tie."""
    from scipy.stats import rankdata  # takes seconds on a busy machine

    ranks = rankdata(np.rint(values / STEP), axis=0) if values.size else values
    centred: Array = ranks - (ranks.mean(axis=0) if values.size else 0)
    length = np.sqrt((centred**2).sum(axis=0))
    unit: Array = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    return unit
