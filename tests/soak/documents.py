"""Hostile files from a seed: conversations, lines of conversations and results that went wrong."""

from __future__ import annotations

import random
import re
from typing import Final

from attune_data.errors import DataError
from attune_data.jsonio import parse_json
from tests.soak.inputs import GROWN, LEAVES, NAMES, items, long_text, mangled, nested, size, value


def accepted(text: str) -> bool:
    """Whether the strict reader takes the text."""
    try:
        parse_json(text, "")
    except DataError:
        return False
    return True


_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"(\s*:)?|[\[{]|-?\d[\d.]*|true|false|null')
_JSON_LEAVES: Final = [leaf for leaf in LEAVES if accepted(leaf)]
_LARGE: Final = 0.01
"""Share of grown parts that have 50,000 characters or more."""


class Base:
    """A valid file with the places where it can be damaged."""

    def __init__(self, text: str) -> None:
        self.text = text
        tokens = list(_TOKEN.finditer(text))
        self.openings = [token.end() for token in tokens if token[0] in "[{"]
        self.values = [token.span() for token in tokens if token[0] not in "[{" and not token[1]]


def damaged(draw: random.Random, base: Base, largest: int) -> str:
    """The text with one value replaced, or with values or members put into one list or object."""
    kind = draw.random()
    if kind < 0.5:
        start, end = draw.choice(base.values)
        make = draw.random()
        if make < 0.5:
            new = draw.choice(LEAVES if draw.random() < 0.2 else _JSON_LEAVES)
        elif make < 0.8:
            new = value(draw, 3) if draw.random() < 0.2 else f"[{draw.choice(_JSON_LEAVES)}, {{}}]"
        elif make < 0.9:
            new = nested(draw, size(draw, largest, _LARGE))
        else:
            new = f'"{"x" * size(draw, largest, _LARGE)}{draw.choice(("", "😀", "é"))}"'
        return base.text[:start] + new + base.text[end:]
    at = draw.choice(base.openings)
    if kind < 0.75:
        new = items(draw, size(draw, largest, _LARGE))
    elif base.text[at - 1] == "{":
        new = f'"{draw.choice(NAMES)}": {draw.choice(_JSON_LEAVES)}'
    else:
        new = value(draw, 3) if draw.random() < 0.2 else draw.choice(_JSON_LEAVES)
    return f"{base.text[:at]}{new},{base.text[at:]}"


def text_of(draw: random.Random, base: Base, largest: int) -> str:
    """One hostile document."""
    kind = draw.random()
    if kind < 0.2:
        return mangled(base.text, draw)
    if kind < 0.75:
        return damaged(draw, base, largest)
    if kind < 0.85:
        return draw.choice((*GROWN, long_text))(draw, size(draw, largest, _LARGE))
    return value(draw) if kind < 0.95 else base.text


def document(draw: random.Random, base: Base, largest: int = 1_000_000) -> bytes:
    """The bytes of one hostile file."""
    data = text_of(draw, base, largest).encode("utf-8", "surrogatepass")
    kind = draw.random()
    if kind < 0.9 or not data:
        return data
    at = draw.randrange(len(data))
    return draw.choice((
        b"\xef\xbb\xbf" + data,
        data[:at],
        data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :],
        data[:at] + draw.choice((b"\xff\xfe", b"\xed\xa0\x80", b"\xf0\x9f", b"\x00", b"\xc3")) + data[at:],
        base.text[:2000].encode("utf-16"),
        base.text[:2000].encode("latin-1", "replace"),
    ))  # fmt: skip


def lines(draw: random.Random, bases: list[Base], largest: int = 1_000_000) -> bytes:
    """The bytes of one hostile JSONL file; the bases are one line each."""
    if draw.random() < 0.1:
        units = "12", "[]", "{}", "", " ", '{"turns":[0]}', '{"conversationId":"x","turns":[{}]}', "x" * 90
        unit = draw.choice(units)
        made = [unit] * (size(draw, largest, 0.05) // (len(unit) + 1))
    else:
        texts = (text_of(draw, draw.choice(bases), largest) for _ in range(draw.randrange(1, 4)))
        made = [text.replace("\n", " ") for text in texts]
        made += draw.choice(([], [""], ["", "\r"], ["{}"]))
    return draw.choice(("\n", "\n", "\n\n", "\r\n")).join(made).encode("utf-8", "surrogatepass")
