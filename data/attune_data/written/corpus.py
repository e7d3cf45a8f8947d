"""Find the written corpus by name: `written`, or one of its parts, such as `written:test`."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.files.jsonio import read_json
from attune_data.files.rows import Row
from attune_data.written.compact import expand

FOLDER: Path = Path(__file__).parent / "conversations"
"""A folder for each part, a file for each conversation."""
NAME: Final = "written"
PARTS: Final = ("train", "dev", "test")
TO_EVALUATE: Final = "to evaluate in an environment, set training=False"
"""The way on for those who do not train, in refusals."""


def is_written(name: str) -> bool:
    """Whether a data name means the written corpus."""
    return name.partition(":")[0] == NAME


def training_part(name: str, split: str | None) -> str:
    """The data name of the part for training; raises SettingsError for the parts reserved for evaluation."""
    part = name.partition(":")[2] or split or "train"
    if part != "train":
        raise SettingsError(
            f'"{NAME}:{part}" is kept for evaluation; train on "{NAME}:train" ({TO_EVALUATE})'
        )
    return f"{NAME}:train"


@cache
def held_back() -> frozenset[str]:
    """The ids of the conversations reserved for evaluation."""
    return frozenset(file.stem for part in PARTS if part != "train" for file in FOLDER.glob(f"{part}/*.json"))


def written_rows(name: str, split: str | None) -> list[Row]:
    """The records of the corpus or of one part, each with its file, ordered by id.

    Raises:
        SettingsError: both the name and `split` name a part.
        UnknownNameError: no such part.
        DataError: the part holds no conversation.
    """
    _, colon, named = name.partition(":")
    if colon and split is not None:
        raise SettingsError(f'split is {show(split)}; "{name}" already names a split')
    part = named if colon else split
    if part is not None and part not in PARTS:
        raise UnknownNameError("split of the written corpus", part, PARTS)
    files = sorted(FOLDER.glob(f"{part or '*'}/*.json"), key=lambda file: file.name)
    if not files:
        advice = 'it is not there yet: use "sample"; for a folder of that name, give "./written"'
        raise DataError(Problem(name, "", "no conversation", "the written corpus", advice))
    return [(str(file), partial(_read, file)) for file in files]


def _read(file: Path) -> dict[str, Any]:
    return expand(read_json(file), str(file))
