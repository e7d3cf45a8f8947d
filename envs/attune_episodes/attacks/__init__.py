"""Attacks on a reward: what can be earned without understanding anything.

`exploits` writes the degenerate replies that policies come across in training, `surface` uses what can be
seen without understanding, `search` climbs to the best constant answers, and `play` scores a policy under
several rewards at once.
"""

from attune_episodes.attacks.exploits import EXPLOITS, ExploitPolicy
from attune_episodes.attacks.play import Played, play
from attune_episodes.attacks.search import fit_searched
from attune_episodes.attacks.surface import SURFACE, SurfacePolicy

__all__ = [
    "EXPLOITS",
    "SURFACE",
    "ExploitPolicy",
    "Played",
    "SurfacePolicy",
    "fit_searched",
    "play",
]
