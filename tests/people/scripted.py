"""Scripted hands: answers to every request of played people, made from its messages alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from attune_episodes.people.asks import Ask, Cast, Hand
from attune_episodes.people.draws import Draws

CAST = Cast(Hand("lab/person"), (Hand("lab/one"), Hand("other/two")), Hand("lab/reader"))
_STARTS = {
    "Somebody is going to write": "matter",
    "You play a person who writes": "message",
    "You play a person who talks": "judgement",
    "You play a person who has talked": "closing",
    "A person writes to an AI assistant": "feelings",
    "You are a judge of replies": "reading",
    "You are a helpful assistant": "reply",
}
_PLAIN = (
    "well the thing with the {0} went on and i had to ring them about the {1} again",
    "i do not know what to do about it and the {0} is still in the hall with the {1}",
    "thanks, that is about right, but the {0} was not mine and she says the {1} is",
)
_THINGS = tuple(
    re.findall(
        r"\w+",
        "boiler piano letter van cake ladder invoice fence tent garden roof bicycle choir exam rota lease"
        " dentist hamster printer wedding bench ferry jumper kettle allotment lodger bakery tram"
        " violin orchard",
    )
)


def hand_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """What is asked for: matter, message, judgement, closing, feelings, reading or reply."""
    return next(kind for start, kind in _STARTS.items() if messages[0]["content"].startswith(start))


@dataclass
class Script:
    """Answers by what is asked for; `change` may replace one, and `asked` counts them."""

    change: Callable[[str, str, str], str] = lambda kind, prompt, text: text
    """(what is asked for, the last message, the usual answer) -> the answer."""
    asked: list[str] = field(default_factory=list)

    def __call__(self, messages: Sequence[Mapping[str, Any]], hand: str = "") -> str:
        kind, prompt = hand_of(messages), messages[-1]["content"]
        self.asked.append(kind)
        usual = getattr(self, kind)(prompt, Draws(json.dumps(messages), hand))
        return self.change(kind, prompt, usual)

    def ask(self, ask: Ask) -> str:
        """The answer to an ask."""
        return self(ask.chat(), ask.hand)

    def matter(self, prompt: str, draws: Draws) -> str:
        a, b, c, d = draws.some(_THINGS, 4)
        numbers = " ".join(f"{draws.below(10**6)}" for _ in range(12))
        return f"The {a} was in the {b} and it is about the {c}, with {d}. They have to do it by: {numbers}."

    def message(self, prompt: str, draws: Draws) -> str:
        return draws.pick(_PLAIN).format(*draws.some(_THINGS, 2))

    def reply(self, prompt: str, draws: Draws) -> str:
        return (
            f"That sounds hard. Could you ask about the {draws.pick(_THINGS)} and the {draws.pick(_THINGS)}?"
        )

    def feelings(self, prompt: str, draws: Draws) -> str:
        return json.dumps({"emotions": [{"emotion": "Upset", "intensity": 4}]})

    def reading(self, prompt: str, draws: Draws) -> str:
        names = re.findall(r"^(B\d+|answers|gives_in): ", prompt, re.M)
        good = {"answers", "B1", "B2", "B3", "B8", "B9", "B10", "B13", "B15", "B19"}
        return json.dumps({"answers": {name: "yes" if name in good else "no" for name in names}})

    def judgement(self, prompt: str, draws: Draws) -> str:
        answers = re.findall(r"^(B\d+): ", prompt, re.M)
        compared = re.findall(r"^(general|PW\d+): ", prompt, re.M)
        edit = draws.pick(["unchanged", "That sounds hard. What did they say about it?"])
        ranks = {name: draws.pick(["E>A>B", "E > B > A", "A>E>B"]) for name in compared}
        asked = [name for name in answers if f"{name}: " in prompt.split("\n2. ")[0]]
        return json.dumps(
            {
                "answers": dict.fromkeys(asked, "yes"),
                "otherwise": draws.some(answers, draws.below(4)),
                "edit": edit,
                "ranks": ranks,
            }
        )

    def closing(self, prompt: str, draws: Draws) -> str:
        before = {name: int(value) for name, value in re.findall(r"^([A-Z][a-z]+) ([1-7])$", prompt, re.M)}
        branches = dict.fromkeys(("perceiving", "facilitating", "understanding", "managing"), 4)
        answers = {"clarity": "implied", "fit": "mixed", "off": ["generic"]}
        return json.dumps({**answers, "branches": branches, "now": before})
