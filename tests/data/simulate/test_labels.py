"""Labels are true of the text: the mistakes of world 1, by name, with their figures then and now.

Figures of world 1 were counted over 1,500 conversations; bounds here leave room for 250.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from typing import Any, Final

import pytest

from attune_data.simulate import Simulation
from attune_data.simulate.texts import texts
from attune_data.simulate.turn import TurnState

pytestmark = pytest.mark.slow  # statistical: hundreds of conversations

COUNT: Final = 250
Turn = tuple[dict[str, Any], TurnState]


@cache
def turns() -> list[Turn]:
    """Records of turns, each with its state."""
    world = Simulation(77)
    whole = [world.with_state(index) for index in range(COUNT)]
    return [pair for record, state in whole for pair in zip(record["turns"], state.turns, strict=True)]


def sign(family: str) -> int:
    return texts().families[family].sign


def felt(state: TurnState) -> tuple[str | None, ...]:
    return state.mood.family, state.mood.second_family


def wrong(state: TurnState, claim: str) -> bool:
    return claim not in felt(state) and sign(claim) != state.mood.sign


def share(found: Iterator[bool], least: int) -> float:
    """Of at least so many cases."""
    cases = list(found)
    assert len(cases) >= least
    return sum(cases) / len(cases)


def wrongly_claimed() -> Iterator[TurnState]:
    """Turns whose received reply says a feeling of the other sign."""
    return (s for _, s in turns() if any(wrong(s, claim) for claim in s.replies["original"].claims))


def test_edits_strike_out_wrong_claims() -> None:  # 370 of 387 were kept
    kept = (any(wrong(s, claim) for claim in s.replies["human"].claims) for s in wrongly_claimed())
    assert share(kept, 60) < 0.10


def test_claims_that_an_edit_adds_are_felt() -> None:  # 45 % were
    added = (
        sentence.claim in felt(s)
        for _, s in turns()
        for act, sentence in s.replies["human"].sentences.items()
        if act == "claim" and sentence not in s.replies["original"].sentences.values()
    )
    assert share(added, 100) == 1.0


@pytest.mark.parametrize("question", ["B8", "B9"])
def test_wrong_claims_do_not_fit(question: str) -> None:  # B8 yes of 42 %, B9 of 78 %
    chances = [s.observed[question] for s in wrongly_claimed()]
    assert sum(chances) / len(chances) < 0.15


def test_the_worst_claim_is_the_one_that_is_judged() -> None:
    second = [s for s in wrongly_claimed() if not wrong(s, s.replies["original"].claims[0])]
    assert len(second) >= 10
    assert max(s.observed["B8"] for s in second) < 0.5


def test_text_does_not_tell_the_opposite_of_the_tags() -> None:  # 4.5 % of tagged turns did
    told = (s.message.sign != s.mood.sign for _, s in turns() if s.mood.tags)
    assert share(told, 500) <= 0.01


RELATED = [  # first given second; what it was
    ("B6", "B12", 0.30, 0.65),  # 1.00
    ("B315", "B311", 1.0, 1.0),  # .02
    ("B6", "B503", 1.0, 1.0),  # .54
    ("B12", "B11", 0.60, 0.90),  # .25
    ("B8", "B311", 0.0, 0.25),  # .66
]


@pytest.mark.parametrize(("first", "second", "low", "high"), RELATED)
def test_answers_go_together_as_in_the_sample(first: str, second: str, low: float, high: float) -> None:
    pairs = [
        {j["questionId"]: j["observedBehavior"] for j in turn["annotations"]["binaryJudgements"]}
        for turn, _ in turns()
    ]
    both = (p[first] == "yes" for p in pairs if p.get(second) == "yes" and p.get(first) in ("yes", "no"))
    assert low <= share(both, 3) <= high


@pytest.mark.parametrize(
    ("question", "most"), [("B406", 0.27), ("B503", 0.14), ("B504", 0.14), ("B502", 0.12)]
)
def test_people_rarely_want_these(question: str, most: float) -> None:  # .52 .32 .32 .21
    wanted = (s.preferred[question] > 0.5 for _, s in turns() if question in s.preferred)
    assert share(wanted, 200) <= most


THIRD: Final = re.compile(r"\b(?:he|she|him|her|his|hers|they|them|their|theirs)\b", re.IGNORECASE)
NAMED: Final = re.compile(r"(?<=[a-z,;] )(?!I\b)[A-Z]\w+")


def per_hundred_words(pattern: re.Pattern[str], text_of: Callable[[TurnState], str]) -> float:
    said = [text_of(s) for _, s in turns()]
    return 100 * sum(len(pattern.findall(text)) for text in said) / sum(text.count(" ") + 1 for text in said)


def test_people_are_pronouns_once_they_are_known() -> None:  # .39 and .11
    assert per_hundred_words(THIRD, lambda s: s.message.text) > 2.0
    assert per_hundred_words(THIRD, lambda s: s.replies["original"].text) > 1.5


def test_replies_name_few_names() -> None:  # above 5
    assert per_hundred_words(NAMED, lambda s: s.replies["original"].text) < 2.0


def five_grams(conversation: dict[str, Any], key: str) -> list[tuple[str, ...]]:
    said = [re.findall(r"[\w'’]+", turn[key].lower()) for turn in conversation["turns"]]
    return [tuple(words[i : i + 5]) for words in said for i in range(len(words) - 4)]


@pytest.mark.parametrize(("key", "first"), [("userMessage", 60_000), ("llmResponse", 50_000)])
def test_few_turns_of_phrase_come_back(key: str, first: int) -> None:  # 28 and 30 %
    """Of the 5-grams of 10,000 words, the share that stands in other conversations before them.

    The aim is .12; that needs about twice as many templates.
    """
    world, seen = Simulation(901), set[tuple[str, ...]]()
    words = again = counted = index = 0
    while words < first + 10_000:
        grams = five_grams(world.record(index), key)
        index += 1
        if words >= first:
            counted += len(grams)
            again += sum(gram in seen for gram in grams)
        seen |= set(grams)
        words += len(grams) + 4
    assert again / counted < 0.23


def test_variants_are_in_other_words() -> None:  # 7.1 % of comparisons were of the same
    for _, s in turns():
        for one, other in combinations(s.replies.values(), 2):
            assert one.text.split() != other.text.split()
