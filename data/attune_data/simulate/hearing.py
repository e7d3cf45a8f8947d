"""How a person takes a reply in a live conversation: what they want from it, and what it is worth to them.

    wants    V = W - price above the price, W below 0, 0 between;  W = wish - wear·worn + moves of the moment
             (the price is the attention that any act asks: what is merely welcome earns nothing)
    worth    Σ V·done + claim·match·(1, or calm if nothing shifted) - length - brevity - staleness

Wishes are those of `constructs.wishes`. The worth lies in [-1.5, 2.5]. All numbers are guesses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from attune_data.simulate.constructs import CONTEXTUAL, applies, rightness, wishes
from attune_data.simulate.draws import clip
from attune_data.simulate.story import Story

PRICE: Final = 0.7
"""The attention that any act of a reply takes: it earns what it is wished beyond this."""
BORNE: Final = 0.4
"""How much people bear of an act that they do not want before it costs anything."""
LEFT_OUT: Final = frozenset({*CONTEXTUAL, "B7"})
"""Constructs that do not count: what they judge counts by itself, or they mean nothing alone."""
AT_ONCE: Final = 3
"""How many things people want at a time: the ones they want most."""
WEAR: Final = 0.9
"""Taken off the wish for an act that was just done."""
FADES: Final = 0.6
"""The share of the wear that is left a turn later."""
SUPPORT: Final = frozenset({"B1", "B3", "B15", "B19", "B108"})
"""Acts that people want until they have been heard."""
WORK: Final = frozenset({"B11", "B12", "B316", "B501", "B505"})
"""Acts that people want once they have been heard, or when they ask for them."""
TURN: Final = 0.5
"""How far being heard moves the wish for both."""
ASKED: Final = 0.7
"""Added to the wish for work in a message that asks for it, taken off the one for questions."""
CLAIM: Final = 2.2
SIGN: Final = 0.05
"""Being right in the sign alone, where the family is worth 1: a coin is right half of the time."""
UNSEEN: Final = 0.35
"""The cost of saying nothing of a feeling that shifted."""
OMITTED: Final = 0.2
"""The share of what is wanted that anybody expects: doing less costs."""
CALM: Final = 0.4
"""The weight of a claim about the feeling where none shifted, against one where one did."""
LENGTH: Final = (80, 30, 0.22)
"""Words from which a reply is long, and what so many more of them cost (1.4 times that, for terse people)."""
BRIEF: Final = (8, 0.6)
"""Words of its own below which a reply is no answer, and what none at all costs."""
STALE: Final = 0.8
"""The cost of a reply all of which was said before."""
BOUNDS: Final = (-1.5, 2.5)


class Heard(NamedTuple):
    """The acts found in a reply."""

    done: Mapping[str, float]
    """Construct -> how surely the reply shows it, in [0, 1]; those not named were not read."""
    claims: tuple[str, ...]
    """The families of feelings that it says the person has."""
    words: int
    own: int
    """Those of them that are neither copied nor said before."""
    stale: float = 0.0
    """The share of it that earlier replies said, in [0, 1]."""
    question: str = ""
    """The last question that it asks."""
    advice: str = ""
    """The advice in it."""


@dataclass(slots=True)
class Bond:
    """The effect of the replies so far on the person in one conversation."""

    trust: float = 0.0
    """In [-1, 1]."""
    heard: float = 0.0
    """How far they feel understood, in [0, 1]."""
    lift: float = 0.0
    """Positive less negative affect, less what it would be without any reply: moved by fit alone."""
    misses: int = 0
    """Replies in a row that missed, less those that did not."""
    disclosed: bool = False
    """Whether what was held back is told."""
    worn: dict[str, float] = field(default_factory=dict)
    """Construct -> how much it has been done, the last turn counting most."""


class Taken(NamedTuple):
    """The worth of a reply to the person, and its parts."""

    worth: float
    wanted: float
    """From acts that were wanted: Σ V·done, 0 or more."""
    unwanted: float
    """From acts that were not wanted: Σ V·done, 0 or less."""
    claim: float
    """From what it says they feel."""
    length: float
    """The cost of being too long or too short, 0 or less."""
    stale: float
    """The cost of saying it again, 0 or less."""


def wants(story: Story, bond: Bond) -> dict[str, float]:
    """Construct -> what doing it is worth to the person in this moment; below 0 if it is unwanted.

    Judgements are left out: what they judge (the claim, the tone) counts separately.
    """
    goal, message = story.goals[0], story.message
    seeks = message.asks and goal in ("decide", "info")
    found, occasion = {}, applies(story)
    for construct, wish in wishes(story).items():
        if construct in LEFT_OUT or (construct == "B206" and not occasion[construct]):
            continue
        if wish > 0 and not occasion.get(construct, True):
            wish = 0.0  # nobody misses it here
        if construct in SUPPORT:
            wish += TURN * (0.5 - bond.heard)
        elif construct in WORK:
            wish += ASKED if seeks else TURN * (bond.heard - 0.5)
        elif construct == "B13" and seeks:
            wish -= ASKED
        if wish > 0:
            wish = max(0.0, wish - WEAR * bond.worn.get(construct, 0.0))
        found[construct] = max(wish - PRICE, 0.0) + min(wish + BORNE, 0.0)
    return found


def match(story: Story, claims: tuple[str, ...]) -> float:
    """How right claims about the feeling are: 1 the family, `SIGN` its sign, -1.2 neither; 0 without any.

    The worst of them counts.
    """
    worst = min((rightness(story, claim) for claim in claims), default=0.0)
    return SIGN if 0 < worst < 1 else worst


def take(story: Story, wants: Mapping[str, float], heard: Heard) -> Taken:
    """Value a reply for a person with these wants."""
    right = match(story, heard.claims)
    wanted, unwanted = [], []
    now = {q: value for q, value in wants.items() if q in heard.done}
    most = sorted(now, key=lambda q: (-now[q], q))[:AT_ONCE]
    for construct, value in now.items():
        done = heard.done[construct]
        if value > 0:
            if construct not in most:
                continue
            # a wrong claim spoils what was said around it, and naming no feeling, or another, names none
            if right < 0 and construct in SUPPORT:
                done = 0.0
            elif construct == "B1":
                done *= max(0.0, right)
            wanted.append(value * (done - OMITTED))
        else:
            unwanted.append(value * done)
    claim = CLAIM * right * (1.0 if story.mood.tags else CALM)
    if story.mood.tags and not heard.claims:
        claim = -UNSEEN
    length = _length(heard.words) * (1.4 if story.person.typing.register == "terse" else 1.0)
    length -= BRIEF[1] * max(0.0, 1.0 - heard.own / BRIEF[0])
    stale = -STALE * heard.stale
    parts = math.fsum(wanted), math.fsum(unwanted), claim, length, stale
    return Taken(clip(math.fsum(parts), *BOUNDS), *parts)


def _length(words: int) -> float:
    enough, step, cost = LENGTH
    return -cost * max(0, words - enough) / step


def remember(story: Story, bond: Bond, heard: Heard, fit: float) -> None:
    """Take a reply: update trust, being heard, wear and misses."""
    right = match(story, heard.claims)
    bond.trust = clip(0.7 * bond.trust + 0.45 * fit, -1.0, 1.0)
    gain = 0.45 * max(0.0, right) + 0.25 * (heard.done.get("B15", 0.0) + heard.done.get("B19", 0.0))
    bond.heard = bond.heard * 0.6 if right < 0 else bond.heard + (1.0 - bond.heard) * min(1.0, gain)
    bond.lift = 0.7 * bond.lift + 1.45 * fit
    bond.worn = {
        construct: FADES * bond.worn.get(construct, 0.0) + heard.done.get(construct, 0.0)
        for construct in sorted(bond.worn.keys() | heard.done.keys())
    }
