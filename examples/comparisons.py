"""The task of train_pretrained.py: which of two replies to a message the person found better overall.

Its controls keep what a habit earns, and its baselines tell what can be had without reading, and with it.
"""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from attune_data import Conversation
from attune_env import builtin_policy
from attune_env.audit.attacks import SURFACE
from attune_env.ladder.features import Words
from attune_env.ladder.readers import Linear
from attune_env.ladder.tasks import PREFERRED
from attune_episodes import Settings, plan
from attune_episodes.protocol.prompts import FOLDER

POLICIES: Final = ("prior", "asked", "surface")
HABITS: Final = ("not-the-recorded", "shorter-reply", "longer-reply", "shorter-words", "warmer-reply")
"""Attacks of the reward audit."""
BASELINES: Final = (*POLICIES, *HABITS, "edit", "words", "reader")
ANSWERS: Final = {side: json.dumps({"picks": [side]}) for side in "AB"}
ASKS: Final = """\
{% set c = comparisons[0] %}
Message: {{ user_message }}

A: {{ dict(responses)[c.label_a] }}

B: {{ dict(responses)[c.label_b] }}

{{ pairwise_questions[0][1] }} JSON: {"picks": ["A|B"]}
"""


@dataclass(frozen=True)
class Pair:
    """A comparison of two replies overall, and the kind of reply that won."""

    whole: Conversation
    turn: Any
    kinds: tuple[str, str]
    won: str
    read: str  # what wins by the texts that are shown

    def both(self, place: int) -> Iterator[Conversation]:
        """It in both orders, as conversations that ask nothing else: a letter is right in one of the two."""
        for a, b in (self.kinds, self.kinds[::-1]):
            told = {"question_id": "general", "response_a": a, "response_b": b, "winner": "AB"[self.won != a]}
            asked = self.turn.comparisons[0].model_copy(update=told)
            notes = self.turn.annotations.model_copy(update={"pairwise_comparisons": (asked,)})
            name = f"{place}-{self.whole.conversation_id}-{a}-{b}"
            turns = (self.turn.model_copy(update={"annotations": notes}),)
            yield self.whole.model_copy(update={"conversation_id": name, "turns": turns})


def pairs(data: Iterable[Conversation], edits: bool = True) -> list[Pair]:
    """The comparisons of two replies overall; without `edits`, those of the assistants' replies alone."""
    return [
        Pair(whole, turn, kinds := (pair.response_a, pair.response_b), won := kinds[pair.winner == "B"], won)
        for whole, turn in ((whole, turn) for whole in data for turn in whole.turns)
        for pair in turn.comparisons
        if pair.question_id == "general" and pair.winner is not None
        if edits or "human" not in (pair.response_a, pair.response_b)
    ]


def conversations(items: Iterable[Pair]) -> list[Conversation]:
    """The comparisons, each in both orders."""
    return [one for place, item in enumerate(items) for one in item.both(place)]


def winners(items: Iterable[Pair]) -> list[str]:
    """The right answers to comparisons in the first order."""
    return ["AB"[item.won != item.kinds[0]] for item in items]


def told(items: Iterable[Pair]) -> list[dict[str, str]]:
    """The right answers to comparisons in both orders, as messages."""
    sides = (side for first in winners(items) for side in (first, "BA"["AB".index(first)]))
    return [{"role": "assistant", "content": ANSWERS[side]} for side in sides]


def by_kinds(items: Sequence[Pair]) -> list[list[int]]:
    """The places of comparisons of the same two kinds of reply, person by person."""
    groups = defaultdict(list)
    for place in sorted(range(len(items)), key=lambda place: str(items[place].whole.participant)):
        groups[frozenset(items[place].kinds)].append(place)
    return list(groups.values())


def shuffled(items: Sequence[Pair], seed: int) -> list[Pair]:
    """The comparisons with winners shuffled within each pair of kinds: habits by kind still pay."""
    found, draw = list(items), random.Random(seed)
    for places in by_kinds(items):
        for place, other in zip(places, draw.sample(places, len(places)), strict=True):
            found[place] = replace(items[place], won=items[other].won)
    return found


def swapped(items: Sequence[Pair]) -> list[Pair]:
    """The comparisons with another person's replies under the message: habits earn as before.

    All replies are used once. Where one person has more than half of a kind, some are of the same person.
    """
    found = list(items)
    for places in by_kinds(items):
        shift = max(Counter(items[place].whole.participant for place in places).values())
        for place, other in zip(places, places[shift:] + places[:shift], strict=True):
            message = {"user_message": items[place].turn.user_message}
            turn = items[other].turn.model_copy(update=message)
            found[place] = replace(items[place], turn=turn, read=items[other].won)
    return found


def settings(folder: Path) -> Settings:
    """How a comparison is asked, with the prompts written to a folder."""
    shutil.copytree(FOLDER / "compact", folder, dirs_exist_ok=True)
    for name, text in (("system", "Say which reply the person found better."), ("prefer", ASKS)):
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return Settings(stages=("prefer",), prompts=str(folder), labels="official")


class Baselines:
    """Answers without a language model: fitted policies and words, habits, and a faultless reader."""

    def __init__(self, fit_on: Sequence[Pair], asked: Settings) -> None:
        self.fit_on, self.asked = conversations(fit_on), asked
        self.words = Linear(Words(), self.fit_on[::2])

    def answers(self, name: str, items: Sequence[Pair]) -> list[list[float]]:
        """For both orders of each comparison: 1 for A, -1 for B, 0 for neither."""
        asks, said = conversations(items), list[float]()
        if name in POLICIES:
            policy = builtin_policy(name, asks, self.asked, fit_on=self.fit_on)
            said = ['"A"' in policy.for_conversation(one).reply(plan(one, self.asked)[0]) for one in asks]
        elif name in HABITS:
            said = ['"A"' in SURFACE[name](plan(one, self.asked)[0], {}) for one in asks]
        elif name == "words":
            read = self.words.read(asks).items()
            picks = {key.conversation: yes for (model, key), yes in read if model[0] == PREFERRED}
            said = [picks.get(one.conversation_id, 0.5) for one in asks]
        else:
            for item in items:
                best = "human" if name == "edit" else item.read
                said += [float(kind == best) if best in item.kinds else 0.5 for kind in item.kinds]
        return [[2.0 * one - 1, 2.0 * other - 1] for one, other in zip(said[::2], said[1::2], strict=True)]
