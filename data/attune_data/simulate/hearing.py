"""How a person receives a reply in a live conversation: what they want from it, and what it is worth to them.

    wants    V = W - price above the price, W below 0, 0 between;  W = wish - wear·worn + moves of the moment
             (the price is the attention that any act asks: what is merely welcome earns nothing)
    worth    Σ V·done + claim·match·(1, or calm if nothing shifted) - length - brevity - staleness

The wishes come from `constructs.wishes`. The worth lies in [-1.5, 2.5]. All numbers are guesses.
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
"""The attention that every act of a reply costs: an act earns only the part of its wish above this."""
BORNE: Final = 0.4
"""How unwanted an act may be before it costs anything."""
LEFT_OUT: Final = frozenset({*CONTEXTUAL, "B7"})
"""Constructs that do not count: what they judge is counted separately, or they mean nothing on their own."""
AT_ONCE: Final = 3
"""How many wanted acts count at a time: the most wanted ones."""
WEAR: Final = 0.9
"""Subtracted from the wish for an act that the last reply performed."""
FADES: Final = 0.6
"""The share of the wear that remains one turn later."""
SUPPORT: Final = frozenset({"B1", "B3", "B15", "B19", "B108"})
"""Acts that people want until they feel heard."""
WORK: Final = frozenset({"B11", "B12", "B316", "B501", "B505"})
"""Acts that people want once they feel heard, or when they ask for them."""
TURN: Final = 0.5
"""How much feeling heard changes the wish for SUPPORT and WORK."""
ASKED: Final = 0.7
"""Added to the wish for WORK if the message asks for it, and subtracted from the wish for questions."""
CLAIM: Final = 2.2
SIGN: Final = 0.05
"""Value of a claim that is right only in its sign (the right family is worth 1): guessing gets half right."""
UNSEEN: Final = 0.35
"""The cost of not mentioning a feeling that shifted."""
OMITTED: Final = 0.2
"""The share of a wanted act that is taken for granted: doing less costs."""
CALM: Final = 0.4
"""The weight of a claim about the feeling when no feeling shifted, relative to when one did."""
LENGTH: Final = (80, 30, 0.22)
"""(words above which a reply is long, step, cost per step of extra words); terse people mind more."""
BRIEF: Final = (8, 0.6)
"""(original words below which a reply is too short, cost of a reply without any)."""
STALE: Final = 0.8
"""The cost of a reply that only repeats earlier ones."""
BOUNDS: Final = (-1.5, 2.5)


class Heard(NamedTuple):
    """The acts found in a reply."""

    done: Mapping[str, float]
    """Construct -> how certainly the reply shows it, in [0, 1]; constructs that were not read are absent."""
    claims: tuple[str, ...]
    """The families of feelings that the reply attributes to the person."""
    words: int
    own: int
    """Number of words that are neither copied nor repeated."""
    stale: float = 0.0
    """The share of the reply that repeats earlier replies, in [0, 1]."""
    question: str = ""
    """The last question in the reply."""
    advice: str = ""
    """The advice in the reply."""


@dataclass(slots=True)
class Bond:
    """The effect of the replies so far on the person in one conversation."""

    trust: float = 0.0
    """In [-1, 1]."""
    heard: float = 0.0
    """How far they feel understood, in [0, 1]."""
    lift: float = 0.0
    """Change in positive minus negative affect due to the replies; depends only on their fit."""
    misses: int = 0
    """Number of replies that missed minus those that did not, never below 0."""
    disclosed: bool = False
    """Whether the person has disclosed what they held back."""
    worn: dict[str, float] = field(default_factory=dict)
    """Construct -> how much replies have shown it so far, with the most weight on the last turn."""


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
    """The cost of repeating earlier replies, 0 or less."""


def wants(story: Story, bond: Bond) -> dict[str, float]:
    """Construct -> what it is worth to the person at this moment; below 0 if it is unwanted.

    Judgements are left out: what they judge (the claim, the tone) counts separately.
    """
    goal, message = story.goals[0], story.message
    seeks = message.asks and goal in ("decide", "info")
    found, occasion = {}, applies(story)
    for construct, wish in wishes(story).items():
        if construct in LEFT_OUT or (construct == "B206" and not occasion[construct]):
            continue
        if wish > 0 and not occasion.get(construct, True):
            wish = 0.0  # not called for here
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
    """How right the claims about the feeling are: 1 the family, `SIGN` only its sign, -1.2 neither.

    The worst claim counts; 0 without any.
    """
    worst = min((rightness(story, claim) for claim in claims), default=0.0)
    return SIGN if 0 < worst < 1 else worst


def take(story: Story, wants: Mapping[str, float], heard: Heard) -> Taken:
    """Compute the worth of a reply to a person with these wants."""
    right = match(story, heard.claims)
    wanted, unwanted = [], []
    now = {q: value for q, value in wants.items() if q in heard.done}
    most = sorted(now, key=lambda q: (-now[q], q))[:AT_ONCE]
    for construct, value in now.items():
        done = heard.done[construct]
        if value > 0:
            if construct not in most:
                continue
            # a wrong claim cancels the support around it, and B1 counts only if the feeling named is right
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
    """Update trust, feeling heard, lift and wear after a reply."""
    right = match(story, heard.claims)
    bond.trust = clip(0.7 * bond.trust + 0.45 * fit, -1.0, 1.0)
    gain = 0.45 * max(0.0, right) + 0.25 * (heard.done.get("B15", 0.0) + heard.done.get("B19", 0.0))
    bond.heard = bond.heard * 0.6 if right < 0 else bond.heard + (1.0 - bond.heard) * min(1.0, gain)
    bond.lift = 0.7 * bond.lift + 1.45 * fit
    bond.worn = {
        construct: FADES * bond.worn.get(construct, 0.0) + heard.done.get(construct, 0.0)
        for construct in sorted(bond.worn.keys() | heard.done.keys())
    }
