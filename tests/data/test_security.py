"""What data, folders and messages of others may not do: leave a folder, empty one, or act on a terminal."""

from __future__ import annotations

import os
import pickle
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attune_data import Conversation, DataError, SettingsError, UnknownNameError, load
from attune_data.errors import AttuneError, Problem
from attune_data.files.destination import check_jsonl
from attune_data.files.write import write_folder, write_jsonl, write_parts
from tests.command import names, snapshot
from tests.data.builders import conversation, only_problem, write

SAMPLE = load("sample")
NUMBERS = {c.conversation_id: n for n, c in enumerate(SAMPLE, 1)}
HOSTILE = (
    "\x1b[31mred", "\x1b]8;;http://x\x1b\\link", "\x9b2J", "\x07", "\r", "\x00", "\x7f", "\t",
    *map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)),
    "\u2028", "\u2029", "\ufeff",
)  # fmt: skip
"""Escape sequences, control characters, marks that turn the direction of writing, other line ends."""


def made(identity: str) -> Conversation:
    return conversation(conversationId=identity, provenance="own")


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- places ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../x", "..", ".", "", ".hidden", "a/b", "a\\b", "/abs"])
def test_a_part_is_a_folder_inside_the_output(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="the plain name of a folder"):
        write_parts({name: SAMPLE[:1]}, tmp_path / "out", numbers=NUMBERS)
    assert names(tmp_path) == []


def test_links_in_a_folder_are_replaced_and_what_they_lead_to_stays(tmp_path: Path) -> None:
    mine = write(tmp_path / "mine.json", "mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "conversation_1.json").symlink_to(mine)
    write_folder(SAMPLE[:1], tmp_path / "out", overwrite=True)
    assert mine.read_text() == "mine"
    assert not (tmp_path / "out" / "conversation_1.json").is_symlink()
    assert len(load(tmp_path / "out")) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_place_of_a_file_of_lines_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "out.jsonl")  # reading it would wait for a writer
    problem = only_problem(lambda: check_jsonl(tmp_path / "out.jsonl", overwrite=True))
    assert problem.found == "a file that does not start with a conversation"


@pytest.mark.skipif(os.name != "posix", reason="rights of a POSIX file system")
def test_a_private_file_stays_private_when_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write_jsonl(SAMPLE[:1], path)
    usual = write(tmp_path / "usual", "")
    assert rights(path) == rights(usual)
    path.chmod(0o600)
    write_jsonl(SAMPLE[:2], path, overwrite=True)
    assert rights(path) == 0o600


def arriving(path: Path) -> Iterator[Conversation]:
    """One conversation, while somebody else writes to `path`."""
    yield made("1")
    write(path, "theirs\n")


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_arrives_in_the_folder_meanwhile_is_not_lost(tmp_path: Path, overwrite: bool) -> None:
    theirs = tmp_path / "out" / "notes.txt"
    assert only_problem(
        lambda: write_folder(arriving(theirs), tmp_path / "out", overwrite=overwrite)
    ).found == "notes.txt"  # fmt: skip
    assert snapshot(tmp_path) == {"out/notes.txt": b"theirs\n"}


# --- ids and messages -----------------------------------------------------------------------------------

TRAVELLING = ("../../x", "/abs", "..", "a\0b", "-rf", "con", "\u202egnp", "x" * 200)


@pytest.mark.parametrize("name", ["out", "out.jsonl"])
def test_ids_are_content_and_never_paths(tmp_path: Path, name: str) -> None:
    data = [made(identity) for identity in (*TRAVELLING, "é", "e\u0301", "A", "a")]
    (write_jsonl if name.endswith("l") else write_folder)(data, tmp_path / "in" / name)
    assert names(tmp_path) == ["in"]
    assert [c.conversation_id for c in load(tmp_path / "in" / name)] == [c.conversation_id for c in data]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("error", [
    lambda text: SettingsError(f"x holds {text}"),
    lambda text: UnknownNameError("field", text, ["a", text]),
    lambda text: UnknownNameError("field", "b", [text]),
    lambda text: DataError(Problem(text, text, text, text, text)),
    lambda text: AttuneError(text),
])  # fmt: skip
def test_no_message_acts_on_a_terminal(text: str, error: Callable[[str], AttuneError]) -> None:
    for one in (error(text), pickle.loads(pickle.dumps(error(text)))):
        assert all(line.isprintable() for line in str(one).split("\n"))
        assert len(str(one).splitlines()) == 1


@pytest.mark.parametrize("name", ["conversation_1.json", "people.jsonl"])
def test_a_pipe_or_a_device_is_refused_unread(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    place = tmp_path if name.endswith(".json") else tmp_path / name
    assert only_problem(lambda: load(place)).found == "a pipe or a device"
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    assert only_problem(lambda: load(place)).found == "a pipe or a device"
