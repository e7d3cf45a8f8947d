"""Analyses of scores: each takes a `Study` and gives an `Analysis`, or says why there is none."""

from attune_env.analyses.by_score.breakdowns import topics, traits
from attune_env.analyses.by_score.cost import cost_against_score
from attune_env.analyses.by_score.diagnosis import clinical_affect_gap
from attune_env.analyses.by_score.difficulty import difficulty
from attune_env.analyses.by_score.drift import turn_drift
from attune_env.analyses.by_score.leaderboard import leaderboard, metric_groups, samples
from attune_env.analyses.by_score.learning import learning_curves
from attune_env.analyses.by_score.modes import mode_differences
from attune_env.analyses.by_score.perspective import perspective_gap
from attune_env.analyses.by_score.relations import metric_correlations, turn_against_composite
from attune_env.analyses.by_score.separated import pairs_separated
from attune_env.analyses.by_score.top import top_models
from attune_env.analyses.by_score.variance import variance_shares
from attune_env.analyses.by_score.wins import preference_wins

__all__ = [
    "clinical_affect_gap",
    "cost_against_score",
    "difficulty",
    "leaderboard",
    "learning_curves",
    "metric_correlations",
    "metric_groups",
    "mode_differences",
    "pairs_separated",
    "perspective_gap",
    "preference_wins",
    "samples",
    "top_models",
    "topics",
    "traits",
    "turn_against_composite",
    "turn_drift",
    "variance_shares",
]
