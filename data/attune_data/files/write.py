"""Write conversations to a folder of files, a JSON Lines file or a saved dataset; `load` reads each of them.

The same conversations give the same bytes. The target appears only once it is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.extras import needs_extra
from attune_data.files.destination import check_jsonl, create, in_place_of, temporary
from attune_data.files.rows import file_name
from attune_data.files.tables import no_bars
from attune_data.format.schema import Conversation
from attune_data.jsonio import is_sound


def write_folder(
    conversations: Iterable[Conversation],
    folder: Path,
    *,
    overwrite: bool = False,
    numbers: Iterable[int] | None = None,
) -> int:
    """Write `conversation_N.json` files; returns their number.

    Args:
        conversations: at least one, with distinct ids.
        folder: created if needed; must be empty unless `overwrite` is given (hidden files do not count).
        overwrite: replace an existing data set. Other files are never removed; they cause an error.
        numbers: N of each conversation, distinct and at least 0; by default 1, 2, 3, …

    Raises:
        DataError: the folder is not empty (or has other files), or two conversations have the same id.
        SettingsError: no conversations, or numbers that do not fit them.
    """
    with in_place_of(folder, overwrite=overwrite) as fresh:
        return _write_files(conversations, fresh, count(1) if numbers is None else iter(numbers))


def _write_files(conversations: Iterable[Conversation], folder: Path, numbers: Iterator[int]) -> int:
    taken: set[int] = set()
    for conversation in _written(conversations):
        number = next(numbers, None)
        if number is None or number < 0 or number in taken:
            found = "too few numbers" if number is None else f"the number {number}"
            raise SettingsError(f"{found} for the files: each conversation needs its own, 0 or more")
        taken.add(number)
        text = record_text(conversation, indent=1) + "\n"
        (folder / file_name(number)).write_text(text, encoding="utf-8", newline="\n")
    return len(taken)


def write_parts(
    parts: Mapping[str, Iterable[Conversation]],
    folder: Path,
    *,
    numbers: Mapping[str, int],
    overwrite: bool = False,
) -> None:
    """Write each split to a folder inside `folder`; `numbers` maps conversation ids to the N of their files.

    `overwrite` replaces all existing splits, regardless of their names, so that old and new ones never mix.
    Raises the errors of `write_folder`.
    """
    for name in parts:
        if not name or Path(name).name != name or name.startswith(".") or "\\" in name:
            raise SettingsError(f"a split named {show(name)}: expected the plain name of a folder")
    with in_place_of(folder, overwrite=overwrite) as fresh:
        for name, part in parts.items():
            (fresh / name).mkdir()
            chosen = list(part)
            _write_files(chosen, fresh / name, (numbers[c.conversation_id] for c in chosen))


def write_jsonl(conversations: Iterable[Conversation], path: Path, *, overwrite: bool = False) -> int:
    """Write one record per line; returns their number. `path` must end in .jsonl.

    Raises DataError if the file exists and `overwrite` is not given, or if it is not a file of conversations;
    otherwise the errors of `write_folder`.
    """
    check_jsonl(path, overwrite=overwrite)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = temporary(path.parent, path.name)
    written = 0
    try:
        with create(fresh, path) as stream:
            for conversation in _written(conversations):
                stream.write(record_text(conversation, indent=None) + "\n")
                written += 1
        check_jsonl(path, overwrite=overwrite)  # another process may have written there meanwhile
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    return written


def write_dataset(conversations: Iterable[Conversation], folder: Path, *, overwrite: bool = False) -> int:
    """Write a dataset as `save_to_disk` does, one column `record` of JSON text; returns the number of rows.

    The column holds text because Arrow would give every record the fields of all others. `overwrite` and
    errors are as in `write_folder`.
    """
    with needs_extra("train", "datasets"):
        import datasets
        from datasets.table import InMemoryTable

    with in_place_of(folder, overwrite=overwrite) as fresh:
        texts = [record_text(conversation, indent=None) for conversation in _written(conversations)]
        # otherwise the fingerprint, and so the bytes, would be random
        content = hashlib.sha256("".join(texts).encode()).hexdigest()[:16]
        dataset = datasets.Dataset(InMemoryTable.from_pydict({"record": texts}), fingerprint=content)
        with no_bars():
            dataset.save_to_disk(str(fresh))
    return len(texts)


def _written(conversations: Iterable[Conversation]) -> Iterator[Conversation]:
    """Check the conversations for problems that would make `load` fail."""
    seen: set[str] = set()
    for conversation in conversations:
        identity = conversation.conversation_id
        if identity in seen:
            raise DataError(
                Problem("conversations to write", "conversationId", f"{show(identity)} twice", "each id once",
                        "leave one out or rename it")
            )  # fmt: skip
        seen.add(identity)
        yield conversation
    if not seen:
        raise SettingsError("nothing to write: there are no conversations")


def record_text(conversation: Conversation, *, indent: int | None) -> str:
    """The record as text, including its provenance mark; raises DataError if no file can hold it."""
    text = json.dumps(conversation.to_record(), ensure_ascii=False, indent=indent, allow_nan=False)
    if not is_sound(text):
        raise DataError(
            Problem("conversations to write", show(conversation.conversation_id),
                    "a lone surrogate (half of a character)", "valid Unicode", "replace the character")
        )  # fmt: skip
    return text
