"""Good replies earn more than attacks: replies and readings by separate hands, recorded once."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from attune_episodes.people.cards import Card
from attune_episodes.people.live import CONSTANT, paid
from attune_episodes.people.state import first_state, fit, wishes
from attune_rewards.predictions import Tag, YesNo
from attune_rewards.reading import Exchange

RECORDED = json.loads(Path(__file__).with_name("replies.json").read_text("utf-8"))
PEOPLE: list[dict[str, Any]] = RECORDED["people"]


@cache
def earned(number: int) -> dict[str, tuple[float, float]]:
    """Reply -> the share of wishes that it meets, and its reward."""
    person = PEOPLE[number]
    card = Card.from_record(person["card"])
    wanted = wishes(card, first_state(card), tuple(Tag(*tag) for tag in person["tags"]))
    replies = {f"good {i}": (one["text"], one["yes"]) for i, one in enumerate(person["good"], 1)}
    fixed = RECORDED["attacks"] | {"parrot": person["message"]}
    replies |= {name: (fixed[name], yes) for name, yes in person["attacks"].items()}
    replies["silence"] = ("", "")
    found = {}
    for name, (text, yes) in replies.items():
        read: dict[str, YesNo] = dict.fromkeys((*card.asked, "answers", "gives_in"), "no")
        read |= dict.fromkeys(yes.split(), "yes")
        found[name] = (fit(wanted, read), paid(Exchange(person["message"], text, ()), wanted, read)[1])
    return found


@pytest.mark.parametrize("number", range(len(PEOPLE)), ids=[person["card"]["id"] for person in PEOPLE])
def test_good_replies_earn_more_than_the_best_attack(number: int) -> None:
    rewards = {name: reward for name, (_, reward) in earned(number).items()}
    good = [reward for name, reward in rewards.items() if name.startswith("good")]
    attacks = {name: reward for name, reward in rewards.items() if not name.startswith("good")}
    best = max(attacks, key=attacks.__getitem__)
    for reward in good:
        if reward <= attacks[best]:
            print(f"a good reply earns {reward:.2f}, {best} {attacks[best]:.2f}")
    assert fmean(good) > attacks[best]
    assert rewards["silence"] <= 0
    assert rewards["parrot"] <= 0


def test_the_constant_is_what_the_best_fixed_text_meets() -> None:
    met = {name: fmean(earned(i)[name][0] for i in range(len(PEOPLE))) for name in RECORDED["attacks"]}
    assert max(met, key=met.__getitem__) == "sympathy"
    assert met["sympathy"] == pytest.approx(CONSTANT, abs=0.01)
