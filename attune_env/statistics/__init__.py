"""Statistics: the paper's bootstrap, vectorised over models and metrics, and tests of differences."""

from attune_env.statistics.comparisons import Comparison, Separation, compare, separation
from attune_env.statistics.contrasts import Contrast, contrasts
from attune_env.statistics.ranks import rank_correlations
from attune_env.statistics.score_table import ScoreTable
from attune_env.statistics.sign_flip import sign_flip
from attune_env.statistics.variance import VarianceSplit, variance_split
from attune_env.statistics.wins import win_rates
from attune_rewards.bootstrap import Bootstrap, Interval

__all__ = [
    "Bootstrap",
    "Comparison",
    "Contrast",
    "Interval",
    "ScoreTable",
    "Separation",
    "VarianceSplit",
    "compare",
    "contrasts",
    "rank_correlations",
    "separation",
    "sign_flip",
    "variance_split",
    "win_rates",
]
