"""`load`: read conversations from any source, listing all problems."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, overload

from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.files import gc_pause
from attune_data.files.jsonio import MAX_LISTED, read_json
from attune_data.files.rows import Row, check_name, dataset, folder, is_saved_dataset, jsonl, without_nulls
from attune_data.format.constants import PROVENANCES, Provenance
from attune_data.format.schema import Conversation
from attune_data.format.validate import conversation_from
from attune_data.written.corpus import is_written, written_rows

SAMPLE = Path(__file__).parents[1] / "sample"
"""The bundled sample, as a folder in the benchmark's layout."""

MAX_TURNS = 1_000
"""A record with more turns is refused."""

_DATASET_NAME = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a conversation that has been validated; it is read again on access."""

    conversation_id: str
    origin: Provenance
    file: str
    read: Callable[[], Conversation]


def _conversation(item: Conversation | Place) -> Conversation:
    """Read a conversation that is not in memory; raises DataError if its file has changed since."""
    if isinstance(item, Conversation):
        return item
    found = item.read()
    if (found.conversation_id, found.origin) == (item.conversation_id, item.origin):
        return found
    raise DataError(
        Problem(item.file, "conversationId", f"{show(found.conversation_id)}, {found.origin}",
                f"{show(item.conversation_id)}, {item.origin}, as when the data was checked",
                "the data has changed since: run the command again")
    )  # fmt: skip


class _ById(Mapping[str, Conversation]):
    """Conversation id -> conversation."""

    def __init__(self, items: Iterable[Conversation | Place]) -> None:
        self._items = {item.conversation_id: item for item in items}

    def __getitem__(self, conversation_id: str) -> Conversation:
        return _conversation(self._items[conversation_id])

    def __contains__(self, conversation_id: object) -> bool:
        return conversation_id in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


class Conversations(Sequence[Conversation]):
    """Conversations in a fixed order, with where they came from.

    An immutable sequence: indexing, iterating, `len` and slicing (which returns `Conversations`) work as
    for a tuple; `a + b` merges two sets. `by_id` finds a conversation by its id. A set loaded with
    `in_memory=False` reads each conversation again on every access.
    """

    def __init__(
        self,
        items: Iterable[Conversation | Place],
        *,
        source: str = "memory",
        left_out: Sequence[Problem] = (),
        files: Mapping[str, str] | None = None,
    ) -> None:
        self._items = tuple(items)
        self.files = dict(files or {})
        """Conversation id -> the file (or line, or row) that it was read from."""
        self.source = source
        """The source as given by the caller."""
        self.left_out = tuple(left_out)
        """Which records `skip_invalid` left out, and why."""

    @overload
    def __getitem__(self, index: int) -> Conversation: ...
    @overload
    def __getitem__(self, index: slice) -> Conversations: ...
    def __getitem__(self, index: int | slice) -> Conversation | Conversations:
        """Get one conversation, or a slice as `Conversations`; to look up an id, use `.by_id[…]`."""
        if isinstance(index, str):
            raise TypeError(f"index by number or slice; for an id, use .by_id[{index!r}]")
        found = self._items[index]
        return self._of(found) if isinstance(found, tuple) else _conversation(found)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Conversation]:
        return map(_conversation, self._items)

    def __add__(self, other: Conversations) -> Conversations:
        """Merge two sets, each record keeping its mark; raises DataError if they share an id."""
        if not isinstance(other, Conversations):
            return NotImplemented
        shared = [key for key in other.by_id if key in self.by_id]
        if shared:
            raise DataError([
                Problem(other.files.get(key, other.source), "conversationId",
                        f"{show(key)}, which is also in {self.files.get(key, self.source)}",
                        "each id once in a merged set", "leave out one of the two")
                for key in shared
            ])  # fmt: skip
        return Conversations(
            (*self._items, *other._items),
            source=f"{self.source} + {other.source}",
            left_out=(*self.left_out, *other.left_out),
            files=self.files | other.files,
        )

    def chosen(self, indices: Iterable[int]) -> Conversations:
        """The conversations at these positions, in this order; nothing is read from disk."""
        return self._of(self._items[index] for index in indices)

    def _of(self, items: Iterable[Conversation | Place]) -> Conversations:
        return Conversations(items, source=self.source, left_out=self.left_out, files=self.files)

    def __repr__(self) -> str:
        return f"Conversations({len(self)} from {self.source!r}, {self.provenance})"

    @cached_property
    def by_id(self) -> Mapping[str, Conversation]:
        """Conversation id -> conversation."""
        return _ById(self._items)

    @property
    def provenance(self) -> Provenance:
        """The provenance of the whole set, from `common_mark`."""
        return common_mark(item.origin for item in self._items)

    @cached_property
    def fingerprint(self) -> str:
        """A fingerprint of the content, independent of the order of the records: 16 hex digits."""
        digests = sorted(fingerprint(item) for item in self)
        return hashlib.sha256("\n".join(digests).encode()).hexdigest()[:16]


def common_mark(origins: Iterable[Provenance]) -> Provenance:
    """The mark of a whole set: the first of benchmark, filler, imported and own that any record has.

    An empty set counts as benchmark.
    """
    marks = set(origins)
    order: tuple[Provenance, ...] = ("benchmark", "filler", "imported", "own")
    return next((mark for mark in order if mark in marks), "benchmark")


def fingerprint(conversation: Conversation) -> str:
    """A fingerprint of one record's content, 16 hex digits (key order and file layout do not matter)."""
    record = without_nulls(conversation.to_record())  # null and absent mean the same
    text = json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def load(
    source: str | Path,
    *,
    provenance: Provenance | None = None,
    skip_invalid: bool = False,
    split: str | None = None,
    in_memory: bool = True,
) -> Conversations:
    """Load conversations from a folder, a file, a dataset, or the bundled sample.

    Args:
        source: `"sample"`, always the bundled one (a folder of that name is `"./sample"`); a folder of
            `conversation_N.json`; one `.json` file; a `.jsonl` file (one record per line); a folder written
            by `datasets.Dataset.save_to_disk`; or the name of a dataset (`owner/name`), which `datasets` then
            loads. An existing path takes precedence over a name.
        provenance: the mark of records that have none. Without it such records count as benchmark.
            Records below a folder called `Test Samples` are benchmark data in any case.
        skip_invalid: leave out records that cannot be read instead of raising; `.left_out` lists them.
        split: the split of a dataset that has several.
        in_memory: False validates every record but keeps none; each is read again on access. For sets
            larger than memory; the files must not change meanwhile.

    Returns:
        The conversations, ordered by file number (folder) or in the order of the source (JSONL, datasets).

    Raises:
        DataError: nothing found, or problems; `error.problems` lists them file by file, at most a
            thousand.
    """
    if not isinstance(source, (str, Path)):
        raise SettingsError(
            f'the source is {show(source)}; expected a path, the name of a dataset, or "sample"'
        )
    name = str(source)
    check_name(name)
    path = SAMPLE if name == "sample" else Path(source)
    if provenance is not None and provenance not in PROVENANCES:
        raise UnknownNameError("provenance", provenance, PROVENANCES)
    forced: Provenance | None = "benchmark" if is_benchmark(path) else None
    problems: list[Problem] = []
    items: list[Conversation | Place] = []
    files: dict[str, str] = {}
    with gc_pause.paused():  # 2x faster
        for file, read in _records(name, path, split):
            again = partial(_marked, file, read, provenance, forced)
            try:
                conversation = again()
                identity = conversation.conversation_id
                if identity in files:
                    twice = f"{show(identity)}, which is also in {files[identity]}"
                    raise DataError(Problem(file, "conversationId", twice, "each id once", "remove the copy"))
            except DataError as error:
                problems.extend(error.problems[: MAX_LISTED + 1 - len(problems)])
                if len(problems) > MAX_LISTED and not skip_invalid:
                    break
            else:
                files[identity] = file
                place = Place(identity, conversation.origin, file, again)
                items.append(conversation if in_memory else place)
    if len(problems) > MAX_LISTED:
        listed = f"the first {MAX_LISTED} are listed"
        problems[MAX_LISTED:] = [Problem(name, "", "further problems", "none", listed)]
    if problems and not (skip_invalid and items):
        raise DataError(problems)
    if not items:
        raise DataError(Problem(name, "", "no records", "at least one conversation"))
    return Conversations(items, source=name, left_out=problems, files=files)


def _records(name: str, path: Path, split: str | None) -> Iterable[Row]:
    """The records of a source, depending on its kind."""
    if is_written(name):
        return written_rows(name, split)
    try:
        is_folder = bool(name.strip()) and path.is_dir()
        is_file = path.exists() and not is_folder
    except OSError:  # a name that no file can have
        is_folder = is_file = False
    if is_folder and is_saved_dataset(path):
        return dataset(path, split)
    if split is not None and (is_file or is_folder):
        raise SettingsError(f"split {show(split)}: only datasets have splits, and {name} is not one")
    if is_folder:
        return folder(path)
    if not name.strip():
        raise DataError(Problem('""', "", "an empty path", "a folder, a file, a dataset name, or sample"))
    if is_file:
        return jsonl(path) if path.suffix == ".jsonl" else [(name, partial(read_json, path))]
    if _DATASET_NAME.fullmatch(name) and not path.suffix and not path.parent.exists():
        return dataset(name, split)
    raise DataError(
        Problem(name, "", "no such file or folder",
                'a folder of conversation_N.json, a .json or .jsonl file, a dataset name, sample or written',
                "check the path (quote it if it contains spaces)")
    )  # fmt: skip


def is_benchmark(path: Path) -> bool:
    """Whether a path, or what it links to, is below `Test Samples`."""
    real = os.path.realpath(path)  # unlike Path.resolve, it accepts circular links
    parts = (*path.absolute().parts, *Path(real).parts)
    return "test samples" in {part.casefold() for part in parts}


def _marked(
    file: str, read: Callable[[], Any], default: Provenance | None, forced: Provenance | None
) -> Conversation:
    """Set the provenance of a record."""
    value = read()
    turns = value.get("turns") if isinstance(value, dict) else None
    if isinstance(turns, list) and len(turns) > MAX_TURNS:
        raise DataError(Problem(file, "turns", f"a list of {len(turns)}", f"at most {MAX_TURNS} turns"))
    conversation = conversation_from(value, file)
    linked = Path(file).is_symlink() and is_benchmark(Path(file))
    mark = "benchmark" if linked else forced or conversation.provenance or default
    return conversation.marked(mark) if mark else conversation
