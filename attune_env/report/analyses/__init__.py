"""Analyses of what a model can and cannot read: each has a question, tables, figures and a caption."""

from attune_env.report.analyses.agreement import BIAS, BINARY, CHOICES
from attune_env.report.analyses.analysis import Absent, Analysis, Finding
from attune_env.report.analyses.comparisons import CORRELATIONS, PAIRS, PERSPECTIVE, VARIANCE, WINS
from attune_env.report.analyses.conditions import COST, LEARNING, MODES
from attune_env.report.analyses.conversations import DIFFICULTY, DRIFT
from attune_env.report.analyses.feelings import FEELINGS, FOUR_BRANCHES, PANAS
from attune_env.report.analyses.leaderboard import EVERY_METRIC, LEADERS
from attune_env.report.analyses.participants import CLINICAL, TOPICS, TRAITS
from attune_env.report.analyses.profile import PROFILE
from attune_env.report.analyses.study import Study
from attune_env.report.analyses.verdict import VERDICT

Chapter = tuple[str, tuple[Analysis, ...]]

FRONT: Chapter = ("The answer", (VERDICT, PROFILE, LEADERS))
CHAPTERS: tuple[Chapter, ...] = (
    FRONT,
    ("Models against each other", (PAIRS, EVERY_METRIC, WINS, PERSPECTIVE)),
    ("Answer by answer", (BINARY, CHOICES, BIAS, FEELINGS, PANAS, FOUR_BRANCHES)),
    ("Participants and conversations", (CLINICAL, TRAITS, TOPICS, DRIFT, DIFFICULTY)),
    ("Modes, cost and training", (MODES, COST, LEARNING)),
    ("What the numbers rest on", (CORRELATIONS, VARIANCE)),
)

ANALYSES: tuple[Analysis, ...] = tuple(analysis for _, analyses in CHAPTERS for analysis in analyses)

__all__ = ["ANALYSES", "CHAPTERS", "FRONT", "Absent", "Analysis", "Chapter", "Finding", "Study"]
