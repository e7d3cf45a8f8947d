"""Check a voice's text: it must say everything in its packet and nothing else.

The grammar's wording is the reference: a question about a reply, or a feeling in a text, counts against a
voice only if the reader reads it correctly in the grammar's wording of the same packet.
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
"""A text is too long if it has more than 3 times as many words as the grammar's, plus 40."""
ENGLISH: Final = 0.08
"""The least share of common pairs of adjacent words; 99% of 800 written messages have more."""
FEWEST_PAIRS: Final = 8
"""The fewest pairs in a text that is judged by them."""
FOREIGN: Final = 0.2
"""The largest share of letters from another script."""
TOLD: Final = 1 / 3
"""The least share of a part's details that the text must tell."""
FEWEST: Final = 2
"""The fewest details in a part that is judged by them."""
FEWEST_OWN: Final = 3
"""If a part has this many details that no other part has, the text must tell at least one of them."""
CONTENT: Final = frozenset({
    "tells", "shows", "reports", "repeats", "risk", "safety", "echo", "infer", "side", "readings", "advise",
    "hard", "ask_fact", "ask_reflect",
})  # fmt: skip
"""Parts whose content is specific to the conversation, not a general phrase."""
MUST: Final = ("B3", "B13", "B15", "B501", "B505")
"""Questions for which the rules find a yes in at least nine of ten other wordings of the grammar."""
MUST_NOT: Final = (
    "B1", "B4", "B11", "B13", "B14", "B17", "B18", "B19", "B206", "B207", "B310", "B311", "B315", "B316",
    "B406", "B502", "B503", "B504", "B505",
)  # fmt: skip
"""Questions for which a yes from the rules instead of a no means that an act was added."""
FITTED_NOT: Final = (
    "B5", "B14", "B206", "B207", "B310", "B311", "B315", "B316", "B406", "B408", "B502", "B503", "B504",
)  # fmt: skip
"""The same for the fitted reader."""
_NOT_PLAIN: Final = re.compile(
    r"[{\[<`#*]|(?:person|user|assistant|model|reply|message|sure|here)\b[^.\n]{0,40}:", re.IGNORECASE
)
"""Beginnings of a text that is data, markup or an announcement."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
_SEEN: Final = "\n\u200d"
"""Characters of these categories that a message may contain: line breaks, and emoji joiners."""
_QUOTES: Final = {'"': '"', "“": "”"}


def cleaned(text: str) -> str:
    """Remove white space and quotation marks around a text."""
    text = sound(text).strip()
    closing = _QUOTES.get(text[:1])
    if closing and len(text) > 1 and text[-1] == closing and text.count(closing) == 1 + (text[0] == closing):
        text = text[1:-1].strip()
    return text


def checked(packet: Packet, transcript: Transcript, text: str) -> str | Unparsed:
    """The accepted text, or why it is rejected: `empty`, `too_long`, or `unfit` with the first problem."""
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
    """All deviations of a text from its packet."""
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
    """Feelings that should show but do not, and feelings that show but should not."""
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
    """Missing or added acts, and wrongly claimed feelings."""
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
