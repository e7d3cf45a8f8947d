"""Reads a voice's text again: it must say what its packet holds, and nothing that the packet leaves out.

The grammar's own words are the measure: a question about a reply, or a feeling in a text, is only held
against a voice where the reader reads it rightly in the grammar's words for the same packet.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from attune_data.simulate.voice import Packet, Transcript
from attune_episodes.parsing import Unparsed, sound
from attune_episodes.reading.claims import claims_in
from attune_episodes.reading.cues import FAMILIES, details, words
from attune_episodes.reading.exchange import Exchange
from attune_episodes.reading.guard import common_pairs
from attune_episodes.reading.message import read_message
from attune_episodes.reading.readers import reader
from attune_episodes.reading.rules import RULES

LONGEST: Final = (3, 40)
"""A text is too long beyond 3 times the grammar's words, plus 40."""
ENGLISH: Final = 0.08
"""The share of pairs of adjacent words that must be common; 99 % of 800 written messages have more."""
FEWEST_PAIRS: Final = 8
"""A text must have this many pairs to be judged by them."""
FOREIGN: Final = 0.2
"""The share of letters that may come from another script."""
TOLD: Final = 1 / 3
"""The share of the details of a part that must be told."""
FEWEST: Final = 2
"""A part must have this many details to be judged by them."""
FEWEST_OWN: Final = 3
"""Of so many details that no other part has, at least one must be told."""
CONTENT: Final = frozenset({
    "tells", "shows", "reports", "repeats", "risk", "safety", "echo", "infer", "side", "readings", "advise",
    "hard", "ask_fact", "ask_reflect",
})  # fmt: skip
"""Parts whose content is a matter of the conversation, not a turn of phrase."""
MUST: Final = ("B3", "B13", "B15", "B501", "B505")
"""Questions whose yes the rules find in nine of ten other wordings of the grammar or more."""
MUST_NOT: Final = (
    "B1", "B4", "B11", "B13", "B14", "B17", "B18", "B19", "B206", "B207", "B310", "B311", "B315", "B316",
    "B406", "B502", "B503", "B504", "B505",
)  # fmt: skip
"""Questions where a yes of the rules in place of a no means that an act was added."""
FITTED_NOT: Final = (
    "B5", "B14", "B206", "B207", "B310", "B311", "B315", "B316", "B406", "B408", "B502", "B503", "B504",
)  # fmt: skip
"""The same of the fitted reader."""
_NOT_PLAIN: Final = re.compile(
    r"[{\[<`#*]|(?:person|user|assistant|model|reply|message|sure|here)\b[^.\n]{0,40}:", re.IGNORECASE
)
"""Beginnings of a text that is data, markup or an announcement."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
_SEEN: Final = "\n\u200d"
"""Characters of these categories that a message may hold: line ends, and what joins emoji."""
_QUOTES: Final = {'"': '"', "“": "”"}


def cleaned(text: str) -> str:
    """A text without blanks and quotation marks around it."""
    text = sound(text).strip()
    closing = _QUOTES.get(text[:1])
    if closing and len(text) > 1 and text[-1] == closing and text.count(closing) == 1 + (text[0] == closing):
        text = text[1:-1].strip()
    return text


def checked(packet: Packet, transcript: Transcript, text: str) -> str | Unparsed:
    """The text as it is taken, or why it is not: `empty`, `too_long`, or `unfit` with the first misfit."""
    text = cleaned(text)
    if not text:
        return Unparsed("empty")
    times, more = LONGEST
    most = times * len(packet.text.split()) + more
    if len(text.split()) > most or len(text) > 12 * most:
        return Unparsed("too_long")
    found = next(misfits(packet, transcript, text), None)
    return text if found is None else Unparsed("unfit", found)


def misfits(packet: Packet, transcript: Transcript, text: str) -> Iterator[str]:
    """Every way in which a text does not say what its packet holds."""
    if _NOT_PLAIN.match(text) or any(unicodedata.category(c) in _UNSEEN and c not in _SEEN for c in text):
        yield "not plain text"
    if _foreign(text):
        yield "another language"
    if text in packet.beside:
        yield "the same as another reply"
    told = details(text)
    for part in packet.parts:
        wanted = details(part.text)
        own = wanted.difference(*(details(other.text) for other in packet.parts if other is not part))
        dropped = len(wanted) >= FEWEST and len(wanted & told) < TOLD * len(wanted)
        if (part.role in CONTENT and dropped) or (len(own) >= FEWEST_OWN and not own & told):
            yield f"drops {part.role}"
    yield from _of_message(packet, text) if packet.kind == "message" else _of_reply(packet, transcript, text)


def _foreign(text: str) -> bool:
    letters = [c for c in text if c.isalpha()]
    pairs = list(pairwise(words(text)))
    known = common_pairs()
    other = sum(not unicodedata.name(c, "").startswith("LATIN") for c in letters)
    return other > FOREIGN * len(letters) or (
        len(pairs) >= FEWEST_PAIRS and sum(pair in known for pair in pairs) < ENGLISH * len(pairs)
    )


def _of_message(packet: Packet, text: str) -> Iterator[str]:
    """Feelings that do not show where they should, and those that show where they should not."""
    model, found = read_message(packet.text), read_message(text)
    expected = {claim.family for claim in model.shown} | set(packet.shows)
    signs = {FAMILIES[family]["sign"] > 0 for family in packet.shows}
    for claim in found.shown:
        stray = claim in found.named or claim.family in packet.hides or (claim.sign > 0) not in signs
        if stray and claim.family not in expected:
            yield f"shows {claim.family}"
    for family in packet.shows:
        sign = FAMILIES[family]["sign"] > 0
        if any((c.sign > 0) == sign for c in model.shown) and all((c.sign > 0) != sign for c in found.shown):
            yield f"hides {family}"
    to_name = {part.family for part in packet.parts if part.role == "names"}
    ours, theirs = ({claim.family for claim in one.named} for one in (model, found))
    yield from (f"does not name {family}" for family in packet.shows if family in to_name & ours - theirs)


def _of_reply(packet: Packet, transcript: Transcript, text: str) -> Iterator[str]:
    """Acts that are missing or were added, and feelings claimed."""
    claimed, claims = ({claim.family for claim in claims_in(one)} for one in (packet.text, text))
    expected = {part.family for part in packet.parts if part.family}
    yield from (f"claims {family}" for family in sorted(claims - claimed - expected))
    yield from (f"does not claim {family}" for family in sorted((expected & claimed) - claims))
    said = [one for _, one in transcript]
    history = tuple(zip(said[:-1:2], said[1::2], strict=True))
    ours, theirs = (Exchange(said[-1], one, history) for one in (packet.text, text))
    for question in sorted(packet.does.keys() & {*MUST, *MUST_NOT}):
        rule, does = RULES[question], packet.does[question]
        if rule(ours) == does != rule(theirs) and question in (MUST if does else MUST_NOT):
            yield f"{'lacks' if does else 'adds'} {question}"
    fitted = reader("fitted")
    model, found = fitted.read(ours), fitted.read(theirs)
    for question in FITTED_NOT:
        if packet.does.get(question) is False and found.says(question) and not model.says(question):
            yield f"adds {question}"
