"""The splits under which a source is published, and the guard before that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.files.conversations import Conversations
from attune_data.files.rows import has_files
from attune_data.files.tables import ALL, holds_tables, split_names
from attune_data.selection import select
from attune_data.source.corpora import Corpus
from attune_data.source.guard import for_publishing
from attune_data.source.load import load
from attune_data.source.names import is_dataset_name, part_named, path_named

Splits = Mapping[str, Conversations]
"""Name -> conversations of a split."""
_NAME: Final = re.compile(r"\w+(\.\w+)*", re.ASCII)
"""The names that `datasets` accepts."""


def corpus_of(source: object) -> Corpus | None:
    """The bundled corpus that a source names; None for any other source."""
    part = part_named(source) if isinstance(source, (str, Path)) else None
    return part.corpus if part else None


def splits_of(
    source: str | Path | Conversations | Splits,
    where: str | None = None,
) -> dict[str, Conversations]:
    """The splits of a source, read and checked for publishing.

    Args:
        source: what `load` reads, with every split that a corpus or a dataset has; a folder of split folders,
            as `attune data split` writes it; `Conversations`; or splits by name.
        where: conditions, as for `select`; splits that become empty are left out.

    Raises:
        BenchmarkTrainingError: a record is marked benchmark, or not marked at all.
        DataError: the source cannot be read, nothing is selected, or an id is in two splits.
        SettingsError: `datasets` would not accept the name of a split.
    """
    if isinstance(source, Conversations):
        splits = {ALL: source}
    elif isinstance(source, Mapping):
        splits = dict(source)
    else:
        splits = {name: load(part, split=split) for name, (part, split) in _parts(source).items()}
    for name in splits:
        if not _NAME.fullmatch(name):
            raise SettingsError(f"a split named {show(name)}: expected letters, digits and underscores")
    whole = sum(splits.values(), Conversations([]))  # raises DataError for an id in two splits
    if where is not None:
        whole = select(whole, where)
    splits = {
        name: read.chosen(i for i, identity in enumerate(read.by_id) if identity in whole.by_id)
        for name, read in splits.items()
    }
    splits = {name: chosen for name, chosen in splits.items() if chosen}
    if not splits:
        raise DataError(Problem(str(source), "", "no conversation", "at least one to publish"))
    for_publishing(whole)
    return splits


def _parts(source: str | Path) -> dict[str, tuple[str | Path, str | None]]:
    """Split -> the source that `load` reads, and its split there."""
    if (part := part_named(source)) is not None:
        if part.split is None and part.corpus.splits:
            return {split: (source, split) for split in part.corpus.splits}
        return {part.split or ALL: (source, None)}
    path = path_named(source)
    if path is None and is_dataset_name(source):
        return {name: (source, name) for name in split_names(str(source))}
    if path is not None and holds_tables(path):
        return {name: (path, name) for name in split_names(path)}
    if path is not None and path.is_dir() and not has_files(path):
        folders = [inside for inside in sorted(path.iterdir()) if inside.is_dir() and has_files(inside)]
        if folders:
            return {inside.name: (inside, None) for inside in folders}
    return {ALL: (source, None)}


def in_several(splits: Splits) -> int:
    """The number of participants who are in more than one split."""
    seen: set[str] = set()
    several: set[str] = set()
    for conversations in splits.values():
        people = {conversation.participant for conversation in conversations}
        several |= people & seen
        seen |= people
    return len(several)
