"""What a model can and cannot read: each analysis is a function of a `Study` that gives an `Analysis`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_item.affect_items import panas_items
from attune_env.analyses.by_item.binary import binary_questions
from attune_env.analyses.by_item.feelings import feelings
from attune_env.analyses.by_item.four_branches import four_branches
from attune_env.analyses.by_item.preference import preference_bias, preference_questions
from attune_env.analyses.by_item.stance import wordings
from attune_env.analyses.by_score import (
    clinical_affect_gap,
    cost_against_score,
    difficulty,
    leaderboard,
    learning_curves,
    metric_correlations,
    metric_groups,
    mode_differences,
    pairs_separated,
    perspective_gap,
    preference_wins,
    samples,
    top_models,
    topics,
    traits,
    turn_against_composite,
    turn_drift,
    variance_shares,
)
from attune_env.analyses.study import Study

Analyse = Callable[[Study], Analysis | Absent]
Chapter = tuple[str, Sequence[Analyse]]
"""A heading, and what stands under it."""

CHAPTERS: tuple[Chapter, ...] = (
    ("Who leads", (leaderboard, pairs_separated, top_models, metric_groups, samples)),
    ("What was done, and what was wanted", (perspective_gap, wordings, binary_questions)),
    ("Feelings", (feelings, panas_items, four_branches)),
    ("Preferences", (preference_wins, preference_questions, preference_bias)),
    ("Who and what is harder to read", (clinical_affect_gap, traits, topics, turn_drift, difficulty)),
    ("How it was asked, what it took", (mode_differences, cost_against_score, learning_curves)),
    ("What the numbers rest on", (metric_correlations, turn_against_composite, variance_shares)),
)
"""Every analysis under the heading it is shown under, in the order that is read best."""

ANALYSES: tuple[Analyse, ...] = tuple(function for _, functions in CHAPTERS for function in functions)
"""Every analysis, in that order."""

__all__ = ["ANALYSES", "CHAPTERS", "Absent", "Analyse", "Analysis", "Chapter", "Study"]
