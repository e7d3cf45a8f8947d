"""Templates: `[a|b]` chooses, `{slot}` inserts a fact of the conversation or a phrase of a word list.

A template is compiled once into nested tuples, so that saying it costs a walk. `{Slot}` begins with a
capital letter. A choice may be empty: `[|, again]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from attune_data.simulate.draws import Draws


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a fact."""

    name: str
    capital: bool
    exact: bool
    """Whether "it" may not stand in its place: in quotation marks, in a list, after "like" or "bring up"."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A place for one of several phrases."""

    options: tuple[tuple[Piece, ...], ...]


Piece = str | Slot | Choice


class TemplateError(ValueError):
    """A template that cannot be compiled: brackets that do not match, an empty slot."""


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled phrase."""

    source: str
    pieces: tuple[Piece, ...]
    slots: frozenset[str]
    """The names of all its slots."""

    def say(self, facts: Facts, draws: Draws, used: set[str]) -> str:
        """One surface of it, adding the names of the slots that were said to `used`.

        A fact that is a template, or a list of them, is said anew each time.
        """
        out: list[str] = []
        _say(self.pieces, facts, draws, out, used)
        return "".join(out)

    def surfaces(self, sizes: Mapping[str, int]) -> int:
        """How many different texts it has, given how many each slot has (1 where not named)."""
        return _count(self.pieces, sizes)


Facts = Mapping[str, str | Template | Sequence[Template]]


class Mentions(dict[str, str | Template | Sequence[Template]]):
    """Facts of which `{thing}` is said in full once and is "it" after that, until `recent` is cleared."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self.recent: set[str] = set()
        """Facts that were mentioned just now."""
        self.echo_names_thing = False
        """Whether the fact `echo` has the thing in it."""

    def __getitem__(self, key: str) -> str | Template | Sequence[Template]:
        if key == "thing":
            if key in self.recent:
                return "it"
            self.recent.add(key)
        if key == "echo" and self.echo_names_thing:
            self.recent.add("thing")
        return super().__getitem__(key)

    def in_full(self, key: str) -> str | Template | Sequence[Template]:
        """The fact as it is spelt out; it counts as mentioned."""
        if key == "thing":
            self.recent.add(key)
        return super().__getitem__(key)


def _say(pieces: Sequence[Piece], facts: Facts, draws: Draws, out: list[str], used: set[str]) -> None:
    for piece in pieces:
        if isinstance(piece, str):
            out.append(piece)
        elif isinstance(piece, Choice):
            _say(piece.options[int(draws.uniform() * len(piece.options))], facts, draws, out, used)
        else:
            used.add(piece.name)
            if piece.exact and isinstance(facts, Mentions):
                value = facts.in_full(piece.name)
            else:
                value = facts[piece.name]
            if not isinstance(value, (str, Template)):
                value = draws.pick(value)
            text = value if isinstance(value, str) else value.say(facts, draws, used)
            out.append(capital(text) if piece.capital else text)


def capital(text: str) -> str:
    """The text with its first letter in upper case, be it after a quotation mark."""
    at = 1 if text[:1] in "'\"" else 0
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]


def _count(pieces: Sequence[Piece], sizes: Mapping[str, int]) -> int:
    total = 1
    for piece in pieces:
        if isinstance(piece, Choice):
            total *= sum(_count(option, sizes) for option in piece.options)
        elif isinstance(piece, Slot):
            total *= sizes.get(piece.name, 1)
    return total


def _walk(pieces: Sequence[Piece]) -> Iterator[Piece]:
    for piece in pieces:
        yield piece
        if isinstance(piece, Choice):
            for option in piece.options:
                yield from _walk(option)


_NO_PRONOUN_AFTER = ("'", '"', " and ", " or ", "is it ", "it's ", "bring up ", "like ")
_TOKEN = re.compile(r"[\[\]|]|\{[^{}]*\}|[^\[\]|{}]+|[{}]")


def compile_template(source: str) -> Template:
    """Compiles one template; raises TemplateError saying what does not match and where."""
    tokens = _TOKEN.findall(source)
    pieces, end = _sequence(tokens, 0, source, depth=0)
    if end != len(tokens):
        raise TemplateError(f"'{tokens[end]}' without an opening '[' in: {source}")
    return Template(source, pieces, frozenset(p.name for p in _walk(pieces) if isinstance(p, Slot)))


def _sequence(tokens: list[str], at: int, source: str, *, depth: int) -> tuple[tuple[Piece, ...], int]:
    pieces: list[Piece] = []
    while at < len(tokens):
        token = tokens[at]
        if token in ("|", "]"):
            if depth == 0:
                break
            return tuple(pieces), at
        if token == "[":
            options: list[tuple[Piece, ...]] = []
            while True:
                option, at = _sequence(tokens, at + 1, source, depth=depth + 1)
                options.append(option)
                if at >= len(tokens):
                    raise TemplateError(f"'[' is never closed in: {source}")
                if tokens[at] == "]":
                    break
            pieces.append(Choice(tuple(options)))
        elif token.startswith("{"):
            name = token[1:-1]
            if not re.fullmatch(r"[A-Za-z][a-z_]*[0-9]?", name):
                raise TemplateError(f"{token!r} names no slot in: {source}")
            before = pieces[-1] if pieces and isinstance(pieces[-1], str) else ""
            listed = tokens[at + 1 : at + 2] and tokens[at + 1].startswith((" and ", " or ", ", "))
            exact = name.lower() == "thing" and (before.endswith(_NO_PRONOUN_AFTER) or bool(listed))
            pieces.append(Slot(name[0].lower() + name[1:], name[0].isupper(), exact))
        elif token == "}":
            raise TemplateError(f"a lone '}}' in: {source}")
        else:
            pieces.append(token)
        at += 1
    return tuple(pieces), at
