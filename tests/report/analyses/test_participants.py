"""Groups of participants and topics, and the contrasts between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from attune_data import Conversation
from attune_data.selection.means import finite
from attune_env.report.analyses import Study
from attune_env.report.analyses.participants import (
    CLINICAL,
    TOPICS,
    TRAITS,
    diagnosis_groups,
    topic_groups,
    trait_groups,
)
from tests.report.analyses.made import A, B, columns, entry, first, mean, means, person, row, study, tables

NONE = ["None of the above"]


def about(people: Sequence[Conversation]) -> Study:
    return study([entry(one.conversation_id, composite_score=50.0) for one in people], people)


@pytest.mark.parametrize(("said", "any_", "none"), [
    (["ADHD"], True, False), (["none of  the ABOVE"], False, True), ([], False, True), (None, False, False),
    (["Prefer not to say"], False, False), (["Anxiety", "None of the above"], True, False),
])  # fmt: skip
def test_what_a_list_of_diagnoses_says(said: list[str] | None, any_: bool, none: bool) -> None:
    group = diagnosis_groups(about([person("c", said)]))[0]
    assert (group.inside.tolist(), group.outside.tolist()) == ([any_], [none])


@pytest.mark.parametrize(("name", "values", "inside", "group"), [
    ("who_5", [12, 13, 25], [True, False, False], "WHO-5 < 13"),
    ("aq_10", [5, 6, 10], [False, True, True], "AQ-10 ≥ 6"),
    ("asrs_6", [3, 4, 6], [False, True, True], "ASRS-6 ≥ 4"),
    ("promis_sleep_t", [59.9, 60, 41], [False, True, False], "PROMIS sleep T ≥ 60"),
    ("tipi_openness", [3, 8, 14], [False, False, True], "TIPI openness > 8"),
    # 0-100: another scoring of the WHO-5, which 13 of 25 is no cut of
    ("who_5", [40, 60, 80], [False, False, True], "WHO-5 > 60"),
    # numbers that no float holds, and those that are none, are not stated
    ("who_5", [12, 13, 10**400, -(10**400)], [True, False, False, False], "WHO-5 < 13"),
    ("who_5", [12, 13, float("inf"), True], [True, False, False, False], "WHO-5 < 13"),
])  # fmt: skip
def test_questionnaires_are_split_at_their_cut_or_median(
    name: str, values: list[float], inside: list[bool], group: str
) -> None:
    people = [person(f"c{i}", **{name: value}) for i, value in enumerate(values)]  # type: ignore[arg-type]
    (one,) = trait_groups(about([*people, person("d")]))
    assert one.name == group
    assert one.inside.tolist() == [*inside, False]
    known = [finite(value) is not None for value in values]
    assert one.outside.tolist() == [*(k and not i for k, i in zip(known, inside, strict=True)), False]


def test_raw_scores_beside_their_t_scores_and_scores_that_do_not_vary_make_no_group() -> None:
    people = [
        person("a", promis_sleep=4, promis_sleep_t=40, tipi_openness=8),
        person("b", promis_sleep=20, promis_sleep_t=70, tipi_openness=8),
    ]
    assert [group.name for group in trait_groups(about(people))] == ["PROMIS sleep T ≥ 60"]


def test_categories_are_distinguished_without_case_or_blanks() -> None:
    people = [person(str(i), category=name) for i, name in enumerate(["Work", " work", "Family", None])]
    groups = topic_groups(about(people))
    assert [(g.name, g.inside.tolist()) for g in groups] == [
        ("Work", [True, True, False, False]), ("Family", [False, False, True, False]),
    ]  # fmt: skip
    assert groups[0].outside.tolist() == [False, False, True, False]


def test_topics_by_hand() -> None:
    people = [person(f"c{i}", category="Work" if i < 6 else "Family") for i in range(12)]
    values = {A: [60.0] * 6 + [50.0] * 6, B: [40.0] * 12}
    table = first(TOPICS, study(columns("composite_score", values), people))
    family, work = (row(table, category=name, metric="Composite") for name in ("Family", "Work"))
    assert [mean(one["inside"]) for one in (family, work)] == pytest.approx([0.45, 0.5])  # (50 + 40)/2
    assert [mean(one["difference"]) for one in (family, work)] == pytest.approx([-0.05, 0.05])


def test_a_group_of_few_is_shown_and_nothing_claimed_of_it() -> None:
    people = [person(f"c{i}", category="Work" if i else "Family") for i in range(9)]
    found = TOPICS.run(study(columns("composite_score", {A: [0.0] + [90.0] * 8}), people))
    table = found.tables["topics"]
    assert mean(row(table, category="Family", metric="Composite")["difference"]) == pytest.approx(-0.9)
    assert not found.signal
    assert table.footnotes == ["† fewer than 5 conversations: the interval is not meaningful."]


def test_traits_by_hand() -> None:
    people = [person(f"c{i}", who_5=5 if i < 6 else 20) for i in range(12)]
    found = TRAITS.run(study(columns("composite_score", {A: [50.0] * 6 + [58.0] * 6}), people))
    assert mean(row(found.tables["traits"], metric="Composite")["difference"]) == pytest.approx(-0.08)
    assert found.signal


def with_turns(identity: str, model: str, *scores: float) -> dict[str, Any]:
    value = sum(scores) / len(scores)
    turns = [{"emotion_va_score": score, "emotion_f1": score} for score in scores]
    return entry(identity, model, turns=turns, avg_emotion_va_score=value, avg_emotion_f1=value)


def test_the_clinical_gap_by_hand() -> None:
    # nobody who is diagnosed has a neutral turn; the others are read right where nothing was to be read
    people = [
        *(person(f"d{i}", ["ADHD"], tagged=[True, True]) for i in range(6)),
        *(person(f"n{i}", NONE, tagged=[True, False]) for i in range(6)),
        *(person(f"u{i}", tagged=[True, True]) for i in range(2)),
    ]
    entries = [
        *(with_turns(f"d{i}", A, 0.4, 0.4) for i in range(6)),
        *(with_turns(f"n{i}", A, 0.4, 1.0) for i in range(6)),
        *(with_turns(f"u{i}", A, 0.0, 0.0) for i in range(2)),
    ]
    found = tables(CLINICAL, study(entries, people))
    pooled, by_model = found["clinical_affect_gap"], found["clinical_affect_gap_by_model"]
    gaps = dict(zip(pooled.column("metric"), means(pooled, "difference"), strict=True))
    assert gaps["Emotion similarity"] == pytest.approx(0.4 - 0.7)
    assert gaps["Emotion similarity, tagged turns only"] == pytest.approx(0)
    assert gaps["neutral turns (in the data)"] == pytest.approx(-0.5)
    assert means(by_model, "difference") == pytest.approx([-0.3])
    assert (by_model.column("n_inside"), by_model.column("n_outside")) == ([6], [6])
    assert found["by_diagnosis"].column("diagnosis")[0] == "ADHD"
