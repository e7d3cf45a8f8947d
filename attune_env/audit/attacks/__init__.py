"""Attacks on a reward: measure what can be earned without understanding anything.

`exploits` writes the degenerate replies that policies discover in training (`sycophancy` the one that agrees
with everything), `surface` uses single superficial features, `search` finds the best constant answers by hill
climbing, and `play` scores a policy under several rewards at once.
"""

from attune_env.audit.attacks.exploits import EXPLOITS, ExploitPolicy
from attune_env.audit.attacks.play import Played, RewardsOf, play
from attune_env.audit.attacks.search import fit_searched
from attune_env.audit.attacks.surface import SURFACE

__all__ = [
    "EXPLOITS",
    "SURFACE",
    "ExploitPolicy",
    "Played",
    "RewardsOf",
    "fit_searched",
    "play",
]
