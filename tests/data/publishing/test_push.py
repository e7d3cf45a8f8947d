"""`attune data push` with the Hub's own client, against a server on loopback that plays the Hub."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from attune_data import load
from attune_data.files.write import write_parts
from attune_data.publishing.parquet import to_parquet
from tests import PATIENCE
from tests.command import ATTUNE, Done, attune_here
from tests.data.builders import folder, record
from tests.data.publishing.hub import TOKEN, Hub, hub

REPO = "somebody/talks"
SAMPLE = load("sample")
LOADED = """
from datasets import load_dataset
from attune_data.publishing.splits import splits_of

there = splits_of("somebody/talks")
print({name: (len(read), read.fingerprint) for name, read in there.items()})
rows = load_dataset("somebody/talks", split="test")
print(rows.num_rows, rows[0]["messages"][0]["role"], rows[0]["licence"])
"""


def run(words: list[str], url: str, home: Path) -> Done:
    """Run a command with the Hub at `url`, in a process of its own: the client reads the address once."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    env = clean | {"HF_ENDPOINT": url, "HF_TOKEN": TOKEN, "HF_HOME": str(home / "hf"), "NO_COLOR": "1"}
    return subprocess.run(
        words, env=env, cwd=home, capture_output=True, encoding="utf-8", check=True, timeout=PATIENCE
    )


def test_what_is_pushed_is_what_to_parquet_writes_and_is_loaded_back(tmp_path: Path) -> None:
    parts = {"train": SAMPLE[:12], "test": SAMPLE[12:]}
    write_parts(parts, tmp_path / "in", numbers={c.conversation_id: n for n, c in enumerate(SAMPLE)})
    to_parquet(tmp_path / "in", tmp_path / "here", title="talks")
    with hub() as (url, there):
        done = run([str(ATTUNE), "data", "push", "in", REPO], url, tmp_path)
        assert done.stdout.splitlines()[0].startswith(f"pushed to {url}/datasets/{REPO}/commit/")
        files = {f.relative_to(tmp_path / "here").as_posix(): f for f in (tmp_path / "here").rglob("*.*")}
        assert there.files == {".gitattributes": there.files[".gitattributes"]} | {
            name: file.read_bytes() for name, file in files.items()
        }
        assert there.created[0]["visibility"] == "private"
        back = run([sys.executable, "-c", LOADED], url, tmp_path)
    splits, rows = back.stdout.splitlines()
    assert splits == str({name: (len(parts[name]), parts[name].fingerprint) for name in ("test", "train")})
    assert rows == "8 user None"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    """The Hub of this process."""
    with hub() as (url, there):
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", url)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        yield there


def test_files_that_are_there_are_replaced_only_when_asked_and_only_those_of_data_and_card(
    here: type[Hub], tmp_path: Path
) -> None:
    here.files |= {"data/old.parquet": b"", "README.md": b"", "notes.txt": b"mine"}
    _, told = attune_here(f"data push sample {REPO}", tmp_path, code=2)
    assert f"the dataset {REPO} has files already (README.md, data/old.parquet, notes.txt)" in told
    attune_here(f"data push sample {REPO} --overwrite", tmp_path)
    assert here.commits == [
        {"deletedFile": ["data/old.parquet"], "file": ["README.md", "data/train.parquet"]}
    ]


@pytest.mark.parametrize("mark", [{"provenance": "benchmark"}, {}])
def test_benchmark_records_are_refused_before_anything_is_sent(
    here: type[Hub], tmp_path: Path, mark: dict[str, str]
) -> None:
    folder(tmp_path / "in", {1: record(conversationId="a", provenance="own"), 2: record() | mark})
    for command in (f"push in {REPO}", "to-parquet in -o out"):
        _, told = attune_here(f"data {command}", tmp_path, code=1)
        assert "1 of 2 conversations may not be published as a data set" in told
    assert here.created == []
    assert not (tmp_path / "out").exists()


def test_a_refusal_by_the_hub_is_one_line_without_the_token(
    here: type[Hub], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    (line,) = attune_here(f"data push sample {REPO}", tmp_path, code=1)[1].splitlines()
    assert "401" in line
    assert "hf auth whoami" in line
    assert "hf_wrong" not in line
    assert here.commits == []
