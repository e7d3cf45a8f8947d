"""Our wording is whole; an official codebook is found by its ids, however it is nested."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attune_data.format import affect, constants
from attune_data.format.codebook import FILE_NAME, Codebook, find_official, load_official
from tests.data.builders import Json, only_problem, without, write

OWN = Codebook.own()
QUESTIONS = ("moodShiftTags", "q1_lookingFor", "q2_emotionClarity", "q3_modelFit", "q3_followUp_whatFeltOff")
STANCES = {**OWN.binary, **OWN.branches, **OWN.questions}

# our own wording


def test_our_wording_covers_every_question_and_item() -> None:
    assert tuple(OWN.binary) == constants.BINARY_IDS
    assert len(OWN.binary) == 36
    assert tuple(OWN.pairwise) == constants.PAIRWISE_IDS
    assert len(OWN.pairwise) == 17
    assert set(OWN.panas) == set(affect.EMOTIONS)
    assert set(OWN.branches) == set(constants.BRANCHES)
    assert set(OWN.judge) == set(constants.JUDGE_DIMENSIONS)
    assert set(OWN.questions) == set(QUESTIONS)
    assert OWN.missing == ()


@pytest.mark.parametrize("key", STANCES)
def test_the_two_stances_differ(key: str) -> None:
    assert STANCES[key].text != STANCES[key].observer
    assert "the person" not in STANCES[key].text
    assert "the person" in STANCES[key].observer


# an official codebook, made up, in several nestings

PLAIN: Json = {  # no observer wording: both stances are the same
    key: f"Official {key} é?" for key in (*constants.BINARY_IDS, *constants.PAIRWISE_IDS, *QUESTIONS)
} | {key: f"Official branch {key}?" for key in constants.BRANCHES} | {
    item: f"Official gloss of {item}" for item in affect.EMOTIONS
}  # fmt: skip
OPTIONS = {key: tuple(f"{key} option {n} 🙂" for n in range(3)) for key in QUESTIONS[1:]}
LOWER = {"q1_lookingFor": "q1", "q2_emotionClarity": "q2", "q3_modelFit": "q3",
         "q3_followUp_whatFeltOff": "q3_followUp", "moodShiftTags": "mood_shift_tags"}  # fmt: skip
UPPER = LOWER | {"q1_lookingFor": "Q1", "q2_emotionClarity": "Q2", "q3_modelFit": "Q3"}


def entry(key: str) -> Json:
    options: Json = {"options": list(OPTIONS[key])} if key in OPTIONS else {}
    return {"text": PLAIN[key], "observerText": f"Seen: {PLAIN[key]}"} | options


BY_ID: Json = {key: entry(key) for key in PLAIN}
OBJECTS: list[Json] = [{"id": key} | entry(key) for key in PLAIN]
IN_SECTIONS: Json = {
    "version": "1.0",
    "description": "All the questions",
    "perTurn": {
        "binary": {
            "title": "Yes/no",
            "items": [{"questionId": key} | entry(key) for key in constants.BINARY_IDS],
        },
        "pairwise": {key: entry(key) for key in constants.PAIRWISE_IDS},
        "mood": {"moodShiftTags": entry("moodShiftTags")},
    },
    "atTheEnd": [
        {"questions": {key: entry(key) for key in QUESTIONS[1:]}},
        {"fourBranchScores": {"scale": [1, 7]} | {key: entry(key) for key in constants.BRANCHES}},
    ],
    "panas": {"items": {item.lower(): entry(item) for item in affect.EMOTIONS}},
}
OTHER_WORDS: Json = {
    key: {"question": value["text"], "observer_text": value["observerText"]}
    | ({"choices": [{"label": text} for text in value["options"]]} if "options" in value else {})
    for key, value in BY_ID.items()
}
NESTINGS: dict[str, Any] = {
    "by id": BY_ID,
    "by id, backwards": dict(reversed(BY_ID.items())),
    "a list of objects": OBJECTS,
    "objects in a list in a list": {"all": [[[one]] for one in OBJECTS]},
    "in sections": IN_SECTIONS,
    "lower-case short names": {LOWER.get(key, key): value for key, value in BY_ID.items()},
    "upper-case short names": {UPPER.get(key, key): value for key, value in BY_ID.items()},
    "short names in objects": [{"key": LOWER.get(key, key)} | entry(key) for key in PLAIN],
    "other words, options as objects": OTHER_WORDS,
    "spaces around": {f" {k} ": v | {"text": f"\n {v['text']} "} for k, v in BY_ID.items()},
}


@pytest.mark.parametrize("nesting", NESTINGS)
def test_every_nesting_gives_the_same_texts(tmp_path: Path, nesting: str) -> None:
    book = load_official(write(tmp_path / "book.json", NESTINGS[nesting]))
    for group in (book.binary, book.questions, book.branches):
        assert {k: (w.text, w.observer) for k, w in group.items()} == {
            key: (PLAIN[key], f"Seen: {PLAIN[key]}") for key in group
        }
    for texts in (book.pairwise, book.panas):
        assert dict(texts) == {key: PLAIN[key] for key in texts}
    assert dict(book.options) == OPTIONS
    assert (book.missing, book.name) == ((), "official (book.json)")
    for official, own in ((book.binary, OWN.binary), (book.pairwise, OWN.pairwise), (book.panas, OWN.panas)):
        assert set(official) == set(own)


def test_plain_strings_serve_for_both_stances(tmp_path: Path) -> None:
    book = load_official(write(tmp_path / "book.json", {"all": PLAIN}))
    assert all(w.text == w.observer == PLAIN[key] for key, w in book.binary.items())
    assert dict(book.pairwise) == {key: PLAIN[key] for key in constants.PAIRWISE_IDS}
    assert book.missing == tuple(f"{key}.options" for key in QUESTIONS[1:4])
    assert book.options["q3_followUp_whatFeltOff"] == ()  # asked as free text
    assert {k: book.options[k] for k in QUESTIONS[1:4]} == {k: OWN.options[k] for k in QUESTIONS[1:4]}


@pytest.mark.parametrize("key", [
    "B1", "B505", "general", "PW16", "moodShiftTags", "q1_lookingFor", "q3_followUp_whatFeltOff", "managing",
])  # fmt: skip
def test_a_left_out_entry_is_missing_and_keeps_our_wording(tmp_path: Path, key: str) -> None:
    book = load_official(write(tmp_path / "book.json", without(BY_ID, (key,))))
    listed = key in OPTIONS and key != "q3_followUp_whatFeltOff"
    assert book.missing == ((key, f"{key}.options") if listed else (key,))
    for group in ("binary", "questions", "branches", "options", "pairwise", "panas"):
        mine, theirs = getattr(OWN, group), getattr(book, group)
        free_text = group == "options" and key == "q3_followUp_whatFeltOff"
        assert theirs.get(key) == (() if free_text else mine.get(key))


@pytest.mark.parametrize("where", ["before", "after"])
def test_the_heading_of_a_section_is_no_wording_of_a_branch(tmp_path: Path, where: str) -> None:
    sections = {"byBranch": {"understanding": {"label": "Understanding emotions", "B4": entry("B4")}}}
    raw = sections | BY_ID if where == "before" else BY_ID | sections
    book = load_official(write(tmp_path / "book.json", raw))
    assert book.branches["understanding"].text == PLAIN["understanding"]


@pytest.mark.parametrize("raw", [
    {}, [], None, "B1", ["B1", "PW1"], {"B999": "?", "PW17": "?"}, {"panas": {"Proud": "?"}}, {"B1": ""},
    {"B1": {"text": 5}},
])  # fmt: skip
def test_a_file_without_any_known_question_is_refused(tmp_path: Path, raw: object) -> None:
    path = write(tmp_path / "book.json", json.dumps(raw))
    problem = only_problem(lambda: load_official(path))
    assert problem.file == str(path)
    assert "B1–B505" in problem.found


def test_the_fingerprint_names_the_texts(tmp_path: Path) -> None:
    book = load_official(write(tmp_path / "book.json", BY_ID))
    again = load_official(write(tmp_path / "other name.json", IN_SECTIONS))
    assert book.fingerprint == again.fingerprint != OWN.fingerprint
    changed = replace(book, pairwise=dict(book.pairwise) | {"PW1": "?"})
    assert changed.fingerprint != book.fingerprint


def test_the_official_codebook_is_looked_for_in_the_data_folder_and_two_above(tmp_path: Path) -> None:
    data = tmp_path / "root" / "Test Samples" / "Sample200"
    one = write(data / "conversation_1.json", {})
    assert find_official(data) is None
    write(tmp_path / FILE_NAME, {})  # three above: too far
    assert find_official(data) is None
    for place in (tmp_path / "root", tmp_path / "root" / "Test Samples", data):  # the nearest wins
        book = write(place / FILE_NAME, {})
        assert find_official(data) == find_official(one) == book


def test_maps_of_their_own_give_each_stance_its_wording(tmp_path: Path) -> None:
    observer, facing = {"B1": "in the HP's message?"}, {"B1": "in your message?"}
    for raw in (
        {"BINARY_QUESTION_TEXT": observer, "BINARY_HP_QUESTION_TEXT": facing},
        {"BINARY_HP_QUESTION_TEXT": facing, "BINARY_QUESTION_TEXT": observer},
    ):
        book = load_official(write(tmp_path / "book.json", raw))
        assert book.binary_text("B1", observer=True) == "in the HP's message?"
        assert book.binary_text("B1", observer=False) == "in your message?"
