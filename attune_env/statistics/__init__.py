"""Statistics: the paper's bootstrap, vectorised over all models and metrics."""

from attune_env.statistics.bootstrap import Bootstrap, Interval
from attune_env.statistics.comparisons import Comparison, Separation, compare, separation
from attune_env.statistics.contrasts import Contrast, contrasts
from attune_env.statistics.score_table import ScoreTable
from attune_env.statistics.sign_flip import sign_flip
from attune_env.statistics.wins import win_rates

__all__ = [
    "Bootstrap",
    "Comparison",
    "Contrast",
    "Interval",
    "ScoreTable",
    "Separation",
    "compare",
    "contrasts",
    "separation",
    "sign_flip",
    "win_rates",
]
