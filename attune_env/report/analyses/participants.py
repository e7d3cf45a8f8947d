"""Groups of conversations against the rest: diagnoses, traits, topics, and a chosen subset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

import numpy as np

from attune_data.format.questionnaires import QUESTIONNAIRES
from attune_data.format.schema import Conversation
from attune_data.selection.facts import DECLINED, NONE, folded, stated
from attune_data.selection.means import finite
from attune_env.report.analyses.analysis import Analysis
from attune_env.report.analyses.conversations import turn_means, turn_scores
from attune_env.report.analyses.study import Absent, Study, label_of, over_models
from attune_env.report.figures.dots import Dots
from attune_env.statistics.comparisons import holm
from attune_env.statistics.contrasts import Bools, Contrast, contrasts
from attune_env.tables.cells import HOLM, Cell, Column, P, points
from attune_env.tables.groups import METRICS
from attune_env.tables.table import Table
from attune_rewards.bootstrap import Array, Interval, known

SHOWN: Final = {
    name: label_of(METRICS[name])
    for name in ("avg_emotion_va_score", "avg_emotion_f1", "avg_binary_om_accuracy",
                 "avg_binary_human_accuracy", "avg_pairwise_accuracy")
}  # fmt: skip
"""Metrics shown beside the Composite."""
VA: Final = SHOWN["avg_emotion_va_score"]
TAGGED: Final = {
    name: f"{SHOWN[f'avg_{name}']}, tagged turns only" for name in ("emotion_va_score", "emotion_f1")
}
NEUTRAL: Final = "neutral turns (in the data)"
DRAWS: Final = 2_000
"""Permutations per group if there are many groups."""


@dataclass(frozen=True, slots=True)
class Group:
    """Some conversations against others; rows in neither are left out."""

    name: str
    inside: Bools
    outside: Bools


def between(contrast: Contrast) -> Interval:
    """The difference of two groups, meaningful only if both hold enough units."""
    return replace(contrast.difference, units=min(contrast.inside.units, contrast.outside.units))


def _cells(found: Sequence[Contrast]) -> Iterator[tuple[Cell, ...]]:
    """Means on both sides, their difference, p, Holm-corrected p, n on both sides."""
    corrected = holm(np.array([np.nan if one.p is None else one.p for one in found]))
    for one, p in zip(found, corrected, strict=True):
        yield one.inside, one.outside, between(one), one.p, known(p), one.inside.n, one.outside.n


def contrast_rows(
    study: Study, groups: Sequence[Group], columns: Mapping[str, Array], draws: int = 10_000
) -> list[tuple[Cell, ...]]:
    """A row per column and group: both names, then the columns of `_heads`."""
    values = np.stack(list(columns.values()), axis=1)
    kernel, seed = study.table.kernel, study.seed
    found = [contrasts(kernel, values, g.inside, g.outside, draws=draws, seed=seed) for g in groups]
    return [
        (group.name, label, *cells)
        for label, singly in zip(columns, zip(*found, strict=True), strict=True)
        for group, cells in zip(groups, _cells(singly), strict=True)
    ]


def _heads(inside: str, outside: str) -> tuple[Column, ...]:
    """Columns of the values of `_cells`, in points of 100."""
    return (
        points(inside, "inside"),
        points(outside, "outside"),
        points("difference"),
        P,
        HOLM,
        Column("n", "n_inside"),
        Column(f"n {outside}", "n_outside"),
    )


def _columns(study: Study) -> dict[str, Array]:
    """The Composite and the metrics of SHOWN, over models, in shares."""
    found = {label_of(study.leading): study.over_models(study.composite) / 100}
    return found | {label: study.over_models(name) for name, label in SHOWN.items()}


def diagnoses_of(conversation: Conversation | None) -> tuple[str, ...] | None:
    """The participant's list as it was stated; None if it was not."""
    profile = conversation.participant_profile if conversation is not None else None
    return profile.demographics.diagnoses if profile is not None and profile.demographics else None


def diagnosis_groups(study: Study) -> list[Group]:
    """Any diagnosis against none, then each one against none, most frequent first."""
    lists = [diagnoses_of(record) for record in study.records]
    states = np.array([stated(one) for one in lists])
    none = states == "none"
    by_name = _named(
        [[name for name in names or () if folded(name) not in NONE | DECLINED] for names in lists]
    )
    groups = [Group(name, inside & ~none, none) for name, inside in by_name.items()]
    return [Group("any diagnosis", states == "any", none), *groups]


def topic_groups(study: Study) -> list[Group]:
    """Each category of topics against all others that state one, most frequent first."""
    found = [
        record.metadata.category if record is not None and record.metadata else None
        for record in study.records
    ]
    stating = np.array([bool(name) for name in found], dtype=bool)
    by_name = _named([[name] if name else [] for name in found])
    return [Group(name, inside, stating & ~inside) for name, inside in by_name.items()]


def _named(lists: Sequence[Sequence[str]]) -> dict[str, Bools]:
    """Name in its first spelling -> the rows that have it, most frequent first."""
    spelt: dict[str, str] = {}
    for name in sorted({name.strip() for names in lists for name in names}):
        spelt.setdefault(folded(name), name)
    found = {
        name: np.array([key in map(folded, names) for names in lists], dtype=bool)
        for key, name in spelt.items()
    }
    return dict(sorted(found.items(), key=lambda one: (-int(one[1].sum()), one[0])))


def trait_groups(study: Study) -> list[Group]:
    """Each questionnaire, split at its published cut or else at the median."""
    scores = [_numbers(record) for record in study.records]
    names = sorted({name for one in scores for name in one})
    groups = []
    for name in names:
        if f"{name}_t" in names:  # the raw form of a T-score
            continue
        values = np.array([one.get(name, np.nan) for one in scores])
        stating = ~np.isnan(values)
        asked = QUESTIONNAIRES.get(name)
        title = asked.title if asked is not None else name.replace("_", " ")
        if asked is not None and asked.cut is not None and float(values[stating].max()) <= asked.high:
            inside = values < asked.cut if asked.below else values >= asked.cut
            title += f" {'<' if asked.below else '≥'} {asked.cut:g}"
        else:  # no cut, or values beyond the range: another scoring of the questionnaire
            middle = median(values[stating].tolist())
            inside = values > middle
            title += f" > {middle:g}"
        outside = stating & ~inside
        if inside.any() and outside.any():
            groups.append(Group(title, inside, outside))
    return groups


def _numbers(record: Conversation | None) -> dict[str, float]:
    profile = record.participant_profile if record is not None else None
    scores = (profile.computed_scores if profile is not None else None) or {}
    return {name: number for name, value in scores.items() if (number := finite(value)) is not None}


def _people(study: Study) -> None:
    if study.conversations is None:
        raise Absent("profiles and topics are in the conversations; name their path with --data")


def _clinical(study: Study) -> list[Table]:
    _people(study)
    anyone, *each = diagnosis_groups(study)
    if not anyone.inside.any() or not anyone.outside.any():
        sizes = f"{int(anyone.inside.sum())} with a diagnosis, {int(anyone.outside.sum())} without"
        raise Absent(f"conversations from both groups are needed; there are {sizes}")
    turns = turn_scores(study, list(TAGGED))
    only = turns["tagged"].eq(1).astype(int) - 1  # 0 in tagged turns, else -1
    columns = _columns(study) | {
        label: over_models(turn_means(study, turns, name, only)[:, :, 0]) for name, label in TAGGED.items()
    }
    pooled = contrast_rows(study, [anyone], columns | {NEUTRAL: _neutral(study)})
    table = study.sheet(
        "clinical_affect_gap",
        "Any diagnosis against none, all models, points of 100",
        ("metric", *_heads("any diagnosis", "none")),
        (row[1:] for row in pooled),
    )
    if dict(zip(table.column("metric"), table.intervals("difference"), strict=True))[VA].mean is None:
        raise Absent(f"no model has {VA} in both groups")
    values = study.table.metric("avg_emotion_va_score", study.models)
    found = contrasts(study.table.kernel, values, anyone.inside, anyone.outside, seed=study.seed)
    by_model = study.sheet(
        "clinical_affect_gap_by_model",
        f"{VA}, any diagnosis against none, points of 100",
        ("model", *_heads("any diagnosis", "none")),
        ((key[0], *cells) for key, cells in zip(study.models, _cells(found), strict=True)),
        notes=["p is Holm-corrected over the models."],
    )
    if not each:
        return [table, by_model]
    shown = (label_of(study.leading), VA, TAGGED["emotion_va_score"], SHOWN["avg_binary_om_accuracy"])
    diagnoses = study.sheet(
        "by_diagnosis",
        "Each diagnosis against none, all models, points of 100",
        ("diagnosis", "metric", *_heads("this diagnosis", "none")),
        contrast_rows(study, each, {name: columns[name] for name in shown}),
        keys=2,
        notes=[
            "A person may state several diagnoses. For each metric, p is Holm-corrected over the diagnoses."
        ],
    )
    return [table, by_model, diagnoses]


def _neutral(study: Study) -> Array:
    """Share of the annotated turns of each conversation that have no tag."""
    shares = []
    for record in study.records:
        tags = [t.mood_shift_tags for t in (record.turns if record else ()) if t.mood_shift_tags is not None]
        shares.append(np.mean([not one for one in tags]) if tags else np.nan)
    return np.array(shares, dtype=np.float64)


def _split(study: Study, name: str, head: str, groups: Sequence[Group]) -> list[Table]:
    if not groups:
        raise Absent(f"no {head} splits the scored conversations into two groups")
    title = f"Each {head} against the others, all models, points of 100"
    rows = contrast_rows(study, groups, _columns(study), DRAWS)
    return [study.sheet(name, title, (head, "metric", *_heads("inside", "others")), rows, keys=2)]


def _topics(study: Study) -> list[Table]:
    _people(study)
    groups = topic_groups(study)
    return _split(study, "topics", "category", groups if len(groups) > 1 else [])


def _traits(study: Study) -> list[Table]:
    _people(study)
    return _split(study, "traits", "group", trait_groups(study))


_OVERLAP: Final = (
    "p is from a permutation test of the group labels, Holm-corrected over the groups for each metric. "
    "Groups overlap in participants and topics, so a difference does not prove a cause. Conversations that "
    "do not state the group are left out."
)
CLINICAL = Analysis(
    "clinical-affect-gap",
    "Clinical affect gap",
    "Are the feelings of people with a diagnosis predicted less accurately?",
    "Mean over conversations with people who state any diagnosis, minus the mean over conversations with "
    f"people who state none. {_OVERLAP} Turns without a tag (neutral turns) reward an empty answer, so "
    "tagged turns are also compared separately, and the share of neutral turns is shown.",
    _clinical,
    {
        "clinical-affect-gap": Dots("clinical_affect_gap_by_model", ["inside", "outside", "difference"],
                                    unit=f"{VA}, %"),
        "clinical-affect-gap-metrics": Dots("clinical_affect_gap", ["difference"], line=0.0,
                                            unit="any diagnosis minus none, all models, points"),
    },
    signal="difference",
    chapter="Participants and conversations",
    place=1,
    inputs="conversations",
)  # fmt: skip
TRAITS = Analysis(
    "traits",
    "Traits",
    "Does accuracy depend on the participant's questionnaire scores?",
    "Groups are split at the published screening cut-off if there is one, and otherwise at the median. "
    f"{_OVERLAP}",
    _traits,
    {"traits": Dots("traits", ["difference"], split="metric", line=0.0, across=3,
                    unit="group minus the others, all models, points")},
    signal="difference",
    chapter="Participants and conversations",
    place=2,
    inputs="conversations",
)  # fmt: skip
TOPICS = Analysis(
    "topics",
    "Topics",
    "Does accuracy depend on what the conversation is about?",
    f"Each category is compared with all conversations in other categories. {_OVERLAP}",
    _topics,
    {"topics": Dots("topics", ["difference"], split="metric", line=0.0, across=3,
                    unit="category minus the others, all models, points")},
    signal="difference",
    chapter="Participants and conversations",
    place=3,
    inputs="conversations",
)  # fmt: skip
ANALYSES: Final = (CLINICAL, TRAITS, TOPICS)
