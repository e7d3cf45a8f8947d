"""How a message is typed: register, line breaks, typos, an emoji. The content does not change."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import Final, NamedTuple

from attune_data.simulate.draws import Draws
from attune_data.simulate.grammar import capital
from attune_data.simulate.person import Typing

_AUXILIARY: Final = r"(?:do|does|did|is|are|am|was|were|should|shall|can|could|will|would|has|have|might)\b"
_SUBJECT: Final = r"(?:it|i|we|you|he|she|they|there|this|that|people|one|anyone|anybody|(?-i:[A-Z]))\b"
_BETWEEN: Final = r"(?: (?:long|much|many|far|often|else|kind|part|one|way|on earth))*"
_QUESTION: Final = re.compile(
    rf"(?:so |and |but )?(?:{_AUXILIARY} {_SUBJECT}"
    rf"|(?:how|why|what|who|where|when|which){_BETWEEN} {_AUXILIARY}"
    r"|what (?:if|makes|happens|exactly)\b|(?:what|who|how|where)'s\b"
    r"|any (?:idea|pointers|tips|advice|way|chance)\b)",
    re.IGNORECASE,
)
_CASUAL: Final = (
    (r"\bgoing to\b", "gonna"), (r"\bwant to\b", "wanna"), (r"\bbecause\b", "cos"),
    (r"\bthough\b", "tho"), (r"\bsomebody\b", "someone"), (r"\bdon't know\b", "dunno"),
    (r"(?<!now )(?<!every now )\band then\b", "then"), (r"\bpeople\b", "ppl"),
)  # fmt: skip
_FORMAL: Final = (
    (r"\bI'm\b", "I am"), (r"\bI've\b", "I have"), (r"\bI'd\b(?= (?:have|start|like|be)\b)", "I would"),
    (r"\bcan't\b", "cannot"), (r"\bcouldn't\b", "could not"), (r"\bdidn't\b", "did not"),
    (r"\bdon't\b", "do not"), (r"\bhasn't\b", "has not"), (r"\bhaven't\b", "have not"),
    (r"\bisn't\b", "is not"), (r"\bwasn't\b", "was not"), (r"\bwouldn't\b", "would not"),
    (r"\bdoesn't\b", "does not"),
)  # fmt: skip
_RULES: Final = {
    register: tuple((re.compile(pattern), said) for pattern, said in rules)
    for register, rules in (("casual", _CASUAL), ("formal", _FORMAL))
}
_AFTER_A_PREPOSITION: Final = re.compile(
    r"\b(since|until|till|before|by|past|from|after|for|of|with) (?:on|at) "
    r"(?=the (?:\d|weekend)|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
)
_COMMA_TOO_MANY: Final = re.compile(r",(?=[,.?!'…]|$)")


def smoothed(text: str) -> str:
    """Correct times after a preposition ("since Monday") and remove commas before other punctuation."""
    return _COMMA_TOO_MANY.sub("", _AFTER_A_PREPOSITION.sub(r"\1 ", text)).replace(" on on ", " on ")


def is_question(text: str) -> bool:
    """Whether a clause is a question."""
    return bool(_QUESTION.match(text))


class Clause(NamedTuple):
    """A part of a message, without final punctuation."""

    text: str
    apart: bool
    """Whether it must be a separate sentence: an answer, a reaction, a request."""


def typed(
    clauses: Sequence[Clause], typing: Typing, draws: Draws, emoji: Sequence[str], keep: Set[str]
) -> str:
    """Type one or more clauses as one message of this person.

    `emoji` are those that fit the mood; `keep` are words that are never misspelt: names, and the words for a
    feeling.
    """
    register = typing.register
    rules = _RULES.get(register, ())
    text = ""
    for place, (part, apart) in enumerate(clauses):
        for pattern, said in rules:
            part = pattern.sub(said, part)
        part = smoothed(part)
        following = clauses[place + 1] if place + 1 < len(clauses) else None
        joins = following is not None and not (apart or following.apart)
        if not text or text[-1] == "\n" or text[-2:-1] in ".!?…" or register not in ("casual", "chatty"):
            part = capital(part)
        text += part + _mark(part, register, draws, last=following is None, joins=joins)
        if (
            text.endswith(", and ")
            and following
            and following.text.startswith(("and ", "but ", "so ", "or "))
        ):
            text = text.removesuffix("and ")
    if register == "casual" or (register == "terse" and draws.yes(0.5)):
        text = _lower(text, keep)
    if typing.typos:
        text = _slips(text, typing.typos, draws, keep)
    if emoji and typing.emoji and draws.yes(0.45):
        text += " " + draws.pick(emoji)
    return text


def _mark(part: str, register: str, draws: Draws, *, last: bool, joins: bool) -> str:
    """The punctuation after a clause; with `joins` it may run on into the next one."""
    space = "" if last else " "
    if is_question(part):
        return ("" if register == "terse" and draws.yes(0.3) else "?") + space
    if register == "casual":
        return "" if last else draws.pick((". ", ", ", "\n", "... ") if joins else (". ", "\n"))
    if register == "chatty":
        if joins:
            return draws.pick((", ", ". ", "! ", ", and ", "... "))
        return draws.pick((".", "!", "...")) + space
    if register == "terse":
        return ("" if last and draws.yes(0.5) else ".") + space
    return (draws.pick((".", ".", ".", "...")) if register == "plain" else ".") + space


def _lower(text: str, keep: Set[str]) -> str:
    low = text.lower()
    for name in sorted(keep):
        if name[:1].isupper():  # people capitalise names even if they capitalise nothing else
            low = re.sub(rf"\b{re.escape(name.lower())}\b", name, low)
    return low


def _slips(text: str, rate: float, draws: Draws, keep: Set[str]) -> str:
    """Swap, drop or double letters inside longer words, except those to keep."""
    words = re.split(r"(\W+)", text)
    for place, word in enumerate(words):
        plain = len(word) > 4 and word.isascii() and word.isalpha() and word not in keep
        if plain and draws.yes(rate * len(word)):
            at = 1 + draws.below(len(word) - 3)
            kind = draws.below(3)
            if kind == 0:
                word = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
            elif kind == 1:
                word = word[:at] + word[at + 1 :]
            else:
                word = word[:at] + word[at] + word[at:]
            words[place] = word
    return "".join(words)
