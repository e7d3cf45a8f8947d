"""Named corpora: adding a folder adds one, and splits kept for evaluation stay out of training."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import attune_data
from attune_data import load
from attune_data.source.corpora import TO_PLAY, TO_TRAIN, corpora, corpus
from tests.data.builders import folder

DECLARED = """
from pathlib import Path
from attune_data.source.corpora import Corpus
CORPUS = Corpus(Path(__file__).parent, about="two conversations for this test", noun="notes")
"""
USED = """
import json, gymnasium, attune_env
from attune_data import load
from attune_env.cli import app
env = gymnasium.make("attune_env:Attune/Conversation-v0", data="notes", sampling="sequential")
print(json.dumps([len(load("notes")), env.reset()[1]["conversation_id"]]))
app(["data", "validate", "notes"])
"""


def test_a_folder_in_the_package_adds_a_corpus(tmp_path: Path) -> None:
    copy = tmp_path / "attune_data"
    shutil.copytree(Path(attune_data.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    records = [one.to_record() for one in load("sample")[:2]]
    folder(copy / "notes", dict(enumerate(records, 1)))
    (copy / "notes" / "corpus.py").write_text(DECLARED)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    told = subprocess.run(
        [sys.executable, "-c", USED], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr
    first, second, *_ = told.stdout.splitlines()
    assert json.loads(first) == [2, "sample-01"]
    assert second == "conversations 2, turns 9, problems 0, warnings 0"
    refused = subprocess.run(
        [sys.executable, "-m", "attune_env", "data", "stats", "note"],
        env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert 'a dataset name, notes, sample or written; did you mean "notes"?' in refused.stderr


def test_every_corpus_is_declared_under_the_name_of_its_folder() -> None:
    assert {TO_PLAY, TO_TRAIN} <= set(corpora())
    for name in corpora():
        assert corpus(name).name == name
        assert corpus(name).about


def test_a_split_that_is_kept_is_known_however_it_was_loaded() -> None:
    written, dev = corpus("written"), load("written:dev")
    assert written.keeps(dev[0])
    assert not written.keeps(load("written:train")[0])
    assert not corpus("sample").keeps(load("sample")[0])
    # the same id in data of another origin
    assert not written.keeps(dev[0].model_copy(update={"metadata": None}))
