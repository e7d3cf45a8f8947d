"""What judges say: read, combined, written into result records and read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data import UnknownNameError
from attune_data.constants import JUDGE_DIMENSIONS
from attune_episodes import Settings, Unparsed, builtin_policy, rollout
from attune_episodes.judging import (
    Judgement,
    JudgeRequest,
    add_judgements,
    combined,
    judge_request,
    judged_fields,
    parse_judgement,
)
from attune_rewards import Judged, read_record, score_conversation
from tests.episodes.builders import ASKED, conversation, turn
from tests.soak.inputs import LEAVES, NAMES, SCRAPS

ABOUT = conversation()


def request() -> JudgeRequest:
    found = judge_request(ABOUT, 1, "I hear you.")
    assert found is not None
    return found


REQUEST = request()
RATINGS_ONLY = judge_request(conversation(turn(1, binary=[])), 1, "I hear you.")
FOUR = dict(zip(JUDGE_DIMENSIONS, (5, 6, 4, 7), strict=True))
WHOLE: Any = {"scores": FOUR, "answers": dict.fromkeys(ASKED, "yes")}

JUDGEMENTS = st.builds(
    Judgement,
    st.dictionaries(st.sampled_from(JUDGE_DIMENSIONS), st.integers(1, 7)),
    st.dictionaries(st.sampled_from(ASKED), st.sampled_from(["yes", "no"])),
)


# --- reading -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(WHOLE),
        f"Sure.\n```json\n{json.dumps(WHOLE)}\n```",
        f"<think>the draft says {{}}</think>{json.dumps(WHOLE)}",
    ],
)
def test_a_whole_answer_is_read_wherever_it_stands(text: str) -> None:
    assert parse_judgement(REQUEST, text) == Judgement(FOUR, dict.fromkeys(ASKED, "yes"))


@pytest.mark.parametrize(
    ("given_", "scores", "answers"),
    [
        ({"scores": {"helpfulness": 7}}, {"helpfulness": 7}, {}),
        ({"scores": {"helpfulness": "4", "tone_match": 4.0}}, {"helpfulness": 4, "tone_match": 4}, {}),
        ({"scores": {"helpfulness": 8, "tone_match": 4.5, "overall_score": 0}, "answers": {"b1": True}},
         {}, {"B1": "yes"}),
        ({"scores": {"helpfulness": True, "wit": 7}, "answers": {"B2": " NO "}}, {}, {"B2": "no"}),
        ({"scores": [5, 6, 4, 7], "answers": {"B1": "yes", "B6": "yes", "B5": "na"}}, {}, {"B1": "yes"}),
        ({"scores": {"Helpfulness": 5, "helpfulness": 2}, "answers": None}, {"helpfulness": 2}, {}),
    ],
)  # fmt: skip
def test_each_value_stands_for_itself(
    given_: Any, scores: Mapping[str, int], answers: Mapping[str, Any]
) -> None:
    assert parse_judgement(REQUEST, json.dumps(given_)) == Judgement(scores, answers)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (None, "empty"),
        ("", "empty"),
        ("A fine draft, 7 of 7.", "no_json"),
        ('{"scores": {"overall_score": 5', "truncated"),
        ('{"overall_score": 5}', "no_fields"),
        ('{"scores": {}, "answers": {"B6": "yes"}}', "no_fields"),
        ('{"scores": {"overall_score": 1}} {"scores": {"overall_score": 7}}', "ambiguous"),
        ('{"scores": {"overall_score": 1, "overall_score": 7}}', "duplicate_keys"),
    ],
)
def test_what_says_nothing_for_certain_is_unparsed_with_its_reason(text: str | None, code: str) -> None:
    said = parse_judgement(REQUEST, text)
    assert isinstance(said, Unparsed)
    assert said.code == code


def test_what_was_not_asked_is_not_read() -> None:
    assert RATINGS_ONLY is not None
    assert parse_judgement(RATINGS_ONLY, json.dumps(WHOLE)) == Judgement(FOUR, {})
    only = parse_judgement(RATINGS_ONLY, '{"answers": {"B1": "yes"}}')
    assert only == Unparsed("no_fields", "nothing valid in scores")


PIECES = [*SCRAPS, *LEAVES, *NAMES, *JUDGE_DIMENSIONS, '{"scores":', '{"answers":{"B1":', "scores", "answers"]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join))
def test_no_reply_raises_and_what_is_read_is_in_range(text: str) -> None:
    said = parse_judgement(REQUEST, text)
    if isinstance(said, Judgement):
        assert said.scores or said.answers
        assert all(name in JUDGE_DIMENSIONS and 1 <= value <= 7 for name, value in said.scores.items())
        assert all(q in ASKED and answer in ("yes", "no") for q, answer in said.answers.items())


@given(JUDGEMENTS)
def test_a_judgement_written_as_json_is_read_back(said: Judgement) -> None:
    text = json.dumps({"scores": said.scores, "answers": said.answers})
    read = parse_judgement(REQUEST, text)
    assert read == said if said.scores or said.answers else isinstance(read, Unparsed)


# --- several judges -------------------------------------------------------------------------------------


def test_scores_are_averaged_over_the_judges_who_gave_them() -> None:
    said = [Judgement({"overall_score": 4, "helpfulness": 7}), Judgement({"overall_score": 7}), Judgement()]
    # (4 + 7) / 2 = 5.5; helpfulness has one judge
    assert combined(said) == Judged({"overall_score": 5.5, "helpfulness": 7.0}, None)


@pytest.mark.parametrize(
    ("votes", "want"),
    [
        (["yes"], "yes"),
        (["yes", "no"], None),
        (["yes", "yes", "no"], "yes"),
        (["no", None, "no", "yes"], "no"),
        (["yes", None], "yes"),
        (["yes", "no", "no", "yes"], None),
        ([None, None], None),
        ([], None),
    ],
)
def test_an_answer_is_the_majoritys_and_a_tie_is_none(votes: list[Any], want: str | None) -> None:
    said = [Judgement({}, {"B1": vote} if vote else {}) for vote in votes]
    assert combined(said).binary == ({"B1": want} if want else None)


def test_a_tie_is_not_a_no() -> None:
    # B1 would be wanted "no": a tie read as "no" would agree with it
    tied = combined([Judgement({}, {"B1": "no", "B2": "yes"}), Judgement({}, {"B1": "yes", "B2": "yes"})])
    assert tied.binary == {"B2": "yes"}


@given(st.lists(JUDGEMENTS, max_size=4))
def test_the_order_of_the_judges_does_not_matter(said: list[Judgement]) -> None:
    results = {json.dumps([dict(c.scores), c.binary]) for c in map(combined, permutations(said))}
    assert len(results) == 1
    one = combined(said)
    for name, mean in one.scores.items():
        rated = [judgement.scores[name] for judgement in said if name in judgement.scores]
        assert min(rated) <= mean <= max(rated)


@given(JUDGEMENTS)
def test_one_judge_alone_is_taken_at_its_word(said: Judgement) -> None:
    one = combined([said])
    assert (dict(one.scores), one.binary or {}) == (said.scores, said.answers)


# --- in result records -----------------------------------------------------------------------------------


def test_the_fields_name_each_judge() -> None:
    fields = judged_fields({
        "z/ü 😀": Judgement({"overall_score": 3}, {"B1": "yes"}),
        "a/b": Judgement({"overall_score": 6}, {}),
    })  # fmt: skip
    assert fields == {
        "em_draft_judge_scores": {"overall_score": 4.5},
        "em_draft_judge_scores_by_model": {"a/b": {"overall_score": 6}, "z/ü 😀": {"overall_score": 3}},
        "em_draft_binary_assessment": {"B1": "yes"},
        "em_draft_binary_assessment_by_model": {"z/ü 😀": {"B1": "yes"}},
    }
    assert list(fields["em_draft_judge_scores_by_model"]) == ["a/b", "z/ü 😀"]


def test_without_judgements_the_fields_are_those_of_a_record_without_a_judge() -> None:
    plain = RECORD["turns"][0]
    assert judged_fields({}) == {key: plain[key] for key in judged_fields({})}


RECORD = rollout(ABOUT, builtin_policy("oracle", [ABOUT])).result


def test_judgements_in_a_record_are_what_scoring_reads_back() -> None:
    record = add_judgements(
        RECORD,
        {
            1: {"j/one": Judgement(FOUR, dict.fromkeys(ASKED, "yes")), "j/two": Unparsed("no_json")},
            2: {"j/one": Judgement({"overall_score": 1}, {}), "j/two": Judgement({"overall_score": 2}, {})},
        },
        replies={1: {"j/two": "no 😀"}},
    )
    read, warnings = read_record(json.loads(json.dumps(record)), ABOUT)
    assert warnings == ()
    assert read.turns[1].judged == Judged(FOUR, dict.fromkeys(ASKED, "yes"))
    assert read.turns[2].judged == Judged({"overall_score": 1.5}, None)
    scored = score_conversation(ABOUT, read)
    first, second = (entry["draft_judge_score"] for entry in scored["turn_scores"])
    # (5 + 6 + 4 + 7) / 4 = 5.5, (5.5 - 1) / 6 = .75; (1.5 - 1) / 6 = 1/12
    assert (first, second) == (pytest.approx(0.75), pytest.approx(1 / 12))
    # wanted: B1 no, B2 yes, B13 unknown, B5 yes, B999 yes: 3 of 4 agree with yes throughout
    assert scored["turn_scores"][0]["draft_binary_alignment"] == pytest.approx(3 / 4)
    assert scored["turn_scores"][1]["draft_binary_alignment"] is None
    marks = record["attune"]["judge"]
    assert marks["models"] == ["j/one", "j/two"]
    assert marks["outcomes"]["1"] == {"j/one": "ok", "j/two": "unparsed:no_json"}
    assert marks["replies"] == {"1": {"j/two": "no 😀"}}
    assert marks["template"] == Settings().prompt_set.judge_fingerprint


def test_no_judgement_moves_the_composite() -> None:
    without = score_conversation(ABOUT, read_record(RECORD, ABOUT)[0])
    low = Judgement(dict.fromkeys(JUDGE_DIMENSIONS, 1), dict.fromkeys(ASKED, "no"))
    worst = {number: {"j": low} for number in (1, 2)}
    judged = score_conversation(ABOUT, read_record(add_judgements(RECORD, worst), ABOUT)[0])
    moved = {name for name in judged if judged[name] != without[name]}
    assert moved == {"turn_scores", "avg_draft_judge_score", "avg_draft_binary_alignment"}
    assert judged["avg_draft_judge_score"] == 0


def test_the_record_given_is_left_as_it_is_and_old_judgements_are_taken_out() -> None:
    before = json.dumps(RECORD)
    old = add_judgements(RECORD, {n: {"j/old": Judgement(FOUR)} for n in (1, 2)})
    assert json.dumps(RECORD) == before
    new = add_judgements(old, {2: {"j/new": Judgement({"tone_match": 2})}})
    assert "j/old" not in json.dumps(new)
    assert new["turns"][0] == RECORD["turns"][0]
    assert add_judgements(new, {})["turns"] == RECORD["turns"]


def test_a_file_of_the_official_runner_can_be_judged_too() -> None:
    official = {k: v for k, v in RECORD.items() if k != "attune"}
    official["turns"] = [{k: v for k, v in entry.items() if k != "attune"} for entry in RECORD["turns"]]
    read, warnings = read_record(add_judgements(official, {1: {"j": Judgement(FOUR)}}), ABOUT)
    assert (read.turns[1].judged, warnings) == (Judged(FOUR, None), ())


def test_a_turn_that_the_record_lacks_is_refused() -> None:
    with pytest.raises(UnknownNameError, match='no turn in the result record named "9"; known: 1, 2'):
        add_judgements(RECORD, {9: {"j": Judgement(FOUR)}})
