"""The behaviour of a reply, question by question, and the behaviour that was wanted. English only.

Of a reply each question reads one simple cue. What was wanted are a lay person's defaults, moved by what the
message asks for: most people want to be read rightly and in a fitting tone, and want no sermons, clichés or
repetitions; advice and reasons are wanted by who asks for them, acknowledgement by who feels something.
"""

from __future__ import annotations

from collections.abc import Iterable

from attune_episodes.reading.exchange import Exchange
from attune_episodes.reading.rules import RULES
from attune_rewards.predictions import YesNo


def observed(exchange: Exchange, questions: Iterable[str]) -> dict[str, YesNo]:
    """The observed answer to each question; "no" where there is no rule for one."""
    return {q: "yes" if q in RULES and RULES[q](exchange) else "no" for q in questions}


def wished(exchange: Exchange, questions: Iterable[str]) -> dict[str, YesNo]:
    """The preferred answer to each question."""
    feels, practical, risky = bool(exchange.felt.tags), exchange.practical, exchange.seeks("risky")
    wanted = {
        **dict.fromkeys(("B2", "B3", "B7", "B8", "B9", "B10", "B15", "B16", "B108", "B109"), True),
        **dict.fromkeys(("B1", "B4", "B19"), feels),
        "B5": feels and bool(exchange.history),
        **dict.fromkeys(("B11", "B12"), practical),
        "B13": exchange.sorts,
        **dict.fromkeys(("B17", "B18"), risky),
        **dict.fromkeys(("B501", "B505"), exchange.sorts and not practical),
    }
    return {question: "yes" if wanted.get(question) else "no" for question in questions}
