"""A million mangled replies: `parse` answers every one of them, and scores stay in range."""

from __future__ import annotations

import random

import pytest

from attune_data import load
from attune_episodes import Unparsed, builtin_policy, parse, plan, score
from attune_episodes.policies.base import prepared

pytestmark = pytest.mark.soak

INPUTS = 1_000_000
SCRAPS = (
    "{", "}", "[", "]", '"', ",", ":", "\\", "\n", "```", "```json\n", "<think>", "</think>", "null", "true",
    "NaN", "1e999", "-0", '"B1"', '"yes"', '"no"', '"emotions"', '"observed"', '"picks"', '"post_panas"',
    "__proto__", "\\ud83d", "é", "😀", "שלום", "\u202e", "\x00", "9" * 50, "//", "None", " ",
)  # fmt: skip


def mangled(text: str, draw: random.Random) -> str:
    """The text with a few cuts, doublings and foreign scraps."""
    for _ in range(draw.randrange(1, 6)):
        at = draw.randrange(len(text) + 1)
        kind = draw.randrange(4)
        if kind == 0:
            text = text[:at] + draw.choice(SCRAPS) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + draw.randrange(1, 20) :]
        elif kind == 2:
            text = text[:at] + text[max(0, at - draw.randrange(1, 200)) :]
        else:
            text = text[:at]
    return text


def test_a_million_mangled_replies_are_read_or_refused_and_scored_in_range() -> None:
    sample = load("sample")
    oracle = builtin_policy("oracle", sample)
    pool = []
    for conversation in sample:
        player = prepared(oracle, conversation)
        for request in plan(conversation):
            reply = player.reply(request)
            assert isinstance(reply, str)
            pool.append((conversation, request, reply))
    draw = random.Random(20261121)
    refused = 0
    for _ in range(INPUTS):
        conversation, request, reply = draw.choice(pool)
        said = parse(request, mangled(reply, draw))
        refused += isinstance(said, Unparsed)
        value = score(conversation, request, said).value
        assert value is None or 0.0 <= value <= 1.0
    assert 0 < refused < INPUTS
