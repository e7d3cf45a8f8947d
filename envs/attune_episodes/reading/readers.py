"""`reader`: look up a reader by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Final

from attune_data.errors import UnknownNameError
from attune_episodes.reading.fitted import FittedReader
from attune_episodes.reading.lexicon import LexiconReader
from attune_episodes.reading.reading import Reader

READERS: Final[dict[str, Callable[[], Reader]]] = {
    "fitted": partial(FittedReader.shipped, "fitted"),
    "held_out": partial(FittedReader.shipped, "held_out"),
    "lexicon": LexiconReader,
}
"""Name -> a function that makes the reader; `fitted` is the default."""


@cache
def reader(name: str = "fitted") -> Reader:
    """The embedded reader with that name, one of `READERS`; raises UnknownNameError for any other."""
    if name not in READERS:
        raise UnknownNameError("reader", name, READERS)
    return READERS[name]()
