"""Wishes for a reply, construct by construct, and the preferred labels that follow.

Wish = 0.8·(base + by goal) + by activation·need + 0.35·(by agreeableness, neuroticism, openness) + own taste.
All numbers are guesses in the spirit of what people report to like; docs/simulator.md says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from attune_data.simulate.draws import squash


class Wish(NamedTuple):
    """How much people want one construct of a reply; 0 is indifferent."""

    base: float
    goals: Mapping[str, float] = {}
    need: float = 0.0
    """Weight of how much support the moment calls for."""
    traits: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Weights of agreeableness, neuroticism, openness."""


WISHES: Final[Mapping[str, Wish]] = {
    "B1": Wish(0.9, {"vent": 0.4, "calm": 0.4, "info": -0.9}, 0.5, (0.2, 0.3, 0)),
    "B2": Wish(1.5),
    "B3": Wish(1.5, {}, 0.1, (0, 0, 0.2)),
    "B4": Wish(0.0, {"sort": 0.8, "info": -0.5}, 0.1, (0, 0.2, 0.3)),
    "B5": Wish(0.1, {"sort": 0.6, "info": -0.5}, 0.1, (0, 0.1, 0.2)),
    "B6": Wish(-0.6, {"sort": 0.7}, -0.3, (0, -0.3, 0.4)),
    "B7": Wish(0.8, {}, 0.1, (0, 0.2, 0)),
    "B8": Wish(1.6),
    "B9": Wish(1.5),
    "B10": Wish(1.5),
    "B11": Wish(0.1, {"vent": -1.5, "decide": 1.1, "info": 1.4, "sort": -0.3}, -0.4, (0.1, -0.2, 0)),
    "B12": Wish(0.2, {"info": 0.8, "sort": 0.5, "vent": -0.7}, -0.3, (0, -0.2, 0.3)),
    "B13": Wish(0.3, {"sort": 0.6, "vent": -0.2, "info": -0.5}, -0.1, (0.2, 0, 0.3)),
    "B14": Wish(-0.9, {"vent": 0.7}, 0.3, (-0.3, 0.3, -0.2)),
    "B15": Wish(0.8, {"sort": 0.3}, 0.1, (0.2, 0.1, 0)),
    "B16": Wish(1.2, {}, 0.2),
    "B17": Wish(0.5, {}, 0.2, (0.1, 0.2, 0)),
    "B18": Wish(0.2, {"info": 0.4}, 0.1, (0.1, 0.2, 0)),
    "B19": Wish(0.8, {"vent": 0.7, "calm": 0.7, "info": -0.9}, 0.5, (0.3, 0.3, 0)),
    "B20": Wish(-1.5),
    "B108": Wish(1.0, {"vent": 0.3}, 0.1),
    "B109": Wish(1.1, {"sort": 0.4}, 0.1),
    "B206": Wish(-1.7, {"info": 0.6}, -0.2, (0, -0.2, 0)),
    "B207": Wish(-1.3, {"vent": 0.3}, 0.1),
    "B310": Wish(-1.6, {}, -0.2, (0.2, 0, 0)),
    "B311": Wish(-1.8, {}, -0.2, (0.1, 0, 0.2)),
    "B313": Wish(-0.9, {"info": 0.9}, -0.2),
    "B315": Wish(-1.0, {"sort": 0.3}, -0.2, (0, 0, 0.4)),
    "B316": Wish(0.1, {"decide": 0.7, "vent": -0.9}, -0.1, (0, 0.2, 0)),
    "B406": Wish(0.8, {}, 0.1, (-0.1, 0.1, 0)),
    "B408": Wish(-1.7, {}, -0.1, (0.2, 0, 0)),
    "B501": Wish(0.0, {"sort": 1.0, "info": -0.8, "vent": -0.2}, -0.1, (0, 0, 0.5)),
    "B502": Wish(-0.5, {"sort": 0.6, "decide": 0.4, "vent": -0.9}, -0.5, (0.5, -0.2, 0.3)),
    "B503": Wish(-0.1, {"sort": 0.7, "decide": 0.4, "vent": -0.6}, -0.2, (0.1, -0.1, 0.4)),
    "B504": Wish(-0.1, {"sort": 0.6, "decide": 0.3, "info": -0.6}, 0.1, (0, 0.2, 0.3)),
    "B505": Wish(-0.1, {"sort": 1.0, "info": -0.8, "vent": -0.3}, -0.1, (0, 0, 0.5)),
}
ACCEPTANCE: Final = 1.1
"""How far people endorse what a reply did that suited them."""


def wishes(
    goal: str, need: float, traits: tuple[float, float, float], taste: Mapping[str, float]
) -> dict[str, float]:
    """Construct -> wish, in this moment."""
    a, n, o = traits
    return {
        construct: 0.8 * (wish.base + wish.goals.get(goal, 0.0))
        + wish.need * need
        + 0.35 * (wish.traits[0] * a + wish.traits[1] * n + wish.traits[2] * o)
        + taste[construct]
        for construct, wish in WISHES.items()
    }


def preferred_probability(wish: float, observed: bool, fit: float, noise: float) -> float:
    """Probability that the person would have wanted it, given what the reply did and how well it fitted."""
    swayed = ACCEPTANCE * (1.0 if observed else -1.0) * (0.55 + 0.45 * fit)
    return squash(1.7 * (wish + swayed) / noise)
