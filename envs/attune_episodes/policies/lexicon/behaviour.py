"""The behaviour of a reply, question by question, and the behaviour that was wanted. English only.

Each question looks for one simple cue in a reply. The wanted behaviour follows common-sense defaults,
adjusted to what the message asks for: most people want to be understood, in a fitting tone, without sermons,
clichés or repetitions; those who ask for advice and reasons want them, and those who feel something want it
acknowledged.
"""

from __future__ import annotations

from collections.abc import Iterable

from attune_rewards.predictions import YesNo
from attune_rewards.reading.exchange import Exchange
from attune_rewards.reading.rules import RULES


def observed(exchange: Exchange, questions: Iterable[str]) -> dict[str, YesNo]:
    """The observed answer to each question; "no" if there is no rule for one."""
    return {q: "yes" if q in RULES and RULES[q](exchange) else "no" for q in questions}


def wished(exchange: Exchange, questions: Iterable[str]) -> dict[str, YesNo]:
    """The preferred answer to each question."""
    before = exchange.before
    feels, practical = bool(before.felt.tags), before.practical
    wanted = {
        **dict.fromkeys(("B2", "B3", "B7", "B8", "B9", "B10", "B15", "B16", "B108", "B109"), True),
        **dict.fromkeys(("B1", "B4", "B19"), feels),
        "B5": feels and bool(exchange.history),
        **dict.fromkeys(("B11", "B12"), practical),
        "B13": before.sorts,
        **dict.fromkeys(("B17", "B18"), before.seeks("risky")),
        **dict.fromkeys(("B501", "B505"), before.sorts and not practical),
    }
    return {question: "yes" if wanted.get(question) else "no" for question in questions}
