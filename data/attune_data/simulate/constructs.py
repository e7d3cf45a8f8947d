"""Constructs of a reply: whether it shows them, whether people judge that it does, and if they wanted it.

*Textual* constructs follow from the acts, from what was said before and from the message: they are facts
about the text. *Contextual* ones are the person's judgements, drawn from the state with known noise.

Wish = 0.8·(base + by goal) + by activation·need + 0.35·(by agreeableness, neuroticism, openness) + own taste.
All its numbers are guesses based on what people report to like, as docs/simulator.md says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from attune_data.simulate.acts import ASKING, NAMING
from attune_data.simulate.draws import squash
from attune_data.simulate.replies import Reply
from attune_data.simulate.story import Story


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
    "B406": Wish(-0.5, {}, 0.1, (-0.1, 0.1, 0)),
    "B408": Wish(-1.7, {}, -0.1, (0.2, 0, 0)),
    "B501": Wish(0.0, {"sort": 1.0, "info": -0.8, "vent": -0.2}, -0.1, (0, 0, 0.5)),
    "B502": Wish(-1.8, {"sort": 0.6, "decide": 0.4, "vent": -0.9}, -0.5, (0.5, -0.2, 0.3)),
    "B503": Wish(-1.8, {"sort": 0.7, "decide": 0.4, "vent": -0.6}, -0.2, (0.1, -0.1, 0.4)),
    "B504": Wish(-1.8, {"sort": 0.6, "decide": 0.3, "info": -0.6}, 0.1, (0, 0.2, 0.3)),
    "B505": Wish(-0.1, {"sort": 1.0, "info": -0.8, "vent": -0.3}, -0.1, (0, 0, 0.5)),
}
ACCEPTANCE: Final = 1.1
"""How strongly people endorse what a reply did if the reply suited them."""


def wishes(story: Story) -> dict[str, float]:
    """Construct -> the person's wish for it at this moment."""
    person, goal, need = story.person, story.goals[0], story.mood.need
    a, n, o = person.traits
    return {
        construct: 0.8 * (wish.base + wish.goals.get(goal, 0.0))
        + wish.need * need
        + 0.35 * (wish.traits[0] * a + wish.traits[1] * n + wish.traits[2] * o)
        + person.taste[construct]
        for construct, wish in WISHES.items()
    }


def preferred_probability(wish: float, observed: bool, fit: float, noise: float) -> float:
    """Probability that the person wanted a construct, given whether the reply showed it and how it fitted."""
    swayed = ACCEPTANCE * (1.0 if observed else -1.0) * (0.55 + 0.45 * fit)
    return squash(1.7 * (wish + swayed) / noise)


CONTEXTUAL: Final = ("B2", "B8", "B9", "B10", "B20", "B109")
"""Constructs that the person judges; all others are textual."""


def applies(story: Story) -> dict[str, bool]:
    """Construct -> whether it applies at this moment; holds only those that do not always apply."""
    message, begun = story.message, story.number > 0
    return {
        "B4": len(story.mood.tags) > 1,
        "B5": story.before not in (None, story.mood.family),
        "B16": begun and message.reaction != 0,
        "B17": message.risk is not None,
        "B18": message.risk is not None,
        "B108": message.named is not None,
        "B206": story.person.typing.register != "formal",
        "B406": begun,
        "B408": begun,
    }


def textual(story: Story, reply: Reply) -> dict[str, bool | None]:
    """Textual construct -> whether the reply shows it; None where it does not apply."""
    acts, message = reply.acts, story.message
    named = bool(acts & NAMING)
    advises = bool(acts & {"advise", "generic"})
    infers = any(sentence.presumes for sentence in reply.sentences.values())
    asks = bool(acts & ASKING)
    here = applies(story)
    return {
        "B1": named,
        "B3": bool(reply.used & message.told) or reply.echoes,
        "B4": True if acts & {"claim_second", "emote"} else False if here["B4"] else None,
        "B5": True if "shift" in acts else False if here["B5"] else None,
        "B6": infers,
        "B7": ("infer" in acts and reply.sentences["infer"].hedged) if infers else None,
        "B11": advises or bool(acts & {"reflect", "safety"}),
        "B12": "reason" in acts,
        "B13": asks,
        "B14": "moral" in acts,
        "B15": reply.echoes,
        "B16": "adapt" in acts if here["B16"] else None,
        "B17": "risk" in acts if here["B17"] else None,
        "B18": "safety" in acts if here["B18"] else None,
        "B19": "validate" in acts,
        "B108": "own_word" in acts if here["B108"] else None,
        "B206": "clinical" in acts and here["B206"],
        "B207": "emote" in acts,
        "B310": "generic" in acts,
        "B311": "drift" in acts,
        "B313": advises and not story.asked and not reply.asks_before_advising,
        "B315": bool(acts & {"aside", "drift"}),
        "B316": "hard" in acts,
        "B406": "correct" in acts if here["B406"] else None,
        "B408": ("advise" in acts and reply.plan in story.plans) if here["B408"] else None,
        "B501": bool(acts & {"reflect", "ask_reflect"}),
        "B502": "side" in acts,
        "B503": "readings" in acts,
        "B504": "complex" in acts,
        "B505": "ask_reflect" in acts,
    }


def match(story: Story, reply: Reply) -> float:
    """How right the claims about the feeling are.

    The worst one counts: 1 the family, 0.3 its sign, -1.2
    neither; 0 if nothing is claimed.
    """
    return min((rightness(story, claim) for claim in reply.claims), default=0.0)


def rightness(story: Story, claim: str) -> float:
    """How right it is to say that the person's feeling is of the family `claim`: 1, 0.3 or -1.2."""
    mood = story.mood
    if claim in (mood.family, mood.second_family):
        return 1.0
    return 0.3 if story.texts.families[claim].sign == mood.sign else -1.2


def off_key(story: Story, reply: Reply) -> float:
    """How much the reply's tone jars, 0 or more: from forced cheer, anger, jargon and changes of topic."""
    acts = reply.acts
    cheers = "cheer" in acts and story.mood.sign < 0
    return 1.0 * cheers + 0.7 * ("heat" in acts) + 0.5 * ("clinical" in acts) + 1.2 * ("drift" in acts)


def judgement_probabilities(story: Story, reply: Reply, fit: float) -> dict[str, float]:
    """Contextual construct -> probability of "yes", where it applies.

    σ(1.5 · sharpness · (β₀ + β · state + leniency)); `fit` lies in [-1, 1].
    """
    acts, mood, lenient = reply.acts, story.mood, story.person.leniency
    named, right, jars = bool(acts & NAMING), match(story, reply), off_key(story, reply)
    wrong = right < 0
    warmth = (0 if wrong else named) + ("validate" in acts) - max(mood.need, 0.4)
    states = {
        "B8": 0.9 + 1.0 * fit + 1.0 * right + 0.5 * warmth - 2.2 * jars - 2.0 * wrong + lenient,
        "B9": 0.9 + 0.8 * fit + 1.1 * warmth - 2.2 * ("cheer" in acts) - 3.0 * wrong + lenient,
        "B10": 0.7 + 0.8 * fit + 1.2 * right - 0.4 * abs(warmth) - 1.5 * jars + lenient,
        "B20": -1.2 - 0.7 * fit - 0.6 * right + 0.5 * ("side" in acts) + 3.0 * ("heat" in acts)
        + 1.2 * ("moral" in acts) + 1.2 * ("emote" in acts) - lenient,
    }  # fmt: skip
    if named:
        states["B2"] = 0.6 + 2.4 * right + lenient
    if len(mood.tags) > 1:
        central = reply.claims[:1] == [mood.family]
        states["B109"] = (1.6 if central else -1.4) + 0.5 * fit + lenient
    sharpness = story.level.judgement * (1.2 - 0.6 * story.number / story.count)
    return {construct: squash(1.5 * sharpness * x) for construct, x in states.items()}
