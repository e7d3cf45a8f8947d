"""`attune data import`, as a person runs it, and what comes after it: a run, scores, training rows."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from attune_data import load
from attune_data.importing import import_esconv, import_prism
from attune_data.writing import write_folder
from attune_env import Settings, plan, rollout, to_dataset
from attune_episodes.parsing import render
from attune_episodes.policies.base import BuiltinPolicy
from attune_episodes.policies.shallow import pick_by
from attune_episodes.request import Request
from tests import PATIENCE
from tests.data.builders import write
from tests.data.importing.exports import (
    chat,
    first_turn,
    real_esconv,
    real_prism,
    real_survey,
    tree,
    write_json,
    write_prism,
)
from tests.data.test_data_command import ATTUNE, attune


def test_importing_writes_what_load_reads_and_says_what_it_holds(tmp_path: Path) -> None:
    source = write_json(tmp_path / "my chats" / "ESConv.json", real_esconv())
    done = attune("import", "esconv", source, "-o", tmp_path / "out")
    assert done.returncode == 0
    found = load(tmp_path / "out")
    assert found.fingerprint == import_esconv(source).conversations.fingerprint
    assert found.provenance == "imported"
    (left,) = done.stderr.splitlines()
    assert left.startswith(f"left out: {source}: [2].dialog: found ")
    for line in (
        "turns with observed answers\t3\tof 6 turns",
        "turns with emotion tags\t0\tof 6 turns",
        "messages after the last reply\t2\tnobody replied; kept under outsideTurns",
        "note: all 4 observed answers are yes: a model that always says so has them all",
        f"wrote 4 conversations to {tmp_path / 'out'}: ESConv, provenance imported",
        "licence CC BY-NC 4.0: name the source in what you make of them",
    ):
        assert line in done.stdout.splitlines()
    validated = attune("validate", tmp_path / "out")
    assert validated.returncode == 0
    assert validated.stdout.startswith("conversations 4, turns 6, problems 0, ")


def test_a_file_of_lines_can_be_written_and_is_replaced_only_when_asked(tmp_path: Path) -> None:
    source = write_prism(tmp_path / "prism", real_prism(), real_survey())
    target = tmp_path / "out.jsonl"
    assert attune("import", "prism", source, "-o", target).returncode == 0
    before = target.read_bytes()
    refused = attune("import", "prism", source, "-o", target, "--pairs", "alternates")
    assert (refused.returncode, target.read_bytes()) == (1, before)
    assert "--overwrite" in refused.stderr
    again = attune("import", "prism", source, "-o", target, "--pairs", "alternates", "--overwrite")
    assert again.returncode == 0
    assert load(target).fingerprint == import_prism(source, pairs="alternates").conversations.fingerprint
    assert load(target).fingerprint != import_prism(source).conversations.fingerprint


def test_a_file_that_is_not_the_format_fails_and_writes_nothing(tmp_path: Path) -> None:
    source = write_json(tmp_path / "ESConv.json", [chat(), {"dialogue": []}])
    done = attune("import", "esconv", source, "-o", tmp_path / "out")
    assert (done.returncode, (tmp_path / "out").exists()) == (1, False)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {source}: [1].dialog: found nothing, expected a list of messages")
    skipped = attune("import", "esconv", source, "-o", tmp_path / "out", "--skip-invalid")
    assert skipped.returncode == 0
    assert len(load(tmp_path / "out")) == 1
    assert skipped.stderr.startswith(f"left out: {source}: [1].dialog: ")


@pytest.mark.parametrize(("output", "code", "text"), [
    ("out.json", 2, "is the name of a file"),
    ("Test Samples/out", 2, "counts as benchmark"),
    ("full", 1, "notes.txt"),
])  # fmt: skip
def test_an_output_that_will_not_do_is_refused_before_anything_is_read(
    tmp_path: Path, output: str, code: int, text: str
) -> None:
    write(tmp_path / "full" / "notes.txt", "mine")
    done = attune("import", "esconv", tmp_path / "nowhere.json", "-o", tmp_path / output)
    assert done.returncode == code
    assert text in done.stderr


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve imported ESConv chats, six of which have an answer."""
    folder = tmp_path_factory.mktemp("esconv")
    source = write_json(folder / "E.json", [one for _ in range(3) for one in real_esconv()])
    write_folder(import_esconv(source).conversations, folder / "data")
    return folder / "data"


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four imported PRISM conversations of four people, three comparisons with a winner each."""
    folder = tmp_path_factory.mktemp("prism")
    history = real_prism()[0]["conversation_history"]
    rows = [tree(f"c{i}", *history, user=f"user{i}") for i in range(4)]
    write_folder(import_prism(write_prism(folder, rows)).conversations, folder / "data")
    return folder / "data"


def strict_scores(data: Path, results: Path, policies: list[str]) -> dict[str, list[float | None]]:
    """Policy -> the strict Composite of each conversation, by `attune run` and `attune score`."""
    for policy in policies:
        run("run", "builtin", policy, data, "-o", results)
    run("score", "--results", results, "--ground-truth", data, "-o", results / "scores.json")
    found: dict[str, list[float | None]] = {}
    for scored in json.loads((results / "scores.json").read_text(encoding="utf-8"))["conversations"]:
        found.setdefault(scored["em_model"].removeprefix("builtin/"), []).append(scored["composite_strict"])
    return found


def run(*arguments: str | Path) -> None:
    done = subprocess.run(
        [str(ATTUNE), *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr


def test_imported_chats_run_and_are_scored_and_what_is_not_annotated_is_skipped(
    chats: Path, tmp_path: Path
) -> None:
    scores = strict_scores(chats, tmp_path, ["prior", "oracle"])
    assert sorted(scores["oracle"], key=str) == [100.0] * 6 + [None] * 6
    assert [score is None for score in scores["prior"]] == [score is None for score in scores["oracle"]]


def test_imported_trees_run_and_are_scored(trees: Path, tmp_path: Path) -> None:
    scores = strict_scores(trees, tmp_path, ["oracle", "empty"])
    assert scores == {"oracle": [100.0] * 4, "empty": [0.0] * 4}


def test_training_rows_ask_only_what_is_annotated(chats: Path, trees: Path) -> None:
    for data, stage in ((chats, "assess"), (trees, "prefer")):
        rows = list(to_dataset(load(data)))
        assert {(row["stage"], row["provenance"]) for row in rows} == {(stage, "imported")}


@dataclass(frozen=True, slots=True)
class ThreadReader(BuiltinPolicy):
    """Picks the reply that it saw in the thread; else A."""

    name: str = "thread-reader"

    def reply(self, request: Request) -> str:
        if request.stage != "prefer":
            return "{}"
        return render(request, pick_by(request, lambda text: text == request.reply))


def test_the_thread_tells_who_won_against_it_as_the_note_says(tmp_path: Path) -> None:
    # the reply in the thread has the highest score of all, as the source's own rule wants it
    rows = [tree(f"c{i}", *first_turn(90, 50)) for i in range(8)]
    told = import_prism(write_prism(tmp_path, rows))
    assert told.notes[0].startswith("the reply in the thread wins 8 of the 8 comparisons")
    totals = [rollout(conversation, ThreadReader()).total for conversation in told.conversations]
    assert totals == pytest.approx([1.0] * 8)


def test_prompts_of_imported_conversations_read_as_any_others(chats: Path, trees: Path) -> None:
    (first, *_), (second, *_) = load(chats), load(trees)
    shown = {
        request.id: request.messages[-1]["content"]
        for conversation in (first, second)
        for request in plan(conversation, Settings(mode="omniscient"))
    }
    assert "Topic: job crisis\nFeelings before the conversation (1-7): Nervous 5\n" in shown["E-0/1/draft"]
    assert (
        "<message>\nMy boss moved the talk to today\nI could not eat anything\n</message>"
        in shown["E-0/1/draft"]
    )
    assert "B1: Did the reply acknowledge a feeling" in shown["E-0/1/assess"]
    assert "Here are 3 possible replies to the message of turn 1" in shown["prism-c0/1/prefer"]
    assert "Here are 2 possible replies to the message of turn 2" in shown["prism-c0/2/prefer"]
    for text in shown.values():
        for stray in ("None", "null", "first 3", "ESConv", "PRISM", "CC BY", "human supporter"):
            assert stray not in text
