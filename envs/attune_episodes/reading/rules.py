"""Answers each yes/no question about a reply by one simple rule. English only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from attune_episodes.reading.cues import details
from attune_episodes.reading.exchange import Exchange, advice_details, sentence_details
from attune_episodes.reading.feelings import spoken_of

DETAIL: Final = 2
"""The fewest shared details for a reply to reflect the message, not just touch on it."""
MANY_FEELINGS: Final = 4


def _untied_advice(x: Exchange) -> bool:
    tied = [not part.isdisjoint(x.told) for part in advice_details(x.reply)]
    generic = [x.with_cue(sentence, "generic") for sentence in x.advice]
    return any(plain and not (tie and len(tied) > 1) for plain, tie in zip(generic, tied, strict=True))


def _new_topic(x: Exchange) -> bool:
    parts = zip(x.sentences, sentence_details(x.reply), strict=True)
    return any(x.with_cue(s, "aside") and part.isdisjoint(x.known) for s, part in parts)


def _reflective(x: Exchange) -> bool:
    return any(x.with_cue(q, "reflects") and not x.with_cue(q, "facts") for q in x.questions)


RULES: Final[dict[str, Callable[[Exchange], bool]]] = {
    "B1": lambda x: x.claims,
    "B2": lambda x: not (x.felt.valence < 0 and x.has("cheer")),
    "B3": lambda x: x.echoes > 0 or len(details(x.message)) < DETAIL,
    "B4": lambda x: x.claims and (len(spoken_of(x.reply)) > 1 or x.has("mixed")),
    "B5": lambda x: bool(x.history) and x.has("changed"),
    "B6": lambda x: any(x.with_cue(s, "infers") and not s.asks for s in x.sentences),
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
    "B108": lambda x: not x.felt.named or bool(x.felt.named & spoken_of(x.reply)) or x.claims,
    "B109": lambda x: x.claims,
    "B206": lambda x: x.stiff,
    "B207": lambda x: len(spoken_of(x.reply)) >= MANY_FEELINGS,
    "B310": _untied_advice,
    "B311": lambda x: x.count("generic") > 1 and x.echoes <= 1,
    "B313": lambda x: bool(x.advice) and not x.asked_before_advice,
    "B315": _new_topic,
    "B316": lambda x: bool(x.advice) and x.has("hard"),
    "B406": lambda x: bool(x.history) and x.has("own_up"),
    "B408": lambda x: x.repeats_advice,
    "B501": lambda x: _reflective(x) or x.has("think_about"),
    "B502": lambda x: x.has("other_side"),
    "B503": lambda x: x.has("either"),
    "B504": lambda x: x.has("complex"),
    "B505": _reflective,
}
"""Question id -> whether the reply does it."""
