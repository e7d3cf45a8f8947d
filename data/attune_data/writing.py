"""Conversations to disk: a folder of files, a JSON Lines file, or a saved dataset, each read back by `load`.

Records are written as they are read from the iterable, one at a time, so memory stays flat. The same
conversations give the same bytes. Nothing stands in its place before all of it is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

from attune_data.destination import (
    check_jsonl,
    check_parts,
    clear,
    create,
    in_place_of,
    install,
    shown,
    temporary,
)
from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.filenames import file_name
from attune_data.schema import Conversation

_BATCH: Final = 64
"""Records that a dataset's writer holds before they go to disk."""


def write_folder(
    conversations: Iterable[Conversation],
    folder: Path,
    *,
    overwrite: bool = False,
    numbers: Iterable[int] | None = None,
) -> int:
    """Writes `conversation_N.json` files and returns how many.

    Args:
        conversations: at least one; ids that differ.
        folder: made if needed; empty unless `overwrite` (hidden files do not count).
        overwrite: replace the data set that stands there. Other files are never removed: they stop the call.
        numbers: N of each conversation, all different, 0 or more; by default 1, 2, 3, …

    Raises:
        DataError: the folder holds something (else), or two conversations have one id.
        SettingsError: no conversations, or numbers that do not fit them.
    """
    given = count(1) if numbers is None else iter(numbers)
    taken: set[int] = set()
    with in_place_of(folder, overwrite=overwrite) as fresh:
        for conversation in _written(conversations):
            number = next(given, None)
            if number is None or number < 0 or number in taken:
                found = "too few numbers" if number is None else f"the number {number}"
                raise SettingsError(
                    f"{found} for the files: each conversation needs one of its own, 0 or more"
                )
            taken.add(number)
            text = _text(conversation, indent=1) + "\n"
            (fresh / file_name(number)).write_text(text, encoding="utf-8", newline="\n")
    return len(taken)


def write_parts(
    parts: Mapping[str, Iterable[Conversation]],
    folder: Path,
    *,
    numbers: Mapping[str, int],
    overwrite: bool = False,
) -> None:
    """Writes each part as a folder of its own inside `folder`; old parts go when all new ones are written.

    Args:
        parts: name of the part -> its conversations.
        folder: made if needed; empty unless `overwrite`.
        numbers: conversation id -> N of its file.
        overwrite: replace all parts that stand there, also those of other names: two splits never mix.

    Raises what `write_folder` raises.
    """
    for name in parts:
        if not name or Path(name).name != name or name.startswith(".") or "\\" in name:
            raise SettingsError(f"a part named {show(name)}: expected the plain name of a folder")
    check_parts(folder, overwrite=overwrite)
    folder.mkdir(parents=True, exist_ok=True)
    fresh = temporary(folder, "parts")
    fresh.mkdir()
    try:
        for name, part in parts.items():
            chosen = list(part)
            write_folder(chosen, fresh / name, numbers=[numbers[c.conversation_id] for c in chosen])
        check_parts(folder, overwrite=overwrite)  # others may have written there meanwhile
        for old in shown(folder):
            clear(old)
            if not any(old.iterdir()):
                old.rmdir()
        for name in parts:
            install(fresh / name, folder / name)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def write_jsonl(conversations: Iterable[Conversation], path: Path, *, overwrite: bool = False) -> int:
    """Writes one record a line and returns how many; `path` ends in .jsonl.

    Raises:
        DataError: a file stands there and `overwrite` is not given, or it holds no conversations;
            or two conversations have one id.
        SettingsError: another ending (it would not be read back line by line), or no conversations.
    """
    check_jsonl(path, overwrite=overwrite)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = temporary(path.parent, path.name)
    written = 0
    try:
        with create(fresh, path) as stream:
            for conversation in _written(conversations):
                stream.write(_text(conversation, indent=None) + "\n")
                written += 1
        check_jsonl(path, overwrite=overwrite)  # others may have written there meanwhile
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    return written


def write_dataset(conversations: Iterable[Conversation], folder: Path, *, overwrite: bool = False) -> int:
    """Writes a dataset as `save_to_disk` does, one column `record` of JSON text; returns its rows.

    The column holds text since Arrow would give every record the fields of all the others. `overwrite`
    and errors as in `write_folder`.
    """
    from datasets import Dataset, Features, Value
    from datasets.arrow_writer import ArrowWriter
    from datasets.table import MemoryMappedTable

    content = hashlib.sha256()
    with in_place_of(folder, overwrite=overwrite) as fresh:
        draft = fresh / "draft" / "rows.arrow"  # a folder of its own: a dataset never overwrites itself
        draft.parent.mkdir()
        features = Features({"record": Value("string")})
        with ArrowWriter(path=str(draft), features=features, writer_batch_size=_BATCH) as writer:
            for conversation in _written(conversations):
                text = _text(conversation, indent=None)
                content.update(text.encode())
                writer.write({"record": text})
            rows, _ = writer.finalize()
        # the fingerprint would be random otherwise, and the bytes with it
        table = MemoryMappedTable.from_file(str(draft))
        dataset = Dataset(table, fingerprint=content.hexdigest()[:16])
        with _without_progress_bars():
            dataset.save_to_disk(str(fresh))
        del dataset, table  # lets go of the mapped file
        shutil.rmtree(draft.parent)
    return int(rows)


def _written(conversations: Iterable[Conversation]) -> Iterator[Conversation]:
    """The conversations, checked for what `load` would refuse."""
    seen: set[str] = set()
    for conversation in conversations:
        identity = conversation.conversation_id
        if identity in seen:
            raise DataError(
                Problem("what is to be written", "conversationId", f"{show(identity)} twice", "each id once",
                        "leave one out or rename it")
            )  # fmt: skip
        seen.add(identity)
        yield conversation
    if not seen:
        raise SettingsError("nothing to write: there is no conversation")


def _text(conversation: Conversation, *, indent: int | None) -> str:
    """The record as text, its provenance mark in it."""
    return json.dumps(conversation.to_record(), ensure_ascii=False, indent=indent, allow_nan=False)


@contextmanager
def _without_progress_bars() -> Iterator[None]:
    import datasets

    shown = not datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            datasets.enable_progress_bars()
