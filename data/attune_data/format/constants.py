"""Fixed identifiers and option lists of the benchmark (AttuneBench v1.0, codebook and README).

The wording is in `codebook/`; these are the names used in files and metrics.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

Answer = Literal["yes", "no", "na"]
ResponseName = Literal["original", "alternate", "human"]
Side = Literal["A", "B"]
Provenance = Literal["imported", "own", "played", "study", "filler", "benchmark"]
PROVENANCES: Final[tuple[Provenance, ...]] = get_args(Provenance)

RESPONSES: Final[tuple[ResponseName, ...]] = ("original", "alternate", "human")
"""The reply of the OM, the version improved by the LLM, and the version edited by the human."""

BINARY_BRANCHES: Final[dict[str, str]] = {
    **dict.fromkeys(["B1", "B2", "B3"], "perceiving"),
    **dict.fromkeys(["B4", "B5", "B6", "B7"], "understanding"),
    **dict.fromkeys(["B8", "B9", "B10", "B11", "B12", "B13", "B14", "B15"], "using"),
    **dict.fromkeys(["B16", "B17", "B18", "B19", "B20"], "regulating"),
    **dict.fromkeys(["B108", "B109"], "perceiving"),
    **dict.fromkeys(["B206", "B207"], "understanding"),
    **dict.fromkeys(["B310", "B311", "B313", "B315", "B316"], "using"),
    **dict.fromkeys(["B406", "B408"], "regulating"),
    **dict.fromkeys(["B501", "B502", "B503", "B504", "B505"], "cognitive_framing"),
}
BINARY_IDS: Final[tuple[str, ...]] = tuple(BINARY_BRANCHES)
"""The 36 yes/no questions about a reply: B1–B20 core, B108–B505 extended."""
JUDGED: Final[tuple[str, ...]] = ("B2", "B8", "B9", "B10", "B20", "B206", "B207")
"""The yes/no questions that no text settles: they ask for the person's judgement."""
PAIRWISE_IDS: Final[tuple[str, ...]] = ("general", *(f"PW{i}" for i in range(1, 17)))

Q1_OPTIONS: Final[tuple[str, ...]] = (
    "To just listen or let me vent",
    "To help me understand or sort out my feelings",
    "To help me think through options or make a decision",
    "To help with something urgent, risky, or high-stakes",
    "To get specific information or advice",
    "To help me calm down or feel steadier",
    "Other",
)
Q2_OPTIONS: Final[tuple[str, ...]] = (
    "Clear and explicitly stated",
    "Implied or indirect",
    "Mixed or conflicted",
    "Unclear / evolving as I talked",
)
Q3_OPTIONS: Final[tuple[str, ...]] = (
    "Very well-matched and adaptive",
    "Mostly well-matched",
    "Mixed, some good moments, some misses",
    "Mostly off-target or intrusive",
)
"""Best to worst: the order is the scale of the ordinal distance."""
Q3_NEGATIVE: Final[frozenset[str]] = frozenset(Q3_OPTIONS[2:])
"""The answers after which the participant was asked what felt off."""
BRANCHES: Final[tuple[str, ...]] = ("perceiving", "facilitating", "understanding", "managing")
JUDGE_DIMENSIONS: Final[tuple[str, ...]] = (
    "overall_score",
    "emotional_appropriateness",
    "helpfulness",
    "tone_match",
)
