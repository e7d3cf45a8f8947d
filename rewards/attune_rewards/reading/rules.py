"""Answer each yes/no question about a reply by one simple rule. English only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from attune_rewards.reading.cues import details
from attune_rewards.reading.exchange import Exchange

DETAIL: Final = 2
"""The fewest shared details with which a reply reflects the message rather than touches on it."""
MANY_FEELINGS: Final = 4


def _untied_advice(x: Exchange) -> bool:
    generic = [sentence for sentence in x.advice if x.with_cue(sentence, "generic")]
    return any(len(x.advice) == 1 or sentence.details.isdisjoint(x.before.told) for sentence in generic)


def _new_topic(x: Exchange) -> bool:
    return any(sentence.details.isdisjoint(x.before.known) for sentence in x.having("aside"))


RULES: Final[dict[str, Callable[[Exchange], bool]]] = {
    "B1": lambda x: x.claims,
    "B2": lambda x: not (x.before.felt.valence < 0 and x.has("cheer")),
    "B3": lambda x: x.echoes > 0 or len(details(x.message)) < DETAIL,
    "B4": lambda x: x.claims and (len(x.named) > 1 or x.has("mixed")),
    "B5": lambda x: bool(x.history) and x.has("changed"),
    "B6": lambda x: any(not sentence.asks for sentence in x.having("infers")),
    "B7": lambda x: x.has("hedges"),
    "B8": lambda x: not x.off_key,
    "B9": lambda x: not x.has("makes_light"),
    "B10": lambda x: not x.off_key,
    "B11": lambda x: bool(x.advice),
    "B12": lambda x: x.has("reasons"),
    "B13": lambda x: "?" in x.reply,
    "B14": lambda x: x.has("moral"),
    "B15": lambda x: x.echoes >= DETAIL,
    "B16": lambda x: bool(x.history) and not x.repeats_advice,
    "B17": lambda x: x.has("risk") or x.has("emergency"),
    "B18": lambda x: x.has("emergency"),
    "B19": lambda x: x.has("validates"),
    "B20": lambda x: x.has("heats"),
    "B108": lambda x: not x.before.felt.named or x.claims,
    "B109": lambda x: x.claims,
    "B206": lambda x: x.stiff,
    "B207": lambda x: len(x.named) >= MANY_FEELINGS,
    "B310": _untied_advice,
    "B311": lambda x: x.count("generic") > 1 and x.echoes <= 1,
    "B313": lambda x: bool(x.advice) and not x.asked_before_advice,
    "B315": _new_topic,
    "B316": lambda x: bool(x.advice) and x.has("hard"),
    "B406": lambda x: bool(x.history) and x.has("own_up"),
    "B408": lambda x: x.repeats_advice,
    "B501": lambda x: bool(x.reflects) or x.has("think_about"),
    "B502": lambda x: x.has("other_side"),
    "B503": lambda x: x.has("either"),
    "B504": lambda x: x.has("complex"),
    "B505": lambda x: bool(x.reflects),
}
"""Question id -> whether the reply does it."""
