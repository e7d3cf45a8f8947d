"""Write conversations as a folder of Parquet files with a dataset card; `load` and `datasets` read it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from attune_data.errors import one_line
from attune_data.extras import needs_extra
from attune_data.files.conversations import Conversations
from attune_data.files.destination import CARD, in_place_of
from attune_data.files.tables import PARQUET, PARQUET_FOLDER
from attune_data.files.write import record_text
from attune_data.format.schema import Conversation
from attune_data.publishing.card import COLUMNS, card, is_trainable, licence_of
from attune_data.publishing.splits import Splits, corpus_of, splits_of

ROWS: Final = 100
"""Rows of a row group: as many records are in memory at a time."""


def to_parquet(
    source: str | Path | Conversations | Splits,
    folder: str | Path,
    *,
    where: str | None = None,
    licence: str | None = None,
    title: str | None = None,
    overwrite: bool = False,
) -> dict[str, int]:
    """Write `data/<split>.parquet` for each split, and the card `README.md`; returns the sizes of the splits.

    The same conversations give the same bytes. `load` gives the same conversations back, by `split` if there
    are several, and so does `datasets.load_dataset`, in the column `record`.

    Args:
        source: a name or path, as for `load`, with all its splits; a folder of split folders;
            `Conversations`; or splits by name.
        folder: where to write; it must be new or empty unless `overwrite` is given.
        where: conditions on the conversations, as for `select`.
        licence: the licence of conversations that state none; by default, that of a bundled corpus.
        title: the title of the card; by default, the name of the source.
        overwrite: replace an existing data set.

    Raises:
        BenchmarkTrainingError: a record is marked benchmark, or not marked at all: whoever loads a published
            data set can train on it.
        DataError: the source cannot be read, or the folder holds other things.
        MissingExtraError: `datasets` is not installed.
    """
    corpus = corpus_of(source)
    licence = licence or (corpus.licence if corpus else None)
    splits = splits_of(source, where)
    with needs_extra("train", "datasets", "pyarrow"):
        import datasets  # noqa: F401 (what the extra names; it brings pyarrow)
        from pyarrow import parquet

    with in_place_of(Path(folder), overwrite=overwrite) as fresh:
        (fresh / PARQUET_FOLDER).mkdir()
        files = {name: f"{PARQUET_FOLDER}/{name}{PARQUET}" for name in splits}
        for name, conversations in splits.items():
            tables = _tables(conversations, licence)
            first = next(tables)
            with parquet.ParquetWriter(fresh / files[name], first.schema) as writer:
                writer.write_table(first)
                for table in tables:
                    writer.write_table(table)
        named = title or next(iter(splits.values())).source
        (fresh / CARD).write_text(
            card(one_line(named), splits, files, licence, corpus), encoding="utf-8", newline="\n"
        )
    return {name: len(conversations) for name, conversations in splits.items()}


def _tables(conversations: Conversations, licence: str | None) -> Iterator[Any]:
    """The rows as Arrow tables of at most `ROWS`."""
    import pyarrow

    message = pyarrow.struct([("role", pyarrow.string()), ("content", pyarrow.string())])
    kinds = {"trainable": pyarrow.bool_(), "turns": pyarrow.int32(), "messages": pyarrow.list_(message)}
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in COLUMNS])
    ahead = iter(conversations)
    while rows := [_row(one, licence) for one in islice(ahead, ROWS)]:
        yield pyarrow.Table.from_pylist(rows, schema=schema)


def _row(conversation: Conversation, licence: str | None) -> dict[str, Any]:
    return {
        "conversation_id": conversation.conversation_id,
        "participant": conversation.participant,
        "provenance": conversation.origin,
        "licence": licence_of(conversation, licence),
        "trainable": is_trainable(conversation),
        "category": conversation.metadata.category if conversation.metadata else None,
        "turns": len(conversation.turns),
        "messages": [
            {"role": role, "content": text}
            for turn in conversation.turns
            for role, text in (("user", turn.user_message), ("assistant", turn.llm_response))
        ],
        "record": record_text(conversation, indent=None),
    }
