"""Predict how the person left the conversation, from the feelings read, the replies and the reactions.

English only. People who talk something through with a good listener usually end calmer than they began; how
much calmer depends on the quality of the replies and on the feelings in their last messages.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from attune_data.format.affect import EMOTIONS, NEGATIVE, POLARITY, POSITIVE, TOTALS
from attune_data.format.constants import BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_episodes.protocol.request import Request
from attune_rewards.metrics.panas import spread
from attune_rewards.predictions import Reflect
from attune_rewards.reading.cues import shared
from attune_rewards.reading.exchange import Exchange
from attune_rewards.reading.feelings import Feelings

TYPICAL: Final = (30.0, 25.0)
"""Totals of an ordinary day, used if the earlier ones are not given."""
EASED: Final = (0.25, 0.5)
"""Share of the distance to the pleasant end by which a well-fitting conversation moves each total."""
FITS: Final = (1.0, 0.8, 0.3, -0.2)
"""The same share by how well the replies fit, best first."""
LIMITS: Final = (0.15, 0.8, 1.4)
"""Faults per turn up to which replies fit very well, mostly, in part."""
SCORES: Final = (6, 5, 3, 2)
"""Branch score by how well the replies fit."""
FOLLOW_UPS: Final = {
    "advice": "It gave advice before it understood",
    "missed": "It missed what I was feeling",
    "generic": "It felt generic",
    "stiff": "It sounded formal or clinical",
    "repeats": "It repeated itself",
}


def reflected(request: Request) -> Reflect:
    """Answer the questions after the last turn."""
    history = request.history
    exchanges = [Exchange(*pair, history[:turn]) for turn, pair in enumerate(history)]
    troubles = _troubles(exchanges)
    fit = _fit(troubles, exchanges)
    after, change = _panas(request, [x.before.felt for x in exchanges], fit)
    off = [FOLLOW_UPS[name] for name, number in troubles.most_common(2) if number and fit > 1]

    def option(question: str, ours: str) -> str:
        """Our text, or the option that shares the most words with it."""
        given = request.options.get(question, ())
        return ours if not given or ours in given else max(given, key=lambda text: shared(text, ours))

    return Reflect(
        panas={} if request.wants_change else after,
        panas_change=change if request.wants_change else None,
        q1=(option("q1_lookingFor", Q1_OPTIONS[_goal(exchanges)]),),
        q2=option("q2_emotionClarity", Q2_OPTIONS[_clarity([x.before.felt for x in exchanges])]),
        q3=option("q3_modelFit", Q3_OPTIONS[fit]),
        q3_follow_up=tuple(dict.fromkeys(option("q3_followUp_whatFeltOff", text) for text in off)),
        branches=dict.fromkeys(BRANCHES, SCORES[fit]),
    )


def _troubles(exchanges: Sequence[Exchange]) -> Counter[str]:
    """The faults of the replies, and how often each occurred."""
    found: Counter[str] = Counter()
    for x in exchanges:
        found["advice"] += bool(x.advice) and not x.before.practical and bool(x.before.felt.tags)
        found["missed"] += bool(x.before.felt.tags) and not x.claims
        found["generic"] += x.has("generic")
        found["stiff"] += x.stiff
        found["repeats"] += x.repeats_advice and not x.before.practical
    return found


def _fit(troubles: Counter[str], exchanges: Sequence[Exchange]) -> int:
    """How well the replies fit, as an index into the four answers, best first."""
    protests = sum(x.before.seeks("complaint") for x in exchanges[1:])
    thanks = sum(x.before.seeks("thanks") for x in exchanges[1:])
    load = troubles.total() - 0.5 * troubles["advice"] + 2 * protests - 0.5 * thanks
    return sum(load / (len(exchanges) or 1) > limit for limit in LIMITS)


def _panas(request: Request, felt: Sequence[Feelings], fit: int) -> tuple[dict[str, int], dict[str, int]]:
    """The items after the conversation, and their changes."""
    last = felt[-1].valence if felt else 0.0
    before = request.pre_totals or TYPICAL
    after: dict[str, int] = {}
    change: dict[str, int] = {}
    for side, names in enumerate((POSITIVE, NEGATIVE)):
        goal = TOTALS[1] if side == 0 else TOTALS[0]
        moved = round((goal - before[side]) * EASED[side] * (FITS[fit] + 0.3 * last))
        strength = {name: math.fsum(reading.weights.get(name, 0.0) for reading in felt) for name in names}
        order = sorted(names, key=lambda name: (-strength[name], EMOTIONS.index(name)))
        after |= spread(round(before[side]) + moved, order)
        # feelings that were read may change more
        change |= spread(moved, order if moved > 0 else order[::-1], low=-6, high=6)
    return {name: after[name] for name in EMOTIONS}, {name: change[name] for name in EMOTIONS}


def _goal(exchanges: Sequence[Exchange]) -> int:
    """The person's goal, as an index into the options of Q1."""
    if any(x.before.seeks("no_advice") for x in exchanges):
        return 0
    if any(x.before.seeks("calm") for x in exchanges[:2]):
        return 5
    if exchanges and "?" in exchanges[0].message and exchanges[0].before.seeks("advice"):
        return 2 if exchanges[0].before.seeks("decision") else 4
    return 4 if sum(x.before.asks for x in exchanges) > len(exchanges) / 2 else 1


def _clarity(felt: Sequence[Feelings]) -> int:
    """How clear the feelings were, as an index into the options of Q2."""
    feeling = [reading for reading in felt if reading.tags]
    mixed = sum(len({POLARITY[tag.emotion] for tag in reading.tags}) > 1 for reading in feeling)
    if mixed * 2 > len(feeling):
        return 2
    named = sum(any(tag.emotion in reading.named for tag in reading.tags) for reading in feeling)
    return 0 if feeling and named * 2 > len(feeling) else 1
