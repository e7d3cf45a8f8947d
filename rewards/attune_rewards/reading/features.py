"""Compute the features that `fitted` uses: rules, cues, overlaps with what was said, and words.

All features are bounded, and each cue counts at most twice: repeating it further changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log1p
from typing import Final

from attune_data.format.affect import POLARITY
from attune_rewards.reading.cues import details, in_message, words
from attune_rewards.reading.exchange import Exchange, advice_in
from attune_rewards.reading.rules import RULES

WORD: Final = 0.6
"""The value of a word in the reply; below 1, so that words count less than cues."""
TWICE: Final = 2
"""Maximum number of times that a cue counts."""
LONG: Final = 12.0
"""How many sentences make a long reply."""


def features(x: Exchange) -> dict[str, float]:
    """Feature -> value, for those that apply; all others are 0. Values lie in [-1, 3]."""
    found = {f"rule {question}": 1.0 for question, rule in RULES.items() if rule(x)}
    for (table, name), places in x.found.items():
        if table in ("replies", "feelings"):
            found[f"cue {name}"] = float(min(TWICE, len(places)))
    for name, value in (*_shape(x), *_overlap(x), *_moment(x), *_feelings(x)):
        if value:
            found[name] = float(value)
    said = words(x.reply)
    pairs = [f"{first} {second}" for first, second in pairwise(said)]
    return found | dict.fromkeys([f"w {word}" for word in (*said, *pairs)], WORD)


def _shape(x: Exchange) -> Iterator[tuple[str, float]]:
    """Features of the reply's structure."""
    said, advice = x.sentences, x.advice
    asking = [sentence for sentence in said if sentence.asks]
    yield "length", min(3.0, log1p(len(words(x.reply))) / 2)
    yield "sentences", min(LONG, len(said)) / LONG
    yield "questions", min(3, len(asking)) / 2
    yield "ends asking", bool(said) and said[-1].asks
    yield "advice", min(4, len(advice)) / 2
    yield "advice share", len(advice) / len(said) if said else 0.0


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
    yield "aside new", any(s.details.isdisjoint(before.known) for s in x.having("aside"))
    if not x.history:
        return
    advised = [sentence.details for sentence in x.advice]
    own = [part - before.told for part in parts]
    kept = [len(part & before.replied) / len(part) for part in advised if len(part) > TWICE]
    yield "advice again", min(4, max(_shared(advised, before.advised), default=0)) / 2
    yield "said again", min(4, max(_shared(parts, before.said), default=0)) / 2
    yield "repeats two", min(3, sum([number > 1 for number in _shared(own, before.said)]))
    yield "advice kept", max(kept, default=0)


def _shared(these: Sequence[frozenset[str]], those: Sequence[frozenset[str]]) -> list[int]:
    """For each of these, the most details that it shares with one of those."""
    return [max([len(one & other) for other in those], default=0) for one in these]


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
    """Features of the feelings that the message shows, and of those that the reply names."""
    felt, named = x.before.felt, x.named
    signs = [1 if POLARITY[item] == "positive" else -1 for item in named]
    yield "felt", bool(felt.tags)
    yield "valence", felt.valence
    yield "named", bool(felt.named)
    yield "several felt", len(felt.tags) > 1
    yield "names", min(3, len(named)) / 2
    yield "names felt", bool(named & felt.weights.keys())
    yield "names against", any(sign * felt.valence < 0 for sign in signs)
    yield "passes over", bool(felt.tags) and not x.claims
