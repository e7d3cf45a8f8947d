"""Read records from Parquet files and from what `datasets` loads, each record with its place.

A row has either the record's fields as columns, or a column `record` with its JSON text.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, one_line, show
from attune_data.extras import needs_extra
from attune_data.files.rows import Row, has_files
from attune_data.format.fingerprint import without_nulls
from attune_data.jsonio import parse_json

PARQUET: Final = ".parquet"
PARQUET_FOLDER: Final = "data"
"""The folder of the Parquet files in a data set, on the Hub and on disk."""
DELIMITERS: Final[Mapping[str, str]] = {".csv": ",", ".tsv": "\t"}
"""Ending of a file of delimited cells -> what stands between them."""
RECORD: Final = "record"
"""The column of a record's JSON text."""
ALL: Final = "train"
"""The split of a dataset that has none; `datasets` calls it so too."""
_PART: Final = re.compile(r"(.+?)(?:-\d+(?:-of-\d+)?)?")
"""The name of a Parquet file without its ending: the split, and which part of it."""


def holds_tables(path: Path) -> bool:
    """Whether `tables` reads a path: Parquet files, or a folder written by `save_to_disk`."""
    return _is_saved(path) or bool(_parquet_files(path))


def split_names(source: str | Path) -> tuple[str, ...]:
    """The splits of a source that `tables` reads; raises what it raises."""
    return tuple(_splits(source))


def tables(source: str | Path, split: str | None, *, records: bool = True) -> Iterator[Row]:
    """The rows of Parquet files or a saved dataset (a path), or of a dataset that `datasets` loads by name.

    Without `records`, rows are not of this format: they come with all their columns as they are.

    Raises DataError if it does not load, MissingExtraError if `datasets` is not installed.
    """
    splits = _splits(source)
    if split is None and len(splits) > 1:
        how = "split=… in Python, --split where a command has it"
        raise SettingsError(f"{source} has the splits {_listed(splits)}; choose one ({how})")
    if split is not None and split not in splits:
        raise UnknownNameError("split", split, splits)
    chosen = splits[split or next(iter(splits))]
    if isinstance(chosen, list):
        for file in chosen:
            yield from _parquet(file, records)
        return
    if records and RECORD in chosen.column_names:
        chosen = chosen.select_columns(RECORD)
    # as Arrow, not decoded: decoding images or audio would open the paths and URLs in them
    rows = chosen.with_format("arrow")
    for index in range(len(rows)):
        where = f"{source}[{index}]"
        yield where, partial(_of_dataset, rows, index, where, records)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(one_line, names))


def _splits(source: str | Path) -> dict[str, Any]:
    """Split -> its Parquet files, or what `datasets` has of it."""
    if isinstance(source, Path) and not _is_saved(source):
        splits: dict[str, Any] = {}
        for file in _parquet_files(source):
            match = _PART.fullmatch(file.stem)
            splits.setdefault(match[1] if match else ALL, []).append(file)
        return splits
    with needs_extra("train", "datasets"):
        import datasets

    logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)  # failures are reported below
    saved = isinstance(source, Path)
    try:
        with no_bars():
            loaded = datasets.load_from_disk(str(source)) if saved else datasets.load_dataset(str(source))
    except Exception as error:  # it raises many kinds of errors, all of which mean "not readable"
        why = (str(error).splitlines() or [type(error).__name__])[0]
        if saved:
            found = f"a saved dataset that cannot be loaded: {why}"
            wanted, advice = "a folder written by save_to_disk, with at least one row", ""
        else:
            found = f"no such path, and no dataset of that name could be loaded: {why}"
            wanted, advice = "an existing path or the name of a dataset", "check the spelling and the network"
        raise DataError(Problem(str(source), "", found, wanted, advice)) from error
    return dict(loaded) if isinstance(loaded, datasets.DatasetDict) else {ALL: loaded}


def _is_saved(folder: Path) -> bool:
    return (folder / "dataset_dict.json").exists() or (folder / "state.json").exists()


def _parquet_files(path: Path) -> list[Path]:
    """The Parquet files that a path means, in order: itself, or those in a folder or in its `data`."""
    if not path.is_dir():
        return [path] if path.suffix.lower() == PARQUET else []
    if has_files(path):
        return []
    return sorted(path.glob(f"*{PARQUET}")) or sorted((path / PARQUET_FOLDER).glob(f"*{PARQUET}"))


def _parquet(file: Path, records: bool) -> Iterator[Row]:
    """The rows of a file, not read by `datasets`: it would keep a copy of the conversations in its cache."""
    with needs_extra("train", "pyarrow"):
        from pyarrow import parquet

    try:
        meta = parquet.read_metadata(file)
    except (OSError, ValueError) as error:
        raise _broken(str(file), error) from error
    number = 0
    for group in range(meta.num_row_groups):
        for index in range(meta.row_group(group).num_rows):
            where = f"{file}[{number}]"
            yield where, partial(_of_parquet, file, group, index, where, records)
            number += 1


@lru_cache(maxsize=2)
def _group(file: Path, version: tuple[int, ...], group: int, records: bool) -> Any:
    """A row group, kept while its rows are read one after the other; only its records, if it has them."""
    from pyarrow import parquet

    with parquet.ParquetFile(file) as opened:
        columns = [RECORD] if records and RECORD in opened.schema_arrow.names else None
        return opened.read_row_group(group, columns=columns)


def _of_parquet(file: Path, group: int, index: int, where: str, records: bool) -> Any:
    try:
        now = file.stat()
        rows = _group(file, (now.st_ino, now.st_mtime_ns, now.st_size), group, records)
    except (OSError, ValueError, IndexError) as error:
        raise _broken(where, error) from error
    return _record(rows.slice(index, 1), where, records)


def _broken(where: str, error: Exception) -> DataError:
    why = (str(error).splitlines() or [type(error).__name__])[0]
    wanted, advice = "a whole Parquet file", "download or create it again"
    return DataError(Problem(where, "", f"a file that cannot be read: {why}", wanted, advice))


def _of_dataset(rows: Any, index: int, where: str, records: bool) -> Any:
    return _record(rows[index], where, records)


def _record(table: Any, where: str, records: bool) -> Any:
    (row,) = table.to_pylist()
    if not records:
        return row
    if RECORD not in row:
        return without_nulls(row)
    if not isinstance(row[RECORD], str):
        raise DataError(Problem(where, RECORD, show(row[RECORD]), "the JSON text of one conversation"))
    return parse_json(row[RECORD], where)


@contextmanager
def no_bars() -> Iterator[None]:
    """Show no progress bar of `datasets` meanwhile."""
    import datasets

    bars = not datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if bars:
            datasets.enable_progress_bars()
