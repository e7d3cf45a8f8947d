"""`attune people plan | play` as typed."""

from __future__ import annotations

import json
from pathlib import Path

from attune_episodes.people.cards import plan, plan_text
from tests.command import attune
from tests.people.scripted import Script


def test_a_plan_is_played_to_the_end_by_whoever_answers(tmp_path: Path) -> None:
    made = attune("people plan -n 2 --seed 11", cwd=tmp_path)
    assert (tmp_path / "plan.jsonl").read_text("utf-8") == plan_text(plan(2, 11))
    assert "2 train" in made.stdout
    command = "people play plan.jsonl -o mine --person me --assistant me"
    _, header, person, assistant, *_ = attune(f"{command} --dry-run", cwd=tmp_path).stdout.splitlines()
    assert header == "role\tconversations\tcalls\ttokens in\ttokens out\tcost"
    assert (person.split("\t")[:2], assistant.split("\t")[:2]) == (["person", "2"], ["assistant-1", "2"])
    script, folder = Script(), tmp_path / "mine"
    assert not folder.exists()
    for _ in range(60):
        played = attune(command, cwd=tmp_path, code=None)
        if played.returncode == 0:
            break
        assert "put the answers into mine, then: attune people play" in played.stderr
        lines = (folder / "pending.jsonl").read_text("utf-8").splitlines()
        with (folder / "by hand.jsonl").open("a", encoding="utf-8") as file:
            for line in map(json.loads, lines):
                text = script(line["body"]["messages"], line["custom_id"])
                file.write(json.dumps({"key": line["custom_id"], "text": text}) + "\n")
    assert "2 of 2 are complete" in played.stdout
    attune("data validate mine", cwd=tmp_path)


def test_a_plan_that_was_edited_is_not_replaced(tmp_path: Path) -> None:
    attune("people plan -n 1 --seed 11", cwd=tmp_path)
    attune("people plan -n 1 --seed 11", cwd=tmp_path)
    told = attune("people plan -n 1 --seed 12", cwd=tmp_path, code=1).stderr
    assert "a file with other contents" in told
    assert "pass --overwrite" in told
