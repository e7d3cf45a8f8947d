"""Resolve the name of data to a corpus, a path, a mixture or a dataset; raise one error for all others.

A name is tried in this order:

1. a corpus, or a split of one: `sample`, `written:test`. A file or folder of the same name is given as
   `./sample`;
2. an existing path;
3. a mixture, where one is accepted: sources joined by `+`, each with an optional weight;
4. `owner/name`, a dataset that `datasets` loads.
"""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from attune_data.errors import DataError, Problem, SettingsError, one_line, show
from attune_data.source.corpora import Corpus, corpora, corpus

_TERM: Final = re.compile(r"(?:(\d+) ?\* ?)?(.+)")
_DATASET: Final = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True)
class Part:
    """A corpus, or one split of it, as a data name gives it."""

    corpus: Corpus
    split: str | None

    @property
    def name(self) -> str:
        """The data name."""
        return f"{self.corpus.name}:{self.split}" if self.split else self.corpus.name

    def at(self, split: str | None) -> Part:
        """The part for a separate argument `split`; raises SettingsError if the name has one already."""
        if split is None:
            return self
        if self.split is not None:
            raise SettingsError(f'split is {show(split)}; "{self.name}" already names a split')
        return Part(self.corpus, split)


def part_named(name: str | Path) -> Part | None:
    """The corpus, or split of one, that a name means; whether it has that split shows when it is read.

    >>> part_named("written:test").split
    'test'
    """
    first, colon, split = str(name).partition(":")
    if first not in corpora() or "+" in split:
        return None
    return Part(corpus(first), split if colon else None)


def path_named(name: str | Path) -> Path | None:
    """The existing path that a name means."""
    if part_named(name) or not str(name).strip() or not os.path.exists(name):
        return None
    return Path(name)


def is_dataset_name(name: str | Path) -> bool:
    """Whether a name that is no existing path has the form of a dataset's."""
    path = Path(name)
    return bool(_DATASET.fullmatch(str(name))) and not path.suffix and not path.parent.exists()


def terms(name: str | Path) -> list[tuple[str, int]]:
    """(source, weight) of each source in a mixture; empty for a name of one source.

    >>> terms("3*written + sample")
    [('written', 3), ('sample', 1)]

    Raises SettingsError for a source without a name or a weight of 0.
    """
    if isinstance(name, Path) or part_named(name) or path_named(name):
        return []
    found = []
    for term in name.split("+"):
        match = _TERM.fullmatch(term.strip())
        if not match or match[1] == "0":
            expected = 'sources joined by "+", each with an optional weight: "3*written+sample"'
            raise SettingsError(f"data is {show(name)}; expected {expected}")
        found.append((match[2], int(match[1] or 1)))
    return found if len(found) > 1 else []


def accepted() -> str:
    """The kinds of names that are accepted, for errors."""
    *names, last = corpora()
    return (
        "a folder of conversation_N.json, a .json, .jsonl or .parquet file, a dataset name, "
        f"{', '.join(names)} or {last}"
    )


def check_name(name: str) -> None:
    """Raise DataError for an empty name and for one that no file can have, such as one with a zero byte."""
    try:
        possible = b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:  # half of a character
        possible = False
    if not possible:
        raise _wrong(one_line(name), "a character that no file name can have")
    if not name.strip():
        raise _wrong('""', "an empty path")


def no_such(name: str) -> DataError:
    """The error for a name that means nothing; it suggests the closest name of a corpus."""
    names = [f"{first}:{split}" for first in corpora() for split in corpus(first).splits]
    near = difflib.get_close_matches(name, [*corpora(), *names], n=1)
    advice = f'did you mean "{near[0]}"?' if near else "check the path (quote it if it contains spaces)"
    return _wrong(name, "no such file or folder", advice)


def _wrong(name: str, found: str, advice: str = "check the path") -> DataError:
    return DataError(Problem(name, "", found, accepted(), advice))
