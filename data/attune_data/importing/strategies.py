"""The supporters' strategies: those of ESConv, and those that later sets and exports in its format use.

A strategy answers a question only if using it entails the answer by the strategy's own definition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

ENTAILED: Final[Mapping[str, tuple[str, ...]]] = {
    "question": ("B13",),
    "providing suggestions": ("B11",),
    "reflection of feelings": ("B1",),
    # of ExTES
    "clarification": ("B13",),
    "emotional validation": ("B1", "B19"),
    "normalize experiences": ("B19",),
    "suggest options": ("B11",),
    "collaborative planning": ("B11",),
    "promote self-care practices": ("B11",),
    "stress management": ("B11",),
}
"""Strategy -> the questions whose observed answer is yes whenever the strategy is used."""
UNSAID: Final[Mapping[str, str]] = {
    "restatement or paraphrasing": "may hold no specific detail (B3, B15)",
    "self-disclosure": "is about the supporter; no question asks that",
    "affirmation and reassurance": "does not validate what was felt (B19)",
    "information": "a fact or a resource is no explanation yet (B12)",
    "other": "says nothing about the reply",
    # of later exports of ESConv
    "providing suggestions or information": "one of two, and only the first would be guidance (B11)",
    "greeting": "says nothing about the reply",
    # of ExTES
    "reflective statements": "may hold no specific detail (B3, B15)",
    "empathetic statements": "shows understanding of an experience, not of a feeling (B1)",
    "affirmation": "does not validate what was felt (B19)",
    "offer hope": "no question asks that",
    "avoid judgment and criticism": "says what the reply leaves out, and no strategy entails a no",
    "provide different perspectives": "no question asks that",
    "reframe negative thoughts": "no question asks that",
    "share information": "a fact or a resource is no explanation yet (B12)",
}
"""Strategy -> why it answers no question."""

_SHORT: Final = re.compile(r"\s*\([^)]*\)$")
"""An abbreviation at the end, such as ` (RS)`."""


def _plain(name: str) -> str:
    return (
        _SHORT.sub("", name).casefold().replace("judgement", "judgment").replace("ise ", "ize ").rstrip("s")
    )


_NAMES: Final[Mapping[str, str]] = {_plain(name): name for name in (*ENTAILED, *UNSAID)}


def strategy_named(name: str) -> str:
    """The strategy of a name in any spelling; "" if there is none.

    >>> strategy_named("Normalise Experiences (NE)"), strategy_named("Humming")
    ('normalize experiences', '')
    """
    return _NAMES.get(_plain(name), "")
