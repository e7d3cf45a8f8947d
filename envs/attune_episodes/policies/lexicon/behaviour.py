"""The behaviour of a reply, question by question: one simple cue each, read off its words. English only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from attune_episodes.policies.lexicon.exchange import Exchange
from attune_episodes.policies.lexicon.feelings import spoken_of
from attune_episodes.policies.lexicon.reading import REPLY, count, details, sentences
from attune_rewards.predictions import YesNo

DETAIL: Final = 2
"""Shared details from which a reply reflects the message rather than touches it."""
MANY_FEELINGS: Final = 4


def observed(exchange: Exchange, questions: Iterable[str]) -> dict[str, YesNo]:
    """The observed answer to each question; "no" where there is no rule for one."""
    return {question: "yes" if RULES.get(question, _never)(exchange) else "no" for question in questions}


def _never(_: Exchange) -> bool:
    return False


def _several_feelings(x: Exchange) -> bool:
    return x.claims and (len(spoken_of(x.reply)) > 1 or x.has(REPLY["mixed"]))


def _own_word(x: Exchange) -> bool:
    return not x.felt.named or bool(x.felt.named & spoken_of(x.reply)) or x.claims


def _new_approach(x: Exchange) -> bool:
    return bool(x.history) and not x.repeats_advice


def _untied_advice(x: Exchange) -> bool:
    said = details(x.message) | {detail for message, _ in x.history for detail in details(message)}
    tied = [bool(details(sentence) & said) for sentence in x.advice]
    generic = [bool(REPLY["generic"].search(sentence)) for sentence in x.advice]
    return any(plain and not (tie and len(tied) > 1) for plain, tie in zip(generic, tied, strict=True))


def _off_to_generalities(x: Exchange) -> bool:
    return count(REPLY["generic"], x.low) > 1 and x.echoes <= 1


def _new_topic(x: Exchange) -> bool:
    said = {d for text in (x.message, *(t for pair in x.history for t in pair)) for d in details(text)}
    return any(REPLY["aside"].search(s) and not details(s) & said for s in sentences(x.reply))


def _invites_reflection(x: Exchange) -> bool:
    return any(map(_reflective, x.questions)) or x.has(REPLY["think_about"])


def _reflective(question: str) -> bool:
    return bool(REPLY["reflects"].search(question)) and not REPLY["facts"].search(question)


RULES: Final[dict[str, Callable[[Exchange], bool]]] = {
    "B1": lambda x: x.claims,
    "B2": lambda x: not (x.felt.valence < 0 and x.has(REPLY["cheer"])),
    "B3": lambda x: x.echoes > 0 or len(details(x.message)) < DETAIL,
    "B4": _several_feelings,
    "B5": lambda x: bool(x.history) and x.has(REPLY["changed"]),
    "B6": lambda x: any(REPLY["infers"].search(s) and not s.endswith("?") for s in sentences(x.reply)),
    "B7": lambda x: x.has(REPLY["hedges"]),
    "B8": lambda x: not x.off_key,
    "B9": lambda x: not x.has(REPLY["makes_light"]),
    "B10": lambda x: not x.off_key,
    "B11": lambda x: bool(x.advice),
    "B12": lambda x: x.has(REPLY["reasons"]),
    "B13": lambda x: "?" in x.reply,
    "B14": lambda x: x.has(REPLY["moral"]),
    "B15": lambda x: x.echoes >= DETAIL,
    "B16": _new_approach,
    "B17": lambda x: x.has(REPLY["risk"]) or x.has(REPLY["emergency"]),
    "B18": lambda x: x.has(REPLY["emergency"]),
    "B19": lambda x: x.validates,
    "B20": lambda x: x.has(REPLY["heats"]),
    "B108": _own_word,
    "B109": lambda x: x.claims,
    "B206": lambda x: x.stiff,
    "B207": lambda x: len(spoken_of(x.reply)) >= MANY_FEELINGS,
    "B310": _untied_advice,
    "B311": _off_to_generalities,
    "B313": lambda x: bool(x.advice) and not x.asked_before_advice,
    "B315": _new_topic,
    "B316": lambda x: bool(x.advice) and x.has(REPLY["hard"]),
    "B406": lambda x: bool(x.history) and x.has(REPLY["own_up"]),
    "B408": lambda x: x.repeats_advice,
    "B501": _invites_reflection,
    "B502": lambda x: x.has(REPLY["other_side"]),
    "B503": lambda x: x.has(REPLY["either"]),
    "B504": lambda x: x.has(REPLY["complex"]),
    "B505": lambda x: any(map(_reflective, x.questions)),
}
"""Question id -> whether the reply does it."""
