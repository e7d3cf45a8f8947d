"""Sets that stay in their files, and files that would take more memory than they deserve."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from attune_data import DataError, load
from attune_data.files.write import write_folder, write_jsonl
from attune_data.selection import select
from attune_env.testing import filler
from tests.data.builders import only_problem, problems_of, record, replaced, turn, write

HOW_MANY = 3


@pytest.mark.parametrize("kind", ["folder", "lines"])
def test_what_is_not_in_memory_is_read_when_it_is_asked_for_and_let_go(tmp_path: Path, kind: str) -> None:
    made = filler(HOW_MANY)
    path = tmp_path / ("data" if kind == "folder" else "data.jsonl")
    (write_folder if kind == "folder" else write_jsonl)(made, path)
    del made
    stored = load(path, in_memory=False)
    read = [weakref.ref(conversation) for conversation in stored]
    gc.collect()
    assert [one() for one in read] == [None] * HOW_MANY
    assert stored[0] is not stored[0]
    here = load(path)
    assert list(stored) == list(here)
    assert (stored.fingerprint, stored.provenance) == (here.fingerprint, here.provenance)
    assert dict(stored.by_id) == dict(here.by_id)
    metadata = here[0].metadata
    assert metadata is not None
    where = f"category={metadata.category}"
    assert list(select(stored, where)) == list(select(here, where))
    assert list(stored[1:]) == list(here[1:])


def test_a_file_that_changed_after_it_was_checked_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "one.json", record())
    stored = load(path, in_memory=False)
    write(path, record(conversationId="another"))
    assert len(stored[:1]) == len(stored.chosen([0])) == 1  # which reads none
    problem = only_problem(lambda: stored[0])
    assert problem.found.startswith('"another"')
    assert problem.advice.startswith("the data has changed since")
    assert problem == only_problem(lambda: stored.by_id["c-1"])


def test_loaded_conversations_take_little_more_memory_than_their_texts_and_objects(tmp_path: Path) -> None:
    # of 13 kB in the file: 27 kB measured; 82 kB if each of 44 judgements, 47 comparisons and 6 tags
    # were an object of its own, of about 560 bytes
    path = tmp_path / "data.jsonl"
    write_jsonl(filler(200), path)
    load(path)  # what is kept once, such as compiled expressions
    tracemalloc.start()
    here = load(path)
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held / len(here) < 45_000


def test_of_thousands_of_values_that_do_not_fit_some_are_named_and_all_counted(tmp_path: Path) -> None:
    judgements = {"binaryJudgements": [0] * 5_000}
    path = write(tmp_path / "one.json", record(turns=[turn(1, annotations=judgements)]))
    found = problems_of(lambda: load(path))
    assert [p.place for p in found[:2]] == [f"turns[0].annotations.binaryJudgements[{n}]" for n in (0, 1)]
    # one more than the list holds: no turn is left, which is wrong too
    assert (len(found), found[-1].found) == (9, "5001 invalid values")


N = 300_000
SHAPES: dict[str, Any] = {
    "lists": [[]] * (N // 4),
    "numbers": [0] * (N // 3),
    "keys": {f"{n:x}": 1 for n in range(N // 11)},
    "tags": [{"emotion": "Upset"}] * (N // 22),
    "a wide text": "x" * N + "😀",
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("place", [
    ("extra",), ("turns", 0, "moodShiftTags"), ("turns", 0, "annotations", "binaryJudgements"),
    ("prePanas", "responses"),
])  # fmt: skip
def test_no_conversation_file_takes_25_times_its_room(
    tmp_path: Path, shape: str, place: tuple[str | int, ...]
) -> None:
    path = write(tmp_path / "one.json", replaced(record(extra=0), place, SHAPES[shape]))

    def read() -> None:
        with suppress(DataError):
            load(path)

    read()
    tracemalloc.start()
    read()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 25 * path.stat().st_size, f"{peak / path.stat().st_size:.1f} times"
