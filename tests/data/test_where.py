"""Selecting conversations: the language, every kind of field, and what it says to slips."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data import Conversations, Problem, SettingsError, UnknownNameError, load
from attune_data.selection import Where, select
from attune_data.selection.where import Condition, Wanted
from tests.data.builders import Json, conversation, record

SAMPLE = load("sample")


def person(identity: str, *, turns: int = 2, **profile: Any) -> Json:
    """A record with these demographics, scores (numbers and `scores`) and extra profile fields."""
    made = record(conversationId=identity)
    made["metadata"] = {"category": profile.pop("category", "Work"), "text": profile.pop("text", None)}
    extra = profile.pop("extra", {})
    made["participant_profile"] = {
        "participant_id": identity.upper(),
        "demographics": {k: v for k, v in profile.items() if k != "scores"},
        "computed_scores": profile.get("scores", {}),
    } | extra
    made["turns"] = [made["turns"][0] | {"turnNumber": n} for n in range(1, turns + 1)]
    return made


PEOPLE = Conversations(
    [
        conversation(**made)
        for made in [
            person("a", diagnoses=["ADHD", "Anxiety"], gender="Female", scores={"who_5": 8}),
            person("b", diagnoses=["None of the above"], gender=" female ", scores={"who_5": 13.5}),
            person("c", diagnoses=[], category="Family", scores={"who_5": 20}, turns=5),
            person("d", diagnoses=["Autism (ASD)"], category="Fun, games", country="Côte d’Ivoire"),
            person("e", diagnoses=["Prefer not to say"], gender="unknown",
                   extra={"wave": 2, "consented": True, "site": {"lab-name": "North|South"}}),
            person("f", gender="Male", education="Bachelor's degree", work_edu_background=["Retail"]),
        ]
    ],
    source="people",
    files={"a": "conversation_7.json"},
    left_out=[Problem("x.json", "", "nothing", "something")],
)  # fmt: skip


def ids(where: str, data: Conversations = PEOPLE) -> str:
    return "".join(c.conversation_id for c in select(data, where))


def test_a_truth_value_that_does_not_occur_is_no_slip() -> None:
    # e has consented; the others do not say
    assert ids("consented=false|unknown") == "abcdf"


@pytest.mark.parametrize(("where", "want"), [
    ("diagnosis=ADHD", "a"),
    ("diagnoses = adhd | AUTISM  (asd)", "ad"),
    ("diagnosis=any", "ad"),
    ("diagnosis=none", "bc"),
    ("diagnosis!=any", "bc"),  # e declined and f says nothing: neither has said that there is none
    ("diagnosis!=none", "ad"),
    ("diagnosis!=ADHD", "bcd"),
    ("diagnosis!=ADHD|none", "d"),
    ("diagnosis=unknown", "ef"),
    ("diagnosis!=unknown", "abcd"),
    ('diagnosis="None of the above"', "b"),
    ("diagnosis=prefer not to say", "e"),
    ("gender=female", "ab"),
    ("gender!=female", "ef"),
    ("gender=unknown", "cde"),  # not stated, and the one who says "unknown"
    ('gender="unknown"', "e"),
    ("gender!=unknown", "abf"),
    ("education=Bachelor's degree", "f"),
    ("education='bachelor''s degree'", "f"),
    ('category="Fun, games"|Family', "cd"),
    ("country=côte d’ivoire", "d"),
    ("country=co\u0302te d’ivoire", "d"),  # the same letter in two code points
    ("work_edu_background=retail", "f"),
    ("work_edu_background!=retail", ""),
    ("who_5<13.5", "a"), ("who_5<=13.5", "ab"), ("who_5>8", "bc"), ("who_5>=1.35e1", "bc"),
    ("who_5=13.50", "b"), ("who_5==8|20", "ac"), ("who_5!=8", "bc"), ("who_5=unknown", "def"),
    ("turns>=5", "c"), ("turns=2", "abdef"),
    ("participant=B", "b"), ("participant_id=b", "b"), ("conversationId=c", "c"), ("Conversation-ID=c", "c"),
    ("wave=2", "e"), ("wave>1", "e"), ("consented=true", "e"), ('lab_name="north|south"', "e"),
    ("provenance=benchmark", "abcdef"),
    ("who_5<15,category=work,diagnosis=any", "a"),
])  # fmt: skip
def test_what_conditions_hold_for(where: str, want: str) -> None:
    if want:
        assert ids(where) == want
    else:
        with pytest.raises(SettingsError, match="matches none"):
            select(PEOPLE, where)
    assert "".join(c.conversation_id for c in PEOPLE if Where.parse(where).holds(c)) == want


def test_a_selection_keeps_where_it_came_from() -> None:
    chosen = select(PEOPLE, "diagnosis=any")
    assert (chosen.source, chosen.files, chosen.left_out) == ("people", PEOPLE.files, PEOPLE.left_out)
    assert chosen[0] is PEOPLE[0]


def test_every_field_of_the_format_can_be_asked_for() -> None:
    stated = (
        "country education work_edu_background gender age_range english_proficiency diagnoses who_5 asrs_6 "
        "aq_10 promis_sleep promis_sleep_t tipi_openness conversation_topic_attitude participant_id "
        "profile_type schema_version category subtopic model topic provenance turns conversation_id"
    )
    for name in stated.split():
        assert len(select(SAMPLE, f"{name}!=unknown")) == len(SAMPLE)


@pytest.mark.parametrize(("where", "message"), [
    ("", 'where "": found nothing at character 1, expected a condition such as diagnosis=ADHD or who_5<13'),
    ("q=a,b", 'where "q=a,b": found "b" at character 5, expected a condition'),
    ("gender=Male,", "found nothing at character 13, expected a condition"),
    ("=Male", 'found "=Male" at character 1, expected a condition'),
    ("gender=|x", 'found "|x" at character 8, expected a value, in quotes if it contains a comma, '
                  'bar or quote'),
    ("who_5=<3", 'found "<3" at character 7, expected a value'),
    ('gender="x', 'at character 8, expected a value'),
    ("gender='x' y", "at character 8, expected a value"),
    ("who_5<3|5", "who_5<3|5: expected one number"),
    ("who_5<nan", "who_5<nan: expected one number"),
    ("gender<3", 'gender<3: gender is text ("Female", "Male", "unknown"), but < compares numbers'),
    ("diagnosis=ADHD|Autism", 'diagnosis=ADHD|Autism: no diagnosis is "Autism"; did you mean "Autism (ASD)"? '
                              'there is: "ADHD", "Anxiety", "Autism (ASD)", "None of the above"'),
    ("category!=Wrok", 'category!=Wrok: no category is "Wrok"; did you mean "Work"? there is: "Work", '),
    ("gender=any", 'gender=any: no gender is "any"; there is: '),
    ("who_5=low", 'who_5=low: no who_5 is "low"; there is: 8 to 20'),
    ("who_5>20", "who_5>20 matches none of the 6 conversations; their who_5: 8 to 20"),
    ("category=Work,who_5>15", "who_5>15 matches none of the 4 conversations with category=Work; "
                               "their who_5: 8 to 13.5"),
    ("age_range=18-24", "age_range=18-24 matches none of the 6 conversations; their age_range: not stated"),
])  # fmt: skip
def test_slips_are_told(where: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        select(PEOPLE, where)
    assert message in str(caught.value)
    assert str(caught.value).isprintable()


def test_an_unknown_field_is_told_with_the_nearest() -> None:
    with pytest.raises(
        UnknownNameError, match="no field named \"dignosis\"; did you mean 'diagnosis'"
    ) as caught:
        select(PEOPLE, "dignosis=ADHD")
    assert {"who_5", "wave", "consented", "lab_name", "gender", "topic"} <= set(caught.value.known)
    assert not {"tipi_openness", "demographics", "computed_scores"} & set(caught.value.known)
    assert list(caught.value.known) == sorted(caught.value.known)


def test_a_name_that_stands_twice_is_read_from_the_metadata() -> None:
    both = conversation(**person("z", extra={"category": "of the profile"}))
    assert len(select(Conversations([both]), "category=work")) == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, {"a": {}}, [[1]], [{}], None, b"x"])
def test_values_that_cannot_be_compared_are_not_stated(value: Any) -> None:
    odd = conversation(**person("z", extra={"odd": value}))
    assert not Where.parse("odd!=unknown").holds(odd)
    assert Where.parse("odd=unknown").holds(odd)


NAMES = st.sampled_from(["diagnosis", "who_5", "age range", "país"])
PLAIN = st.text(st.characters(exclude_characters="=<>!|,\"'", codec="utf-8"), min_size=1).map(
    lambda text: text.strip() or "x"
)
QUOTED = st.builds(Wanted, st.text(st.characters(codec="utf-8")), st.just(True))
ANY = st.lists(st.builds(Wanted, PLAIN) | QUOTED, min_size=1, max_size=3).map(tuple)
NUMBER = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: (Wanted(repr(x)),))
CONDITIONS = st.builds(Condition, NAMES, st.sampled_from(["=", "!="]), ANY) | st.builds(
    Condition, NAMES, st.sampled_from(["<", "<=", ">", ">="]), NUMBER
)


@given(st.lists(CONDITIONS, min_size=1, max_size=4).map(tuple))
def test_what_is_written_is_what_is_read(conditions: tuple[Condition, ...]) -> None:
    where = Where(conditions)
    assert Where.parse(str(where)) == where


@given(st.text())
def test_any_text_is_read_or_refused_with_one_line(text: str) -> None:
    said = ""
    try:
        select(PEOPLE, text)
    except (SettingsError, UnknownNameError) as error:
        said = str(error)
    assert said.isprintable()
