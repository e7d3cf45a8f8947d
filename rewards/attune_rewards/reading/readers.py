"""`reader`: look up a reader by name. `Reader`: anything that reads replies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol, runtime_checkable

from attune_data.errors import UnknownNameError
from attune_rewards.predictions import YesNo
from attune_rewards.reading.exchange import Exchange
from attune_rewards.reading.fitted import FittedReader
from attune_rewards.reading.own import own_part
from attune_rewards.reading.rules import RULES


@runtime_checkable
class Reader(Protocol):
    """Anything that reads replies: deterministically, and without errors for any text."""

    @property
    def name(self) -> str:
        """A short name for tables and files."""

    @property
    def questions(self) -> frozenset[str]:
        """The questions that it reads."""

    def read(self, exchange: Exchange) -> dict[str, YesNo]:
        """The answers about the reply of an exchange; a question that is missing was not read."""


@dataclass(frozen=True, slots=True)
class LexiconReader:
    """A reader with one rule for each question. English only; nothing is fitted."""

    name: str = "lexicon"
    questions: frozenset[str] = frozenset(RULES)

    def read(self, exchange: Exchange) -> dict[str, YesNo]:
        """The answers about the reply of an exchange."""
        own = own_part(exchange)
        return {question: "yes" if own and rule(own) else "no" for question, rule in RULES.items()}


READERS: Final[dict[str, Callable[[], Reader]]] = {
    "fitted": FittedReader.shipped,
    "lexicon": LexiconReader,
}
"""Name -> a function that makes the reader; `fitted` is the default."""


@cache
def reader(name: str = "fitted") -> Reader:
    """The embedded reader with that name, one of `READERS`; raises UnknownNameError for any other."""
    if name not in READERS:
        raise UnknownNameError("reader", name, READERS)
    return READERS[name]()
