"""Who the scored conversations are with: groups of rows by what the participants' records say."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

import numpy as np
import numpy.typing as npt

from attune_data.finite import finite
from attune_data.questionnaires import QUESTIONNAIRES
from attune_data.schema import Conversation
from attune_data.selection.diagnoses import DECLINED, NONE, Stated, folded, stated
from attune_env.analyses.study import Study

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Group:
    """Some conversations against others; rows in neither are left out."""

    name: str
    """Short, for axes and tables."""
    text: str
    """In words, for sentences."""
    inside: Bools
    outside: Bools


def records(study: Study) -> list[Conversation | None]:
    """The conversation behind each row of the study's score table; None where it is not at hand."""
    known = study.conversations.by_id if study.conversations is not None else {}
    return [known.get(identity) for identity in study.table.ids]


def diagnoses_of(conversation: Conversation | None) -> tuple[str, ...] | None:
    """The participant's list as it was stated; None where it was not."""
    profile = conversation.participant_profile if conversation is not None else None
    return profile.demographics.diagnoses if profile is not None and profile.demographics else None


def diagnosis_states(study: Study) -> npt.NDArray[np.str_]:
    """`any`, `none` or `unknown` for each row."""
    states: list[Stated] = [stated(diagnoses_of(record)) for record in records(study)]
    return np.array(states)


def diagnosis_groups(study: Study) -> list[Group]:
    """Each diagnosis that was stated against those who stated none, most frequent first."""
    lists = [diagnoses_of(record) or () for record in records(study)]
    none = diagnosis_states(study) == "none"
    spelt: dict[str, str] = {}
    for name in sorted({name.strip() for names in lists for name in names}):
        spelt.setdefault(folded(name), name)
    groups = []
    for key, name in spelt.items():
        if key not in NONE | DECLINED:
            inside = np.array([key in map(folded, names) for names in lists], dtype=bool) & ~none
            groups.append(Group(name, name, inside, none))
    return sorted(groups, key=lambda group: (-int(group.inside.sum()), group.name))


def topic_groups(study: Study) -> list[Group]:
    """Each category of topics against all others that state one, most frequent first."""
    found = [
        record.metadata.category if record is not None and record.metadata else None
        for record in records(study)
    ]
    keys = [None if name is None else folded(name) for name in found]
    spelt: dict[str, str] = {}
    for name in sorted({name.strip() for name in found if name}):
        spelt.setdefault(folded(name), name)
    stating = np.array([bool(key) for key in keys], dtype=bool)
    groups = []
    for key, name in spelt.items():
        inside = np.array([one == key for one in keys], dtype=bool)
        groups.append(Group(name, name, inside, stating & ~inside))
    return sorted(groups, key=lambda group: (-int(group.inside.sum()), group.name))


def trait_groups(study: Study) -> list[Group]:
    """Each questionnaire split at its published cut, else above the median against the rest."""
    scores = [_numbers(record) for record in records(study)]
    names = sorted({name for one in scores for name in one})
    groups = []
    for name in names:
        if f"{name}_t" in names:  # the raw form of a T-score
            continue
        values = np.array([one.get(name, np.nan) for one in scores])
        known = ~np.isnan(values)
        asked = QUESTIONNAIRES.get(name)
        title = asked.title if asked is not None else name.replace("_", " ")
        if asked is not None and asked.cut is not None and float(values[known].max()) <= asked.high:
            inside = values < asked.cut if asked.below else values >= asked.cut
            short = f"{title} {'<' if asked.below else '≥'} {asked.cut:g}"
            side = "below {:g}" if asked.below else "of {:g} or more"
            text = f"{asked.screened} ({title} {side.format(asked.cut)})"
        else:  # no cut, or values beyond the range: another scoring of the questionnaire
            middle = median(values[known].tolist())
            inside = values > middle
            short, text = f"{title} > {middle:g}", f"{title} above the median of {middle:g}"
        inside &= known
        if inside.any() and (known & ~inside).any():
            groups.append(Group(short, text, inside, known & ~inside))
    return groups


def _numbers(record: Conversation | None) -> dict[str, float]:
    profile = record.participant_profile if record is not None else None
    scores = (profile.computed_scores if profile is not None else None) or {}
    return {name: number for name, value in scores.items() if (number := finite(value)) is not None}
