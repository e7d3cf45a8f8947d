"""What every importer does: bad files named by place, ids given once, the command, and what comes after."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attune_data import load
from attune_data.files.write import write_folder
from attune_data.importing import import_esconv, import_prism
from attune_env import Settings, plan, rollout, training_dataset
from attune_episodes import builtin_policy
from tests.command import attune_here
from tests.data.builders import Place, only_problem, replaced, without, write
from tests.data.importing.exports import (
    chat,
    real_esconv,
    real_prism,
    real_survey,
    replied,
    said,
    tree,
    write_prism,
)

GONE = object()
TREES = real_prism()


def changed(record: Any, place: Place, new: Any) -> Any:
    """The record with something else at a place, or with nothing there."""
    return new if not place else without(record, place) if new is GONE else replaced(record, place, new)


@pytest.mark.parametrize(("place", "new", "named", "found", "expected"), [
    ((), 3, "[1]", "3", "an object"),
    (("dialog",), GONE, "[1].dialog", "nothing", "this field"),
    (("dialog",), "hello", "[1].dialog", '"hello"', "a list"),
    (("dialog", 1), None, "[1].dialog[1]", "null", "an object"),
    (("dialog", 1, "speaker"), "me", "[1].dialog[1].speaker", '"me"', '"seeker", "supporter"'),
    (("dialog", 0, "content"), 4, "[1].dialog[0].content", "4", "text"),
    (("dialog", 0, "annotation"), "x", "[1].dialog[0].annotation", '"x"', "an object"),
    (("survey_score", "seeker", "initial_emotion_intensity"), "9",
     "[1].survey_score.seeker.initial_emotion_intensity", '"9"', "a whole number from 1 to 5"),
    (("survey_score", "seeker", "final_emotion_intensity"), 2.5,
     "[1].survey_score.seeker.final_emotion_intensity", "2.5", "a whole number from 1 to 5"),
])  # fmt: skip
def test_the_place_in_an_esconv_file_that_differs_is_named(
    tmp_path: Path, place: Place, new: Any, named: str, found: str, expected: str
) -> None:
    path = write(tmp_path / "e.json", [chat(), changed(chat(), place, new)])
    problem = only_problem(lambda: import_esconv(path))
    assert (problem.file, problem.place, problem.found) == (str(path), named, found)
    assert problem.expected.startswith(expected)
    assert "docs/importing.md" in problem.advice
    kept = import_esconv(path, skip_invalid=True).conversations
    assert ([c.conversation_id for c in kept], kept.left_out) == (["e-0"], (problem,))


@pytest.mark.parametrize(("place", "new", "named", "found", "expected"), [
    (("conversation_id",), 12, "conversation_id", "12", "text"),
    (("conversation_history", 0), None, "conversation_history[0]", "null", "an object"),
    (("conversation_history", 0, "role"), "human", "conversation_history[0].role", '"human"', '"user"'),
    (("conversation_history", 0, "turn"), -1, "conversation_history[0].turn", "-1", "a whole number from 0"),
    (("conversation_history", 0, "turn"), 1, "conversation_history", "two user messages in turn 1",
     "one message per turn"),
    (("conversation_history", 1, "turn"), 7, "conversation_history", "replies in turn 7, but no message",
     "a user message in each turn"),
    (("conversation_history", 1, "score"), 101, "conversation_history[1].score", "101", "a number from 0"),
    (("conversation_history", 1, "if_chosen"), 1, "conversation_history[1].if_chosen", "1", "true or false"),
    (("conversation_history", 1, "within_turn_id"), 0.5, "conversation_history[1]", "an object",
     "a whole number from 0"),
])  # fmt: skip
def test_the_place_in_a_prism_file_that_differs_is_named(
    tmp_path: Path, place: Place, new: Any, named: str, found: str, expected: str
) -> None:
    folder = write_prism(tmp_path, [TREES[1], changed(TREES[0], place, new)])
    problem = only_problem(lambda: import_prism(folder))
    assert problem.file == f"{folder / 'conversations.jsonl'}:2"
    assert (problem.place, problem.found) == (named, found)
    assert problem.expected.startswith(expected)
    kept = import_prism(folder, skip_invalid=True).conversations
    assert ([c.conversation_id for c in kept], kept.left_out) == (["prism-c1"], (problem,))


@pytest.mark.parametrize(("rows", "line", "place", "found"), [
    ([{"age": "18-24 years old"}], 1, "user_id", "nothing"),
    ([*real_survey(), *real_survey()], 2, "user_id", '"user0" again'),
    ([*real_survey(), "", "[1]"], 3, "", "a list of 1"),
    (["{"], 1, "line 1 column 2", "the end of the file"),
])  # fmt: skip
def test_a_survey_that_differs_is_named_by_line(
    tmp_path: Path, rows: list[Any], line: int, place: str, found: str
) -> None:
    folder = write_prism(tmp_path, TREES, rows)
    problem = only_problem(lambda: import_prism(folder, skip_invalid=True))
    assert problem.file == f"{folder / 'survey.jsonl'}:{line}"
    assert (problem.place, problem.found) == (place, found)


@pytest.mark.parametrize(("value", "found", "advice"), [
    ([], "an empty list", "is this an ESConv export"),
    ({"turns": []}, "an object", "this file already has the package's own format"),
    (3, "no list", "is this an ESConv export"),
])  # fmt: skip
def test_a_file_that_holds_no_list_of_chats_is_refused(
    tmp_path: Path, value: Any, found: str, advice: str
) -> None:
    problem = only_problem(lambda: import_esconv(write(tmp_path / "e.json", value)))
    assert problem.found == found
    assert problem.advice.startswith(advice)


def test_paths_that_hold_nothing_to_import_are_named(tmp_path: Path) -> None:
    write(tmp_path / "data" / "conversations.jsonl", "")
    for load_from in (import_esconv, import_prism):
        assert only_problem(lambda: load_from(tmp_path / "no")).found == "no such file or directory"  # noqa: B023
    assert only_problem(lambda: import_prism(tmp_path)).advice == f"did you mean {tmp_path}/data?"
    assert only_problem(lambda: import_esconv(tmp_path)).found == "a folder"


def test_a_file_without_any_exchange_says_why_nothing_is_left(tmp_path: Path) -> None:
    path = write(tmp_path / "e.json", [chat(said("a")), chat(replied("b"))])
    with pytest.raises(ValueError, match=r"\[0\].dialog.*\n.*\[1\].dialog"):
        import_esconv(path)


def test_an_id_given_twice_names_both_lines(tmp_path: Path) -> None:
    folder = write_prism(tmp_path, [TREES[0], TREES[0]])
    problem = only_problem(lambda: import_prism(folder))
    file = folder / "conversations.jsonl"
    assert (problem.file, problem.found) == (f"{file}:2", f'"prism-c0", which is also in {file}:1')


def test_the_command_writes_what_load_reads_and_says_what_it_holds(tmp_path: Path) -> None:
    source = write(tmp_path / "ESConv.json", real_esconv())
    printed, told = attune_here("data import esconv ESConv.json -o out", tmp_path)
    assert load(tmp_path / "out").fingerprint == import_esconv(source).conversations.fingerprint
    assert told.startswith("left out: ESConv.json: [2].dialog: found ")
    for line in (
        "turns with observed answers\t3\tof 6 turns",
        "messages after the last reply\t2\tnobody replied; kept under outsideTurns",
        "note: all 4 observed answers are yes: a model that always says so has them all",
        "wrote 4 conversations to out: ESConv, provenance imported",
        "licence CC BY-NC 4.0: credit the source in anything you make from these conversations",
    ):
        assert line in printed.splitlines()


def test_a_file_of_lines_is_replaced_only_when_asked(tmp_path: Path) -> None:
    source = write_prism(tmp_path / "prism", TREES, real_survey())
    attune_here("data import prism prism -o out.jsonl", tmp_path)
    _, told = attune_here("data import prism prism -o out.jsonl --pairs alternates", tmp_path, code=1)
    assert "--overwrite" in told
    assert load(tmp_path / "out.jsonl").fingerprint == import_prism(source).conversations.fingerprint
    attune_here("data import prism prism -o out.jsonl --pairs alternates --overwrite", tmp_path)
    alternates = import_prism(source, pairs="alternates").conversations
    assert load(tmp_path / "out.jsonl").fingerprint == alternates.fingerprint


@pytest.mark.parametrize(("output", "code", "text"), [
    ("out.json", 2, "is the name of a file"), ("full", 1, "notes.txt"),
    ("'Test Samples/out'", 2, "counts as benchmark"),
])  # fmt: skip
def test_an_output_that_will_not_do_is_refused_before_anything_is_read(
    tmp_path: Path, output: str, code: int, text: str
) -> None:
    write(tmp_path / "full" / "notes.txt", "mine")
    assert text in attune_here(f"data import esconv nowhere.json -o {output}", tmp_path, code=code)[1]


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Stage -> a folder of conversations that are annotated for that stage, and ESConv for its fit too."""
    folder = tmp_path_factory.mktemp("imported")
    history = TREES[0]["conversation_history"]
    trees = [tree(f"c{i}", *history, user=f"user{i}") for i in range(4)]
    write_folder(import_esconv(write(folder / "E.json", real_esconv())).conversations, folder / "assess")
    write_folder(import_prism(write_prism(folder, trees)).conversations, folder / "prefer")
    return {stage: folder / stage for stage in ("assess", "prefer")}


def test_imported_conversations_are_played_and_only_what_is_annotated_counts(
    imported: dict[str, Path],
) -> None:
    for stage, folder in imported.items():
        data = load(folder)
        rows = list(training_dataset(data, reward="composite"))
        stages = {"assess", "reflect"} if stage == "assess" else {stage}
        assert {(row["stage"], row["provenance"]) for row in rows} == {(one, "imported") for one in stages}
        totals = [rollout(one, builtin_policy("oracle", data)).total for one in data]
        assert {round(total, 9) for total in totals} <= {0.0, 1.0}
        assert 1.0 in [round(total, 9) for total in totals]


def test_prompts_of_imported_conversations_read_as_any_others(imported: dict[str, Path]) -> None:
    shown = {
        request.id: request.messages[-1]["content"]
        for folder in imported.values()
        for request in plan(load(folder)[0], Settings(mode="omniscient"))
    }
    assert "Topic: job crisis\nFeelings before the conversation (1-7): Nervous 5\n" in shown["E-0/1/draft"]
    assert "B1: Did the reply acknowledge a feeling" in shown["E-0/1/assess"]
    assert "Here are 3 possible replies to the message of turn 1" in shown["prism-c0/1/prefer"]
    for text in shown.values():
        for stray in ("None", "null", "first 3", "ESConv", "PRISM", "CC BY", "human supporter"):
            assert stray not in text
