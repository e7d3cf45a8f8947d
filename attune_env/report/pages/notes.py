"""The notes below everything derived from scores: intended use, data, versions, seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attune_data.errors import one_line
from attune_data.version import __version__
from attune_env.report.analyses.study import SHIPPED, Study
from attune_env.report.pages.assets import LONGEST_LINE
from attune_env.statistics.sign_flip import EXACT
from attune_env.tables.labels import mode_text
from attune_rewards.bootstrap import RESAMPLES
from attune_rewards.record.marks import mapping

Note = tuple[str, str]
"""(heading, text)"""

_USE: Final = (
    "Research evaluation. The scores show how well a model predicts what people reported about conversations "
    "with a language model. They are not a clinical measure and do not show that a model is safe or helpful "
    "for anyone in distress."
)
_DATA: Final[Mapping[str, tuple[Note, ...]]] = {
    "benchmark": (
        (
            "Data",
            "AttuneBench v1.0 by Pareto AI Research and Thoughtful Lab, collected through March 2026. The "
            "participants were adults who had been told that the model is not therapy. High-risk topics were "
            "left out, and there is no personal data. No model may be trained on its conversations, "
            "annotations or metadata.",
        ),
        (
            "Attribution",
            "The conversations and annotations are licensed CC BY 4.0 (creativecommons.org/licenses/by/4.0); "
            "the scores, figures and statistics here are derived from them. Credit AttuneBench and its "
            "authors when you share them.",
        ),
    ),
    "filler": (
        (
            "Data",
            "Filler: texts and annotations drawn at random, for tests and measurements of this software. The "
            "numbers mean nothing.",
        ),
    ),
    "own": (
        (
            "Data",
            "Conversations marked as the user's own. They are not the benchmark, so numbers from them cannot "
            "be compared with published ones.",
        ),
    ),
    **{
        name: (
            (
                "Data",
                f"The {what} that comes with this project: fictional, written by language models, CC BY 4.0, "
                "by attune-env. It is not the benchmark: numbers from it cannot be compared with published "
                "ones, are not for ranking models and say nothing about people.",
            ),
        )
        for name, what in SHIPPED.items()
    },
    "study": (
        (
            "Data",
            "Conversations of a study with participants, under the licence that its export states. They are "
            "not the benchmark, so numbers from them cannot be compared with published ones.",
        ),
    ),
    "played": (
        (
            "Data",
            "Conversations of people played by language models, whose feelings and wishes a program decided. "
            "They are not the benchmark: numbers from them cannot be compared with published ones, and say "
            "nothing about people.",
        ),
    ),
    "imported": (
        (
            "Data",
            "Conversations imported from another source, under that source's terms. They are not the "
            "benchmark, so numbers from them cannot be compared with published ones.",
        ),
    ),
}

DATA: Final = {
    "benchmark": "AttuneBench",
    "filler": "filler (not AttuneBench)",
    "own": "own (not AttuneBench)",
    "played": "played (by language models; not AttuneBench)",
    "study": "study (not AttuneBench)",
    "imported": "imported (not AttuneBench)",
    **{
        name: f"{name} (fictional, written by language models; not AttuneBench, and not for ranking models)"
        for name in SHIPPED
    },
}
"""The data of a study, in a few words; those before the parenthesis stand before "data" in a title."""


def notes_of(study: Study) -> list[Note]:
    """The notes about the numbers of one study."""
    metadata = study.scores["metadata"]
    data, settings = mapping(metadata.get("data")), mapping(metadata.get("settings"))
    counts = f"{metadata.get('n_conversations')} conversations, {metadata.get('n_results')} results"
    others = [mode for mode in sorted({e["mode"] for e in study.entries}) if mode != study.mode]
    also = f"; also scored: {', '.join(map(mode_text, others))}" if others else ""
    notes = [
        ("Intended use", _USE),
        *_DATA.get(study.data_name, (("Data", f"Provenance {data['provenance']}."),)),
        ("Scored", f"{counts}, provenance {data['provenance']}, fingerprint {data.get('fingerprint')}"),
        ("Mode", f"{mode_text(study.mode)}{also}"),
        (
            "Scoring",
            f"verdict strict, leaderboard {study.variant}, Q1 overlap "
            f"{settings.get('q1_overlap', 'not stated')}",
        ),
        ("Versions", f"report by attune-env {__version__}; scores by {_versions(metadata)}"),
        ("Bootstrap", f"{study.table.resamples:,} resamples by {study.table.unit}, seed {study.seed}"),
        ("Sign-flip tests", _patterns(study)),
    ]
    if study.asked:
        alone = len(study.asked) == 1
        said = (text if alone else f"{', '.join(models)}: {text}" for text, models in study.asked.items())
        notes.insert(-4, ("Asked with", "; ".join(said)))
    if where := metadata.get("where"):
        notes.insert(-5, ("Selection", f"only the conversations with {where}"))
    return [(head, one_line(text, LONGEST_LINE)) for head, text in notes]


def _patterns(study: Study) -> str:
    if (units := study.table.kernel.units) <= EXACT:
        return f"all {2**units:,} patterns of signs"
    drawn = f"{RESAMPLES:,} random patterns of signs (or 100 per difference in a table, if that is more)"
    return f"{drawn}, seed {study.seed}"


def _versions(metadata: Mapping[str, Any]) -> str:
    stated = mapping(metadata.get("versions"))
    return ", ".join(f"{name} {version}" for name, version in stated.items()) or "not stated"
