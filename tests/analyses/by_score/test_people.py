"""Groups of people and topics, and the contrasts between them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from attune_data import Conversation
from attune_data.finite import finite
from attune_env.analyses import Absent, Study
from attune_env.analyses.by_score import clinical_affect_gap, topics, traits
from attune_env.analyses.by_score.people import diagnosis_states, topic_groups, trait_groups
from tests.analyses.by_score.made import A, B, cells, columns, entry, found, means, person, study

NONE = ["None of the above"]


def about(people: Sequence[Conversation]) -> Study:
    return study([entry(one.conversation_id, composite_score=50.0) for one in people], people)


@pytest.mark.parametrize(("said", "want"), [
    (["ADHD"], "any"), (["none of  the ABOVE"], "none"), ([], "none"), (None, "unknown"),
    (["Prefer not to say"], "unknown"), (["Anxiety", "None of the above"], "any"),
])  # fmt: skip
def test_what_a_list_of_diagnoses_says(said: list[str] | None, want: str) -> None:
    assert diagnosis_states(about([person("c", said)])).tolist() == [want]


def test_a_conversation_that_is_not_at_hand_says_nothing() -> None:
    made = study([entry("c"), entry("d")], [person("d", ["ADHD"])])
    assert diagnosis_states(made).tolist() == ["unknown", "any"]


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


def test_categories_are_told_apart_without_case_or_blanks() -> None:
    people = [person(str(i), category=name) for i, name in enumerate(["Work", " work", "Family", None])]
    groups = topic_groups(about(people))
    assert [(g.name, g.inside.tolist()) for g in groups] == [
        ("Work", [True, True, False, False]), ("Family", [False, False, True, False]),
    ]  # fmt: skip
    assert groups[0].outside.tolist() == [False, False, True, False]


def test_topics_by_hand() -> None:
    people = [person(f"c{i}", category="Work" if i < 6 else "Family") for i in range(12)]
    values = {A: [60.0] * 6 + [50.0] * 6, B: [40.0] * 12}
    one = found(topics(study(columns("composite_score", values), people)))
    (table,) = one.tables
    assert cells(table, "category") == ["Family", "Work"]
    assert means(table, "composite") == pytest.approx([45, 50])  # (50 + 40)/2, (60 + 40)/2
    assert means(table, "difference") == pytest.approx([-5, 5])
    assert "runs from 45.0 [45.0, 45.0] (Family) to 50.0 [50.0, 50.0] (Work)" in one.reading
    assert "2 of 2 categories differ beyond the interval, 2 after Holm's correction" in one.reading


def test_a_group_of_few_people_is_shown_and_nothing_claimed_of_it() -> None:
    people = [person(f"c{i}", category="Work" if i else "Family") for i in range(9)]
    one = found(topics(study(columns("composite_score", {A: [0.0] + [90.0] * 8}), people)))
    (table,) = one.tables
    assert means(table, "difference") == pytest.approx([90, -90])
    assert one.reading.endswith(
        "every category has fewer than 5 conversations on a side, too few to tell a difference."
    )
    assert table.notes == ["† fewer than five conversations: the interval is not meaningful."]
    assert table.shown().rows[1][5].endswith("†")


def test_traits_by_hand() -> None:
    people = [person(f"c{i}", who_5=5 if i < 6 else 20) for i in range(12)]
    one = found(traits(study(columns("composite_score", {A: [50.0] * 6 + [58.0] * 6}), people)))
    assert means(one.tables[0], "difference") == pytest.approx([-8])
    assert "with low well-being (WHO-5 below 13): −8.0 [−8.0, −8.0] points" in one.reading


def test_splits_of_few_people_are_in_neither_count() -> None:
    # four of 24 people are read far worse, which a permutation tells and an interval of four may not claim
    people = [person(f"c{i}", who_5=5 if i % 2 else 20, asrs_6=5 if i < 4 else 0) for i in range(24)]
    values = [20.0 + i % 2 if i < 4 else 60.0 + i % 5 for i in range(24)]
    one = found(traits(study(columns("composite_score", {A: values}), people)))
    corrected = dict(zip(cells(one.tables[0], "group"), cells(one.tables[0], "p_holm"), strict=True))
    assert isinstance(few := corrected["ASRS-6 ≥ 4"], float)
    assert few < 0.05
    assert (
        "none of 1 split differs beyond the interval, none after Holm's correction (1 split with fewer than "
        "5 conversations on a side not counted)" in one.reading
    )


def with_turns(identity: str, model: str, *scores: float) -> dict[str, object]:
    mean = sum(scores) / len(scores)
    turns = [{"emotion_va_score": score, "emotion_f1": score} for score in scores]
    return entry(identity, model, turns=turns, avg_emotion_va_score=mean, avg_emotion_f1=mean)


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
    one = found(clinical_affect_gap(study(entries, people)))
    pooled, by_model, by_diagnosis = one.tables
    gaps = dict(zip(cells(pooled, "metric"), means(pooled, "difference"), strict=True))
    assert gaps["Emotion VA"] == pytest.approx(0.4 - 0.7)
    assert gaps["Emotion VA, tagged turns only"] == pytest.approx(0)
    assert gaps["neutral turns (of the data)"] == pytest.approx(-0.5)
    assert means(by_model, "difference") == pytest.approx([-0.3])
    assert cells(by_diagnosis, "diagnosis")[0] == "ADHD"
    assert cells(by_model, "n_inside") == [6]
    assert cells(by_model, "n_outside") == [6]
    assert "(40.0 against 70.0 %, −30.0 [−30.0, −30.0] points)" in one.reading
    tagged = "on tagged turns only +0.0 [+0.0, +0.0], 0.0 % against 50.0 % of turns being neutral"
    assert tagged in one.reading
    assert "; of the other scores Emotion F1 (−30.0 [−30.0, −30.0]) differs; " in one.reading
    assert "2 conversations without a statement left out" in one.method


def test_a_gap_within_its_interval_is_not_called_one() -> None:
    people = [person(f"{s}{i}", ["ADHD"] if s == "d" else NONE) for s in "dn" for i in range(6)]
    entries = [with_turns(f"{s}{i}", A, (0.2, 0.8)[i % 2]) for s in "dn" for i in range(6)]
    assert found(clinical_affect_gap(study(entries, people))).reading.startswith(
        "No difference of Emotion VA between people with and without a diagnosis beyond the interval"
    )


def test_where_emotion_va_is_level_the_scores_that_differ_are_named() -> None:
    people = [person(f"{s}{i}", ["ADHD"] if s == "d" else NONE) for s in "dn" for i in range(6)]
    entries = [
        with_turns(f"{s}{i}", A, (0.2, 0.8)[i % 2]) | {"composite_score": 60.0 + (5.5 if s == "d" else 0)}
        for s in "dn" for i in range(6)
    ]  # fmt: skip
    one = found(clinical_affect_gap(study(entries, people)))
    assert one.reading.startswith("No difference of Emotion VA")
    assert "; of the other scores Composite (+5.5 [+5.5, +5.5]) differs" in one.reading


def test_models_that_read_the_diagnosed_better_are_counted_too() -> None:
    people = [person(f"{s}{i}", ["ADHD"] if s == "d" else NONE) for s in "dn" for i in range(6)]
    better, worse = {"d": 0.9, "n": 0.4}, {"d": 0.4, "n": 0.6}
    entries = [
        with_turns(f"{s}{i}", model, score[s])
        for model, score in ((A, better), (B, worse)) for s in "dn" for i in range(6)
    ]  # fmt: skip
    reading = found(clinical_affect_gap(study(entries, people))).reading
    assert "; lower for 1 of 2 models, beyond the interval for 1 (b); higher for 1, beyond" in reading
    assert "higher for 1, beyond the interval for 1 (a)" in reading


def test_a_gap_of_few_people_is_neither_claimed_nor_denied() -> None:
    people = [person(f"{s}{i}", ["ADHD"] if s == "d" else NONE) for s in "dn" for i in range(3)]
    entries = [with_turns(f"{s}{i}", A, 0.2 if s == "d" else 0.8) for s in "dn" for i in range(3)]
    reading = found(clinical_affect_gap(study(entries, people))).reading
    assert "points), and fewer than 5 conversations on a side are too few to tell" in reading
    assert "no difference" not in reading.lower()


@pytest.mark.parametrize("people", [
    None, [person("c0", ["ADHD"]), person("c1", ["Anxiety"])], [person("c0"), person("c1")],
], ids=["no conversations", "one group", "unknown"])  # fmt: skip
def test_without_both_groups_there_is_no_gap(people: list[Conversation] | None) -> None:
    made = study([with_turns("c0", A, 0.5), with_turns("c1", A, 0.5)], people)
    assert isinstance(clinical_affect_gap(made), Absent)
    for analyse in (topics, traits):
        assert isinstance(analyse(made), Absent)
