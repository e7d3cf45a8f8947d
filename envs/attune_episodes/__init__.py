"""How an episode runs: plan, parsing, scoring, `Episode`, policies, and an adapter per framework."""

from attune_episodes.episode import Episode, EpisodeOverError, Step
from attune_episodes.parsing import Unparsed, parse, render
from attune_episodes.plan import plan
from attune_episodes.policies import BUILTIN, KINDS, Policy, builtin_policy
from attune_episodes.request import Request
from attune_episodes.rollout import Rollout, rollout, rollout_async, rollout_batch
from attune_episodes.score import score
from attune_episodes.settings import MODES, Settings
from attune_episodes.trainers.scoring import score_row

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
