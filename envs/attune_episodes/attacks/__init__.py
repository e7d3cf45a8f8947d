"""Attacks on a reward: what can be earned without understanding anything.

`exploits` writes the replies a trainer's policy stumbles on, `search` climbs to the best constant answers,
`silence` takes answers and annotations away, `play` scores a policy under several rewards at once.
"""

from attune_episodes.attacks.exploits import EXPLOITS, ExploitPolicy
from attune_episodes.attacks.play import Played, play
from attune_episodes.attacks.search import fit_searched
from attune_episodes.attacks.silence import UNANNOTATED, UNANSWERED, without

__all__ = [
    "EXPLOITS",
    "UNANNOTATED",
    "UNANSWERED",
    "ExploitPolicy",
    "Played",
    "fit_searched",
    "play",
    "without",
]
