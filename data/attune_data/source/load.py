"""`load`: the conversations of a named corpus, a folder, a file or a dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.files import gc_pause
from attune_data.files.conversations import Conversations, Place
from attune_data.files.rows import Row, folder, jsonl
from attune_data.files.tables import DELIMITERS, holds_tables, tables
from attune_data.format.constants import PROVENANCES, Provenance
from attune_data.format.schema import Conversation
from attune_data.format.validate import conversation_from
from attune_data.jsonio import MAX_LISTED, read_json
from attune_data.source.names import accepted, check_name, is_dataset_name, no_such, part_named, path_named

SAMPLE = Path(__file__).parents[1] / "sample"
"""The bundled sample, as a folder in the benchmark's layout."""

MAX_TURNS = 1_000
"""A record with more turns is refused."""
_CONVERT: Final = "`attune data import feelings` or `attune data import preferences` converts it"


def load(
    source: str | Path,
    *,
    provenance: Provenance | None = None,
    skip_invalid: bool = False,
    split: str | None = None,
    in_memory: bool = True,
) -> Conversations:
    """Load conversations from a named corpus, a folder, a file or a dataset.

    Args:
        source: `"sample"`, `"written"`, or a split such as `"written:test"` (a folder of such a name is
            `"./sample"`); a folder of `conversation_N.json`; one `.json` file; a `.jsonl` file (one record
            per line); a folder of Parquet files, or one such file; a folder written by
            `datasets.Dataset.save_to_disk`; or the name of a dataset (`owner/name`), which `datasets` then
            loads, unless there is a path of that name.
        provenance: the mark of records that have none. Without it such records count as benchmark.
            Records below a folder called `Test Samples` are benchmark data in any case.
        skip_invalid: leave out records that cannot be read instead of raising; `.left_out` lists them.
        split: the split of a dataset or corpus that has several.
        in_memory: False validates every record but keeps none; each is read again on access. For sets
            larger than memory; the files must not change meanwhile.

    Returns:
        The conversations, ordered by file number (folder) or in the order of the source (JSONL, datasets).

    Raises:
        DataError: nothing found, or problems; `error.problems` lists them file by file, at most a
            thousand.
    """
    if not isinstance(source, (str, Path)):
        raise SettingsError(f"the source is {show(source)}; expected {accepted()}")
    name = str(source)
    check_name(name)
    if provenance is not None and provenance not in PROVENANCES:
        raise UnknownNameError("provenance", provenance, PROVENANCES)
    path = path_named(name)
    forced: Provenance | None = "benchmark" if path is not None and is_benchmark(path) else None
    problems: list[Problem] = []
    items: list[Conversation | Place] = []
    files: dict[str, str] = {}
    rows = True  # nothing but rows without turns
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
                rows = rows and any((p.place, p.found) == ("turns", "nothing") for p in error.problems)
                problems.extend(error.problems[: MAX_LISTED + 1 - len(problems)])
                if len(problems) > MAX_LISTED and not skip_invalid:
                    break
            else:
                files[identity] = file
                place = Place(identity, conversation.origin, file, again)
                items.append(conversation if in_memory else place)
    if problems and not items and rows and (path is None or path.suffix == ".jsonl" or holds_tables(path)):
        problems = [Problem(name, "", "a table: no row has turns", "conversations", _CONVERT)]
    if len(problems) > MAX_LISTED:
        listed = f"the first {MAX_LISTED} are listed"
        problems[MAX_LISTED:] = [Problem(name, "", "further problems", "none", listed)]
    if problems and not (skip_invalid and items):
        raise DataError(problems)
    if not items:
        raise DataError(Problem(name, "", "no records", "at least one conversation"))
    return Conversations(items, source=name, left_out=problems, files=files)


def _records(name: str, path: Path | None, split: str | None) -> Iterable[Row]:
    """The records of a source, depending on its kind."""
    if (part := part_named(name)) is not None:
        part = part.at(split)
        return part.corpus.rows(part.split)
    if path is None:
        if is_dataset_name(name):
            return tables(name, split)
        raise no_such(name)
    if holds_tables(path):
        return tables(path, split)
    if split is not None:
        raise SettingsError(f"split {show(split)}: only datasets have splits, and {name} is not one")
    if path.is_dir():
        return folder(path)
    if path.suffix in DELIMITERS:
        raise DataError(Problem(name, "", f"a table ({path.suffix})", "conversations", _CONVERT))
    return jsonl(path) if path.suffix == ".jsonl" else [(name, partial(read_json, path))]


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
