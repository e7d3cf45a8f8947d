"""Templates: `[a|b]` chooses, `{slot}` inserts a fact of the conversation or a phrase from a word list.

A template is compiled once into nested tuples, so that rendering it is cheap. The text of `{Slot}` begins
with a capital letter. An option may be empty: `[|, again]`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from attune_data.simulate.draws import Draws
from attune_data.simulate.pronouns import Case, case_between


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a fact."""

    name: str
    capital: bool
    exact: bool
    """Whether "it" cannot replace it: in quotation marks, in a list, after "like" or "bring up"."""
    case: Case = ""
    """The pronoun that may replace a name; "" for none."""
    possessive: bool = False
    """Whether "'s" follows it."""


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled phrase: a sequence of texts, slots and choices between phrases."""

    pieces: tuple[Piece, ...]
    needs: frozenset[frozenset[str]]
    """Minimal sets of slots: all slots of at least one set must be known for some variant to be possible."""
    slots: frozenset[str]
    """The names of all its slots."""
    source: str = ""
    """The source text of a whole template; empty for a phrase inside a choice."""

    def fits(self, known: Set[str]) -> bool:
        """Whether some variant mentions only known facts."""
        return any(need <= known for need in self.needs)

    def say(self, facts: Facts, draws: Draws, used: set[str]) -> str:
        """Draw one variant that needs only these facts; adds the names of the slots used to `used`.

        A fact that is a template, or a list of templates, is drawn again at each use.
        """
        out: list[str] = []
        for piece in self.pieces:
            if isinstance(piece, str):
                out.append(piece)
            elif isinstance(piece, tuple):
                known = facts.keys()
                out.append(draws.pick([o for o in piece if o.fits(known)]).say(facts, draws, used))
            else:
                text = self._said(piece, facts, draws, used)
                out.append(capital(text) if piece.capital else text)
        return "".join(out)

    @staticmethod
    def _said(slot: Slot, facts: Facts, draws: Draws, used: set[str]) -> str:
        if isinstance(facts, Mentions) and slot.case and slot.name == facts.person in facts.pronouns:
            pronoun = facts.pronouns[slot.name][slot.case]
            used.add(pronoun)
            return pronoun
        used.add(slot.name)
        value = facts.mention(slot) if isinstance(facts, Mentions) else facts[slot.name]
        if not isinstance(value, (str, Template)):
            value = draws.pick(value)
        text = value if isinstance(value, str) else value.say(facts, draws, used)
        return text.rstrip(",") + "'s" if slot.possessive else text


class TemplateError(ValueError):
    """A template that cannot be compiled: brackets that do not match, an empty slot."""


Piece = str | Slot | tuple[Template, ...]
Fact = str | Template | Sequence[Template]
Facts = Mapping[str, Fact]


class Mentions(dict[str, Fact]):
    """Facts that are given in full at first mention and in short form afterwards.

    `{thing}` becomes "it" after its first mention, until `recent` is cleared. People in `introductions` (fact
    -> a phrase such as "my manager Dana") are introduced once, and become pronouns until somebody else is
    mentioned.
    """

    def __init__(
        self,
        facts: Facts,
        introductions: Mapping[str, str] | None = None,
        pronouns: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        super().__init__(facts)
        self.pronouns = pronouns or {}
        """Fact that names a person -> he, him, his -> the pronoun."""
        self.introductions = dict(introductions or {})
        self.introduced: dict[str, str] = {}
        """Introductions already made."""
        self.recent: set[str] = set()
        """Facts mentioned just now."""
        self.person = ""
        """The fact that names the person mentioned last."""
        self.echo_names_thing = False
        """Whether the fact `echo` mentions the thing."""
        self.echo_person = ""
        """The person whom the fact `echo` mentions."""

    def copy(self) -> Mentions:
        """The same facts with the same history of mentions."""
        made = Mentions(self, self.introductions, self.pronouns)
        made.introduced, made.recent, made.person = dict(self.introduced), set(self.recent), self.person
        made.echo_names_thing, made.echo_person = self.echo_names_thing, self.echo_person
        return made

    def mention(self, slot: Slot) -> Fact:
        """The form of a fact for this slot: in full, introduced, or a pronoun."""
        if slot.name in ("name", "friend"):
            self.person = slot.name
        elif slot.name == "echo":
            self.person = self.echo_person or self.person
        if slot.name in self.introductions:
            self.introduced[slot.name] = self.introductions.pop(slot.name)
            return self.introduced[slot.name]
        if slot.name == "thing" and "thing" in self.recent and not slot.exact:
            return "it"
        if slot.name == "thing" or (slot.name == "echo" and self.echo_names_thing):
            self.recent.add("thing")
        return self[slot.name]


def capital(text: str) -> str:
    """Capitalise the first letter of a text, even after a quotation mark."""
    at = 1 if text[:1] in "'\"" else 0
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]


_NO_PRONOUN_AFTER = ("'", '"', " and ", " or ", "is it ", "it's ", "bring up ", "like ", "no ")
_NO_PRONOUN_BEFORE = (" and ", " or ", ", ")
_CONTRACTED = (
    "a|an|already|always|away|been|coming|going|gone|got|had|here|in|never|not|on|out|the|there|told"
)
_TOKEN = re.compile(rf"[\[\]|]|\{{[^{{}}]*\}}(?:'s\b(?! (?:{_CONTRACTED})\b))?|[^\[\]|{{}}]+|[{{}}]")


@cache
def compile_template(source: str) -> Template:
    """Compiles one template; raises TemplateError saying what does not match and where."""
    pieces: list[Piece] = []
    opened: list[tuple[list[Piece], list[Template]]] = []
    """For each enclosing bracket: the pieces before it, and its options so far."""
    at = 0
    for token, following in pairwise([*_TOKEN.findall(source), ""]):
        at += len(token)
        if token == "[":
            opened.append((pieces, []))
            pieces = []
        elif token in ("|", "]"):
            if not opened:
                raise TemplateError(f"'{token}' without an opening '[' in: {source}")
            before, options = opened[-1]
            options.append(_phrase(pieces))
            pieces = []
            if token == "]":
                opened.pop()
                pieces = [*before, tuple(options)]
        elif token.startswith("{"):
            name, possessive = token.removesuffix("'s")[1:-1], token.endswith("'s")
            if not re.fullmatch(r"[A-Za-z][a-z_]*[0-9]?", name):
                raise TemplateError(f"{token!r} does not name a slot in: {source}")
            last = pieces[-1] if pieces and isinstance(pieces[-1], str) else ""
            listed = last.endswith(_NO_PRONOUN_AFTER) or following.startswith(_NO_PRONOUN_BEFORE)
            slot = name[0].lower() + name[1:]
            case: Case = ""
            if slot in ("name", "friend"):
                rows = (pieces, *(row for row, _ in reversed(opened)))
                case = case_between(next(map(_end, filter(None, rows)), ""), _next(source[at:]), possessive)
            pieces.append(Slot(slot, name[0].isupper(), slot == "thing" and listed, case, possessive))
        elif token == "}":
            raise TemplateError(f"a lone '}}' in: {source}")
        else:
            pieces.append(token)
    if opened:
        raise TemplateError(f"'[' is never closed in: {source}")
    return _phrase(pieces, source)


def _end(pieces: Sequence[Piece]) -> str:
    """The text at the end of a sequence of pieces."""
    match pieces:
        case [*_, str(text)]:
            return text
        case [*_, tuple(options)]:
            return _end(options[-1].pieces)
        case [*_, Slot(name=name)]:
            return name
    return ""


def _next(source: str) -> str:
    """The text that follows in a template: a choice's first option, or what comes after the choice."""
    while source[:1] in ("[", "]", "|") and source:
        source = source.partition("]")[2] if source[0] == "|" else source[1:]
    return source


def _phrase(pieces: Sequence[Piece], source: str = "") -> Template:
    """Build a phrase and the minimal sets of slots it needs, one per combination of options."""
    needs, slots = {frozenset[str]()}, set[str]()
    for piece in pieces:
        if isinstance(piece, Slot):
            needs = {need | {piece.name} for need in needs}
            slots.add(piece.name)
        elif isinstance(piece, tuple):
            needs = {need | other for need in needs for option in piece for other in option.needs}
            slots.update(*(option.slots for option in piece))
    if len(needs) > 1:
        needs = {need for need in needs if not any(other < need for other in needs)}
    return Template(tuple(pieces), frozenset(needs), frozenset(slots), source)
