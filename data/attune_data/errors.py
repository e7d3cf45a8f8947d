"""Every error that this project raises deliberately, and the `Problem`s listed by data errors.

There are four kinds: the base, bad data, an unknown name, and conflicting settings. Each also inherits from
the builtin that a caller would expect, so `except ValueError` keeps working.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem at one place: where, what was found, what was expected, and how to continue."""

    file: str
    place: str
    """Path inside the file, such as `turns[2].annotations.pairwiseComparisons[4].winner`; "" for the file."""
    found: str
    expected: str
    advice: str = ""
    severity: Severity = "error"

    def __str__(self) -> str:
        """The problem on one line, even if its parts contain line breaks."""
        where = f"{self.file}: {self.place}" if self.place else self.file
        text = f"{where}: found {self.found}, expected {self.expected}"
        if self.advice:
            text += f"; {self.advice}"
        return one_line(text)


def one_line(text: str, limit: int = 1000) -> str:
    """Make `text` one printable line: control characters, line breaks and lone surrogates are escaped."""
    clean = printable(text[: limit + 1])  # truncated before escaping: a text may be very long
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def printable(text: str) -> str:
    """Escape every character of `text` that could affect a terminal.

    These are control characters (and so escape sequences and line breaks), marks that change the writing
    direction, and characters without a glyph.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def show(value: object, limit: int = 80) -> str:
    """Format `value` for an error message: JSON-like, short, printable."""
    try:
        text = f'"{value}"' if isinstance(value, str) else repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or of levels
        text = f"{type(value).__name__} too long to show"
    text = {"None": "null", "True": "true", "False": "false"}.get(text, text)
    return one_line(text, limit)


class AttuneError(Exception):
    """Base of all errors raised deliberately; its message is meant for people."""

    def __str__(self) -> str:
        """The message with every line printable, since it may quote files written by others."""
        return "\n".join(map(printable, super().__str__().split("\n")))


class DataError(AttuneError, ValueError):
    """Data that cannot be used; `problems` lists every problem found."""

    def __init__(self, problems: Sequence[Problem] | Problem) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[type[DataError], tuple[tuple[Problem, ...]]]:
        """Pickle by the problems, since worker processes return errors."""
        return type(self), (self.problems,)


class UnknownNameError(AttuneError, LookupError):
    """A name that is not one of the known ones; the message suggests the closest."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, str(name), tuple(known)
        name = self.name
        near = difflib.get_close_matches(name, self.known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        super().__init__(f"no {kind} named {show(name)}; {hint}known: {', '.join(map(one_line, self.known))}")

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, tuple[str, ...]]]:
        """Pickle by the arguments."""
        return type(self), (self.kind, self.name, self.known)


class SettingsError(AttuneError, ValueError):
    """Arguments that conflict or are invalid; the message says which, and what would work."""


def check_flag(name: str, value: object, *, optional: bool = False) -> None:
    """Raise SettingsError unless an argument is True or False (or None, if `optional`)."""
    if not (isinstance(value, bool) or (optional and value is None)):
        choices = "True, False or None" if optional else "True or False"
        raise SettingsError(f"{name} is {show(value)}; it must be {choices}")
