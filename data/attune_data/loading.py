"""`load`: conversations from wherever they are, all problems listed before anything is refused."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, overload

from pydantic import ValidationError

from attune_data import garbage
from attune_data.constants import PROVENANCES, Provenance
from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.filenames import file_number
from attune_data.jsonio import MAX_LISTED, read_json
from attune_data.lines import jsonl
from attune_data.rows import Row, is_saved_dataset, named_dataset, saved_dataset, without_nulls
from attune_data.schema import Conversation
from attune_data.stored import Place, Stored
from attune_data.validate import conversation_from

SAMPLE = Path(__file__).parent / "sample"
"""The bundled sample, as a folder in the benchmark's layout."""

MAX_TURNS = 1_000
"""A record with more turns is refused."""

_DATASET_NAME = re.compile(r"[\w.-]+/[\w.-]+")


class Conversations(Sequence[Conversation]):
    """Conversations in a fixed order, with where they came from.

    An immutable sequence: indexing, iterating, `len` and slicing (which gives `Conversations`) work as
    for a tuple; `a + b` merges two sets. `by_id` finds one by its conversation id. Of a set that was loaded
    with `in_memory=False` each conversation is read again whenever it is asked for.
    """

    def __init__(
        self,
        items: Iterable[Conversation],
        *,
        source: str = "memory",
        left_out: Sequence[Problem] = (),
        files: Mapping[str, str] | None = None,
    ) -> None:
        self._items = items if isinstance(items, Stored) else tuple(items)
        self.files = dict(files or {})
        """Conversation id -> the file (or line, or row) that it was read from."""
        self.source = source
        """What was loaded, as the caller named it."""
        self.left_out = tuple(left_out)
        """Why records are missing, where `skip_invalid` left any out."""

    @overload
    def __getitem__(self, index: int) -> Conversation: ...
    @overload
    def __getitem__(self, index: slice) -> Conversations: ...
    def __getitem__(self, index: int | slice) -> Conversation | Conversations:
        """One conversation, or a slice as `Conversations`; by id: `.by_id[…]`."""
        if isinstance(index, str):
            raise TypeError(f"index by number or slice; by id it is .by_id[{index!r}]")
        if isinstance(index, slice):
            return self.narrowed_to(self._items[index])
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Conversation]:
        return iter(self._items)

    def __add__(self, other: Conversations) -> Conversations:
        """Both, these first, each record with its own mark; DataError where they share an id."""
        if not isinstance(other, Conversations):
            return NotImplemented
        shared = [key for key in other.by_id if key in self.by_id]
        if shared:
            raise DataError([
                Problem(other.files.get(key, other.source), "conversationId",
                        f"{show(key)}, which {self.files.get(key, self.source)} has too",
                        "each id once in a merged set", "leave one of the two out")
                for key in shared
            ])  # fmt: skip
        return Conversations(
            (*self, *other),
            source=f"{self.source} + {other.source}",
            left_out=(*self.left_out, *other.left_out),
            files={key: part.files[key] for part in (self, other) for key in part.by_id if key in part.files},
        )

    def narrowed_to(self, items: Iterable[Conversation]) -> Conversations:
        """Some of its own conversations, still with where they came from."""
        return Conversations(items, source=self.source, left_out=self.left_out, files=self.files)

    def __repr__(self) -> str:
        return f"Conversations({len(self)} from {self.source!r}, {self.provenance})"

    def chosen(self, indices: Iterable[int]) -> Conversations:
        """Those at these places; what is not in memory is not read for it."""
        if isinstance(self._items, Stored):
            return self.narrowed_to(Stored(self._items.places[index] for index in indices))
        return self.narrowed_to(self._items[index] for index in indices)

    @cached_property
    def by_id(self) -> Mapping[str, Conversation]:
        """Conversation id -> conversation."""
        if isinstance(self._items, Stored):
            return self._items.by_id
        return {item.conversation_id: item for item in self._items}

    @property
    def provenance(self) -> Provenance:
        """The mark of the whole: one benchmark record makes it benchmark; else the common mark.

        A mix of other marks counts as "imported", the most restricted of those that may be trained on.
        """
        held = self._items.places if isinstance(self._items, Stored) else self._items
        marks = {item.origin for item in held}
        if not marks or "benchmark" in marks:
            return "benchmark"
        return marks.pop() if len(marks) == 1 else "imported"

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits that name the content: same records, same fingerprint, whatever their order."""
        digests = sorted(fingerprint(item) for item in self._items)
        return hashlib.sha256("\n".join(digests).encode()).hexdigest()[:16]


def fingerprint(conversation: Conversation) -> str:
    """16 hex digits that name one record's content (key order and layout of the file do not matter)."""
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
    """Conversations from a folder, a file, a dataset, or the bundled sample.

    Args:
        source: `"sample"`, always the bundled one (a folder of that name is `"./sample"`); a folder of
            `conversation_N.json`; one `.json` file; a `.jsonl` file (one record a line); a folder written by
            `datasets.Dataset.save_to_disk`; or the name of a dataset (`owner/name`), which `datasets` then
            loads. An existing path wins over a name.
        provenance: the mark of records that carry none. Without it such records count as benchmark.
            Records under a folder called `Test Samples` are benchmark whatever is said here.
        skip_invalid: leave out what cannot be read instead of raising; `.left_out` says what and why.
        split: the split of a dataset that has several.
        in_memory: False checks every record as ever, and keeps none: each is read again when it is asked
            for. For sets that take much memory; what is read then must not change meanwhile.

    Returns:
        The conversations, ordered by file number (folder) or as they stand (JSONL, datasets).

    Raises:
        DataError: nothing found, or problems; `error.problems` lists all of them, file by file.
    """
    if not isinstance(source, (str, Path)):
        raise SettingsError(
            f'the source is {show(source)}; expected a path, the name of a dataset, or "sample"'
        )
    name = str(source)
    path = SAMPLE if name == "sample" else Path(source)
    if provenance is not None and provenance not in PROVENANCES:
        raise UnknownNameError("provenance", provenance, PROVENANCES)
    try:
        is_folder = bool(name.strip()) and path.is_dir()
        is_file = path.exists() and not path.is_dir()
    except OSError:  # a name that no file can have
        is_folder = is_file = False
    if split is not None and (is_file or (is_folder and not is_saved_dataset(path))):
        raise SettingsError(f"split {show(split)}: only datasets have splits, {name} is none")
    records: Iterable[Row]
    if is_folder:
        records = saved_dataset(path, split) if is_saved_dataset(path) else _folder(path)
    elif is_file:
        records = jsonl(path) if path.suffix == ".jsonl" else [(str(path), partial(read_json, path))]
    elif not name.strip():
        raise DataError(Problem('""', "", "an empty path", "a folder, a file, a dataset name, or sample"))
    elif _DATASET_NAME.fullmatch(name) and not path.suffix and not path.parent.exists():
        records = named_dataset(name, split)
    else:
        raise DataError(
            Problem(name, "", "no such file or folder",
                    'a folder of conversation_N.json, a .json or .jsonl file, a dataset name, or "sample"',
                    "check the path (quote it if it holds spaces)")
        )  # fmt: skip
    forced: Provenance | None = "benchmark" if is_benchmark(path) else None
    kept: list[Conversation] = []
    places: list[Place] = []
    problems: list[Problem] = []
    with garbage.paused():  # 2x faster
        for place, conversation in _read_all(records, provenance, forced, problems):
            if in_memory:
                kept.append(conversation)
            places.append(place)
    if problems and not skip_invalid:
        raise DataError(problems)
    if not places:
        raise DataError(problems or [Problem(name, "", "no records", "at least one conversation")])
    files = {place.conversation_id: place.file for place in places}
    return Conversations(kept if in_memory else Stored(places), source=name, left_out=problems, files=files)


def is_benchmark(path: Path) -> bool:
    """Whether a path lies under `Test Samples`, itself or what it links to."""
    real = os.path.realpath(path)  # unlike Path.resolve, it takes links that lead in a circle
    parts = (*path.absolute().parts, *Path(real).parts)
    return "test samples" in {part.casefold() for part in parts}


def _read_all(
    records: Iterable[Row], default: Provenance | None, forced: Provenance | None, problems: list[Problem]
) -> Iterator[tuple[Place, Conversation]]:
    """Every sound record with its place; adds what is wrong with the others to `problems`."""
    first_seen: dict[str, str] = {}
    for file, read in records:
        try:
            conversation = _marked(file, read, default, forced, len(problems))
        except DataError as error:
            problems.extend(error.problems)
            continue
        key = conversation.conversation_id
        if key in first_seen:
            problems.append(
                Problem(file, "conversationId", f"{show(key)}, which {first_seen[key]} has too",
                        "each id once", "remove the copy")
            )  # fmt: skip
            continue
        first_seen[key] = file
        again = partial(_marked, file, read, default, forced)
        yield Place(key, conversation.origin, file, again), conversation


def _marked(
    file: str, read: Callable[[], Any], default: Provenance | None, forced: Provenance | None, listed: int = 0
) -> Conversation:
    """The record with its provenance; `listed` problems are known already."""
    conversation = _conversation(read(), file, listed)
    linked = Path(file).is_symlink() and is_benchmark(Path(file))
    mark = "benchmark" if linked else forced or conversation.provenance or default
    return conversation.marked(mark) if mark else conversation


def _conversation(value: Any, file: str, listed: int) -> Conversation:
    """`conversation_from` that does not spell out thousands of problems (`listed` are known already).

    One costs about 1 kB and 10 µs: a file of `[0,0,…]` in the place of turns would take 500 times its room.
    """
    if not isinstance(value, dict):
        return conversation_from(value, file)
    turns = value.get("turns")
    if isinstance(turns, list) and len(turns) > MAX_TURNS:
        raise DataError(Problem(file, "turns", f"a list of {len(turns)}", f"at most {MAX_TURNS} turns"))
    try:
        return Conversation.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        count = error.error_count()
    if listed + count <= MAX_LISTED:
        return conversation_from(value, file)  # raises, naming each
    few: list[Problem] = []
    if listed < MAX_LISTED:
        try:
            conversation_from(_beginning(value), file)
        except DataError as error:
            few = list(error.problems[: MAX_LISTED - listed])
    rest = Problem(file, "", f"{count} values that do not fit", "the conversation format",
                   f"{len(few)} of them are listed")  # fmt: skip
    raise DataError([*few, rest])


def _beginning(value: Any) -> Any:
    """The value with the first entries of its lists and objects, so that their places stay the same."""
    if isinstance(value, list):
        return [_beginning(child) for child in value[:8]]
    if isinstance(value, dict):
        return {key: _beginning(child) for key, child in islice(value.items(), 40)}
    return value


def _folder(path: Path) -> list[Row]:
    numbered = [(n, f.name, f) for f in path.iterdir() if (n := file_number(f.name)) is not None]
    if not numbered:
        raise DataError(_nothing_in(path))
    return [(str(file), partial(read_json, file)) for _, _, file in sorted(numbered)]


def _nothing_in(path: Path) -> Problem:
    """Says what was looked for and what is there instead, so that the slip is plain."""
    inside = sorted(f.name for f in path.iterdir())
    with_data = [d for d in sorted(path.iterdir()) if d.is_dir() and any(d.glob("conversation_*.json"))]
    if with_data:
        advice = f"did you mean {with_data[0]}?"
    elif inside:
        advice = f"the folder holds {', '.join(inside[:3])}{' …' if len(inside) > 3 else ''}"
    else:
        advice = "the folder is empty"
    return Problem(
        str(path), "", "no conversation_N.json file", "files conversation_1.json and so on", advice
    )
