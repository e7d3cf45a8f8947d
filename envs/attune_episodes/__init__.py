"""How an episode runs: protocol, parsing, playing, policies, training rows, and an adapter per framework.

The public names load on first use, so that importing one room loads no other.
"""

from attune_data.lazy import lazy_names

TYPE_CHECKING = False  # not from typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from attune_episodes.parsing import Unparsed, parse, render
    from attune_episodes.play.episode import Episode, EpisodeOverError, Step
    from attune_episodes.play.policy import Policy
    from attune_episodes.play.rollout import Rollout, rollout, rollout_async, rollout_batch
    from attune_episodes.play.score import score
    from attune_episodes.policies import BUILTIN, KINDS, builtin_policy
    from attune_episodes.protocol.plan import plan
    from attune_episodes.protocol.request import Request
    from attune_episodes.protocol.settings import MODES, Settings
    from attune_episodes.training.scoring import score_row

_NAMES = {
    "attune_episodes.parsing": "Unparsed parse render",
    "attune_episodes.play.episode": "Episode EpisodeOverError Step",
    "attune_episodes.play.rollout": "Rollout rollout rollout_async rollout_batch",
    "attune_episodes.play.score": "score",
    "attune_episodes.policies": "BUILTIN KINDS builtin_policy",
    "attune_episodes.play.policy": "Policy",
    "attune_episodes.protocol.plan": "plan",
    "attune_episodes.protocol.request": "Request",
    "attune_episodes.protocol.settings": "MODES Settings",
    "attune_episodes.training.scoring": "score_row",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
"""Public name -> the module that defines it."""

__all__ = [
    "BUILTIN",
    "KINDS",
    "MODES",
    "Episode",
    "EpisodeOverError",
    "Policy",
    "Request",
    "Rollout",
    "Settings",
    "Step",
    "Unparsed",
    "builtin_policy",
    "parse",
    "plan",
    "render",
    "rollout",
    "rollout_async",
    "rollout_batch",
    "score",
    "score_row",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
