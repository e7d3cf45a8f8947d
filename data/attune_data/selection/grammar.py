"""The text of a selection to its conditions: `diagnosis=ADHD|Anxiety,category=Family,who_5<13`."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from attune_data.errors import SettingsError, one_line, show
from attune_data.selection.condition import ORDERINGS, Condition, Wanted

_LEFT: Final = re.compile(r"\s*([^=!<>,|\"']*?)\s*(==|!=|<=|>=|=|<|>)\s*")
_PLAIN: Final = re.compile(r"[^,|]*")
_EXAMPLE: Final = "such as diagnosis=ADHD or who_5<13"


def parse_conditions(text: str) -> tuple[Condition, ...]:
    """The conditions of a text, separated by commas; raises SettingsError saying where it cannot be read.

    A value stands as it is, or in quotes (" or ') where it holds a comma or a bar; inside quotes the same
    quote is written twice.
    """
    conditions = []
    at = 0
    while True:
        match = _LEFT.match(text, at)
        if match is None or not match[1]:
            _no_condition(text, at)
        name, comparison = match[1], "=" if match[2] == "==" else match[2]
        wanted = []
        at = match.end()
        while True:
            value, at = _value(text, at)
            wanted.append(value)
            if text[at : at + 1] != "|":
                break
            at += 1
        if comparison in ORDERINGS and (len(wanted) > 1 or wanted[0].number is None):
            values = "|".join(value.text for value in wanted)
            raise refused(
                f"{name}{comparison}{values}: found {show(values)}, expected one number after {comparison}"
            )
        conditions.append(Condition(name, comparison, tuple(wanted)))
        if at >= len(text):
            return tuple(conditions)
        at += 1  # the comma


def refused(message: str) -> SettingsError:
    """The error for a selection that cannot be used, on one line whatever it quotes."""
    return SettingsError(one_line(message))


def _no_condition(text: str, at: int) -> NoReturn:
    rest = text[at:].strip()
    found = show(rest) if rest else "nothing" if not at else "nothing after the last comma"
    advice = "; a value that holds a comma goes in quotes" if at else ""
    raise refused(f"where {show(text)}: found {found}, expected a condition {_EXAMPLE}{advice}")


def _value(text: str, at: int) -> tuple[Wanted, int]:
    """The value that starts at a place, and the place of the comma, bar or end after it."""
    while text[at : at + 1].isspace():
        at += 1
    quote = text[at : at + 1]
    if quote not in ("'", '"'):
        match = _PLAIN.match(text, at)
        plain = match[0].strip() if match else ""
        if not plain or plain[0] in "=<>!":
            raise refused(
                f"where {show(text)}: found {show(text[at : at + 20]) if plain else 'no value'} "
                f"at character {at + 1}, expected a value ({_EXAMPLE}); quote one that is no plain text"
            )
        return Wanted(plain), at + len(match[0] if match else "")
    quoted = re.compile(rf"{quote}((?:[^{quote}]|{quote}{quote})*){quote}\s*").match(text, at)
    if quoted is None:
        raise refused(
            f"where {show(text)}: found a {quote} at character {at + 1} and none that closes it; "
            f"a value that starts with a quote goes in quotes of the other kind"
        )
    after = quoted.end()
    if text[after : after + 1] not in ("", ",", "|"):
        raise refused(
            f"where {show(text)}: found {show(text[after : after + 20])} after a quoted value, "
            "expected a comma, a bar or the end"
        )
    return Wanted(quoted[1].replace(quote * 2, quote), quoted=True), after
