"""Whether what a hand wrote can be used: refusals, floods, other languages and words of the card cannot."""

from __future__ import annotations

import re
from typing import Final

from attune_data.format.affect import EMOTIONS
from attune_episodes.parsing import Unparsed, sound
from attune_episodes.parsing.reasoning import plain_reply
from attune_episodes.people.cards import Card

LONGEST: Final = 350
"""Words above which a message is a flood."""
_SHINGLE: Final = {"matter": 12, "style": 7}
"""How many words in a row a message may not share with the card."""
_COMMON: Final = re.compile(
    r"the|and|i|to|a|of|my|it|that|in|is|was|for|me|but|with|on|so|have|be|not|he|she|they|we|you|this|at|just"
    r"|do|what|about|as|no|if|there|are"
)
_ENGLISH: Final = 0.2
"""The share of these words above which a message of some length is English."""
_REFUSES: Final = re.compile(
    r"^\W*(?:i['’]?m sorry,? but|i (?:cannot|can['’]t|won['’]t|am unable to|am not able to) (?:play|pretend"
    r"|help|assist|write|fulfil|comply|continue)|as an ai\b|i['’]m (?:just )?an ai\b)",
    re.IGNORECASE,
)
_GIVEN_AWAY: Final = re.compile(
    rf"\b(?:{'|'.join(EMOTIONS)}) [1-7]\b|\bmy card (?:says|said|tells|wants)\b"
    r"|\b(?:the|these|my) instructions\b|\bplay(?:ing)? a person\b",
    re.IGNORECASE,
)


def unusable(why: str) -> Unparsed:
    """An answer that can be read and not used; `why` completes "it could not be used: "."""
    return Unparsed("no_fields", why)


def plain(text: str) -> str | Unparsed:
    """A text without reasoning, quotation marks around it, and unsound characters."""
    said = plain_reply(text)
    if isinstance(said, Unparsed):
        return unusable("it is empty") if said.code == "empty" else said
    said = sound(said).strip()
    if len(said) > 2 and (said[0], said[-1]) in (('"', '"'), ("“", "”")) and said.count(said[-1]) < 3:
        said = said[1:-1].strip()
    return said or unusable("it is empty")


def read_message(card: Card, text: str) -> str | Unparsed:
    """Read a person's message; unusable are refusals, floods, other languages, and words of the card."""
    said = plain(text)
    if isinstance(said, Unparsed):
        return said
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", said.lower())
    if _REFUSES.search(said):
        return unusable("it speaks as an assistant, not as the person")
    if len(said.split()) > LONGEST:
        return unusable(f"it has {len(said.split())} words; write as somebody who types")
    if len(words) >= 12 and sum(bool(_COMMON.fullmatch(word)) for word in words) < _ENGLISH * len(words):
        return unusable("it is not in English")
    if not words:
        return unusable("it has no words")
    if found := _GIVEN_AWAY.search(said):
        return unusable(f"it repeats the instructions ({found[0]})")
    for name, private in (("matter", (card.matter,)), ("style", card.style)):
        for one in private:
            if taken := _taken(said, one, _SHINGLE[name]):
                return unusable(f"it repeats words that you were only shown ({taken})")
    return said


def _taken(said: str, private: str, length: int) -> str:
    """The first run of words that a text shares with another; "" if there is none of that length."""
    own, other = (re.findall(r"\w+", text.lower()) for text in (said, private))
    runs = {tuple(other[i : i + length]) for i in range(len(other) - length + 1)}
    starts = range(len(own) - length + 1)
    return next((" ".join(own[i : i + length]) for i in starts if tuple(own[i : i + length]) in runs), "")
