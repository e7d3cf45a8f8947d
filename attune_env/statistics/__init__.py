"""Statistics one can defend: the paper's bootstrap, vectorised over all models and metrics."""

from attune_env.statistics.bootstrap import Bootstrap, Interval

__all__ = ["Bootstrap", "Interval"]
