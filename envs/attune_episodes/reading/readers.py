"""`reader`: a reader by its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from attune_data.errors import UnknownNameError
from attune_episodes.reading.lexicon import LexiconReader
from attune_episodes.reading.reading import Reader

READERS: Final[dict[str, Callable[[], Reader]]] = {"lexicon": LexiconReader}
"""Name -> what makes the reader."""


@cache
def reader(name: str) -> Reader:
    """The embedded reader with that name, one of `READERS`; raises UnknownNameError for another."""
    if name not in READERS:
        raise UnknownNameError("reader", name, READERS)
    return READERS[name]()
