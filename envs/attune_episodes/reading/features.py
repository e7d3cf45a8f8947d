"""Computes the features that fitted readers use: cues, overlaps with what was said, and words.

All features are bounded, and each cue counts at most twice: repeating it further changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import log1p
from typing import Final

from attune_episodes.reading.claims import FAMILY_OF, claims_in
from attune_episodes.reading.cues import details, in_message, words
from attune_episodes.reading.exchange import Exchange, advice_in
from attune_episodes.reading.rules import RULES

TWICE: Final = 2
"""Maximum number of times that a cue counts."""
LOOSE: Final = 3
"""The fewest details of a sentence that can count as unconnected to anything said in the reply or earlier."""
LONG: Final = 12.0
"""How many sentences make a long reply."""


def features(x: Exchange) -> dict[str, float]:
    """Feature -> value, for those that apply; all others are 0. Values lie in [-1, 3]."""
    found = {f"rule {question}": 1.0 for question, rule in RULES.items() if rule(x)}
    for (table, name), places in x.found.items():
        if table in ("replies", "feelings", "marks"):
            found[f"cue {name}"] = float(min(TWICE, len(places)))
    for name, value in (*_shape(x), *_overlap(x), *_moment(x), *_feelings(x)):
        if value:
            found[name] = float(value)
    return found


def word_features(x: Exchange) -> Iterable[tuple[str, ...]]:
    """The words of a reply and its pairs of adjacent words, each once."""
    said = words(x.reply)
    return dict.fromkeys([*zip(said, strict=True), *pairwise(said)])


def _shape(x: Exchange) -> Iterator[tuple[str, float]]:
    """Features of the reply's structure."""
    said, advice = x.sentences, x.advice
    asking = [sentence for sentence in said if sentence.asks]
    yield "length", min(3.0, log1p(len(words(x.reply))) / 2)
    yield "sentences", min(LONG, len(said)) / LONG
    yield "questions", min(3, len(asking)) / 2
    yield "only question", bool(said) and len(asking) == len(said)
    yield "ends asking", bool(said) and said[-1].asks
    yield "advice", min(4, len(advice)) / 2
    yield "advice share", len(advice) / len(said) if said else 0.0
    yield "advice untied", min(TWICE, sum([s.details.isdisjoint(x.before.told) for s in advice]))
    yield "generic advice", min(TWICE, sum([x.with_cue(s, "generic") for s in advice]))
    yield "exclaims", min(TWICE, x.reply.count("!"))
    yield "lists", min(TWICE, x.reply.count("\n"))
    if said:
        first = said[0]
        yield "first feels", x.with_cue(first, "acknowledges") or x.names(first)
        yield "first advises", first in advice
        yield "first asks", first.asks
    for question in asking:
        if x.with_cue(question, "facts"):
            yield "asks facts", 1
        elif x.with_cue(question, "reflects"):
            yield "asks to reflect", 1


def _overlap(x: Exchange) -> Iterator[tuple[str, float]]:
    """Features of what the reply shares with the message and with what was said before."""
    now, message, before = details(x.reply), details(x.message), x.before
    size = len(now) or 1
    new = now - before.known
    yield "echoes", min(6, x.echoes) / 3
    yield "echo share", x.echoes / size
    yield "message taken up", x.echoes / (len(message) or 1)
    yield "new share", len(new) / size
    yield "new", min(3.0, log1p(len(new)))
    parts = [sentence.details for sentence in x.sentences]
    strange = [part for part in parts if len(part) > 1 and part.isdisjoint(before.known)]
    yield "strange sentences", min(3, len(strange)) / 2
    yield "strange share", len(strange) / (len(parts) or 1)
    yield "touching sentences", sum([not part.isdisjoint(message) for part in parts]) / (len(parts) or 1)
    yield from _loose(x, parts)
    yield "aside new", any(s.details.isdisjoint(before.known) for s in x.having("aside"))
    if not x.history:
        return
    advised = [sentence.details for sentence in x.advice]
    yield "advice again", min(4, _most_shared(advised, before.advised)) / 2
    yield "advice again share", _most_share(advised, before.advised)
    yield "said again", min(4, _most_shared(parts, before.said)) / 2
    yield "said again share", _most_share(parts, before.said)
    again = [_most_shared([part - before.told], before.said) for part in parts]
    yield "repeats two", min(3, sum([number > 1 for number in again]))
    yield "repeats three", min(3, sum([number > 2 for number in again]))
    kept = [len(part & before.replied) / len(part) for part in advised if len(part) > TWICE]
    yield "advice kept", max(kept, default=0)
    yield "advice kept half", sum([share >= 0.5 for share in kept]) / (len(kept) or 1)
    own = before.replied - before.told
    yield "own words again", min(6, len(now & own)) / 3
    yield "advice of old words", max([len(part & own) / len(part) for part in advised if part], default=0)


def _loose(x: Exchange, parts: Sequence[frozenset[str]]) -> Iterator[tuple[str, float]]:
    """Features of sentences that stray: digressions, generalities, or unconnected to anything said."""
    marks = [mark for mark in ("tangent", "wellness", "anybody") if ("marks", mark) in x.found]
    for i, (sentence, part) in enumerate(zip(x.sentences, parts, strict=True)):
        late, new, advises = 0 < i >= len(parts) - 3, len(part & x.before.known) <= 1, sentence in x.advice
        for mark in marks:
            if x.with_cue(sentence, mark, table="marks"):
                yield f"{mark} late", late
                yield f"{mark} new", new
                yield f"{mark} advice", advises
                yield f"{mark} late new advice", late and new and advises
        if (
            new
            and len(part) >= LOOSE
            and all(part.isdisjoint(other) for j, other in enumerate(parts) if j != i)
        ):
            yield "loose", 1
            yield "loose late", late
            yield "loose advice", advises


def _most_shared(these: Sequence[frozenset[str]], those: Sequence[frozenset[str]]) -> int:
    return max([len(one & other) for one in these for other in those], default=0)


def _most_share(these: Sequence[frozenset[str]], those: Sequence[frozenset[str]]) -> float:
    """The highest Jaccard index of one set with at least three details and one of the others."""
    return max(
        [len(one & other) / len(one | other) for one in these if len(one) > TWICE for other in those],
        default=0.0,
    )


def _moment(x: Exchange) -> Iterator[tuple[str, float]]:
    """Features of what the message asks for, and of its position in the conversation."""
    yield "first turn", not x.history
    yield "turns", min(6, len(x.history)) / 3
    yield "message length", min(3.0, log1p(len(words(x.message))) / 2)
    for table, name in in_message(x.message):
        if table == "wishes":
            yield f"wish {name}", 1
    yield "practical", x.before.practical
    yield "vents", x.before.vents
    yield "message asks", "?" in x.message
    yield "asked before", any("?" in reply for _, reply in x.history)
    yield "asked before advice", x.asked_before_advice
    yield "advised before", any(advice_in(reply) for _, reply in x.history)
    yield "complaint answered", x.before.seeks("complaint") and not x.repeats_advice


def _feelings(x: Exchange) -> Iterator[tuple[str, float]]:
    """Features of the feelings that the message shows, and of what the reply says about them."""
    felt, claims = x.before.felt, claims_in(x.reply)
    families = {FAMILY_OF[tag.emotion] for tag in felt.tags}
    claimed = {claim.family for claim in claims}
    yield "felt", bool(felt.tags)
    yield "valence", felt.valence
    yield "named", bool(felt.named)
    yield "several felt", len(families) > 1
    yield "claims", min(3, len(claims)) / 2
    yield "claims right", bool(claimed & families)
    yield "claims wrong", bool(claimed) and not claimed & families
    yield "claims several", len(claimed) > 1
    yield "claims against", bool(claims) and any(claim.sign * felt.valence < 0 for claim in claims)
    yield (
        "same word",
        any(x.message.lower().find(x.reply[c.span.start : c.span.end].lower()) >= 0 for c in claims),
    )
    yield "passes over", bool(felt.tags) and not x.claims
