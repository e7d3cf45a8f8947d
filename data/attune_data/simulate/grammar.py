"""Templates: `[a|b]` chooses, `{slot}` inserts a fact of the conversation or a phrase of a word list.

A template is compiled once into nested tuples, so that saying it costs a walk. `{Slot}` begins with a
capital letter. A choice may be empty: `[|, again]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
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

    options: tuple[Phrase, ...]


Piece = str | Slot | Choice


@dataclass(frozen=True, slots=True)
class Phrase:
    """Pieces in a row."""

    pieces: tuple[Piece, ...]
    needs: tuple[frozenset[str], ...]
    """Sets of slots of which one must be known: the least that some surface of it says."""

    def fits(self, known: Set[str]) -> bool:
        """Whether some surface says nothing but what is known."""
        return any(need <= known for need in self.needs)


class TemplateError(ValueError):
    """A template that cannot be compiled: brackets that do not match, an empty slot."""


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled phrase."""

    source: str
    phrase: Phrase
    slots: frozenset[str]
    """The names of all its slots."""

    def say(self, facts: Facts, draws: Draws, used: set[str]) -> str:
        """One surface of it, made of these facts alone; adds the names of the slots said to `used`.

        A fact that is a template, or a list of them, is drawn from each time.
        """
        out: list[str] = []
        _say(self.phrase, facts, draws, out, used)
        return "".join(out)

    def fits(self, known: Set[str]) -> bool:
        """Whether some surface says nothing but what is known."""
        return self.phrase.fits(known)


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


def _say(phrase: Phrase, facts: Facts, draws: Draws, out: list[str], used: set[str]) -> None:
    for piece in phrase.pieces:
        if isinstance(piece, str):
            out.append(piece)
        elif isinstance(piece, Choice):
            known = facts.keys()
            _say(draws.pick([o for o in piece.options if o.fits(known)]), facts, draws, out, used)
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


def _slots(phrase: Phrase) -> Iterator[str]:
    for piece in phrase.pieces:
        if isinstance(piece, Slot):
            yield piece.name
        elif isinstance(piece, Choice):
            for option in piece.options:
                yield from _slots(option)


def _phrase(pieces: Sequence[Piece]) -> Phrase:
    """The pieces with what they need: one way for each choice, the larger of two nested ways left out."""
    needs = {frozenset[str]()}
    for piece in pieces:
        if isinstance(piece, Slot):
            needs = {need | {piece.name} for need in needs}
        elif isinstance(piece, Choice):
            options = {other for option in piece.options for other in option.needs}
            needs = {need | other for need in needs for other in options}
    least = [need for need in needs if not any(other < need for other in needs)]
    return Phrase(tuple(pieces), tuple(sorted(least, key=sorted)))


_NO_PRONOUN_AFTER = ("'", '"', " and ", " or ", "is it ", "it's ", "bring up ", "like ")
_TOKEN = re.compile(r"[\[\]|]|\{[^{}]*\}|[^\[\]|{}]+|[{}]")


def compile_template(source: str) -> Template:
    """Compiles one template; raises TemplateError saying what does not match and where."""
    tokens = _TOKEN.findall(source)
    phrase, end = _sequence(tokens, 0, source, depth=0)
    if end != len(tokens):
        raise TemplateError(f"'{tokens[end]}' without an opening '[' in: {source}")
    return Template(source, phrase, frozenset(_slots(phrase)))


def _sequence(tokens: list[str], at: int, source: str, *, depth: int) -> tuple[Phrase, int]:
    pieces: list[Piece] = []
    while at < len(tokens):
        token = tokens[at]
        if token in ("|", "]"):
            if depth == 0:
                break
            return _phrase(pieces), at
        if token == "[":
            options: list[Phrase] = []
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
    return _phrase(pieces), at
