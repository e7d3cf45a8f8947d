"""Labels, sides and order of the comparisons: uniform, the same everywhere, blind to the winners."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable

import pytest

from attune_data import Conversation, Turn
from attune_episodes import Settings, plan
from attune_episodes.shown import MASKED, label_responses, show_comparisons
from attune_rewards.truth import truth_of
from tests.episodes.builders import comparisons, conversation, reannotated, record, request_of, turn

PLACES = [(seed, f"conversation-{n}") for seed in (0, 1, 2) for n in range(400)]
N = len(PLACES)  # 1200 draws, fixed: the tests below cannot flicker
TURN = conversation().turns[0]


def labels_at(place: tuple[int, str], here: Turn = TURN) -> dict[str, str]:
    return dict(label_responses(here, place, masked=True))


def swaps_at(place: tuple[int, str]) -> list[bool]:
    """Whether each comparison of the conversation is shown with its sides swapped."""
    shown = show_comparisons(TURN, label_responses(TURN, place, masked=True), place, masked=True)
    return [c.swapped for c in sorted(shown, key=lambda c: c.index)]


def assert_uniform(drawn: Iterable[Hashable], kinds: int) -> None:
    """Every kind turns up, each within 4.5 standard deviations of its binomial mean."""
    counts = Counter(drawn)
    n, p = counts.total(), 1 / kinds
    assert len(counts) == kinds
    assert max(abs(count - n * p) for count in counts.values()) < 4.5 * math.sqrt(n * p * (1 - p))


def test_the_six_ways_to_label_three_responses_are_equally_likely() -> None:
    assert_uniform((tuple(labels_at(place).items()) for place in PLACES), 6)  # 3! = 6; 200 ± 58


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_labels_are_uniform_within_every_seed(seed: int) -> None:
    places = [place for place in PLACES if place[0] == seed]
    assert_uniform((tuple(labels_at(place).items()) for place in places), 6)


def test_two_responses_share_the_two_first_labels_equally() -> None:
    pair = conversation(turn(1, pairs=comparisons()[:1])).turns[0]  # original against alternate
    drawn = [tuple(labels_at(place, pair).items()) for place in PLACES]
    assert_uniform(drawn, 2)
    assert {label for way in drawn for label, _ in way} == set(MASKED[:2])


@pytest.mark.parametrize("index", range(12))
def test_each_comparison_has_its_sides_swapped_half_of_the_time(index: int) -> None:
    assert_uniform((swaps_at(place)[index] for place in PLACES), 2)


def test_each_comparison_stands_at_each_number_equally_often() -> None:
    shown = [show_comparisons(TURN, label_responses(TURN, p, masked=True), p, masked=True) for p in PLACES]
    assert_uniform(((c.number, c.index) for way in shown for c in way), 144)  # 12 × 12 cells of 100 ± 45


@pytest.mark.parametrize("name", ["original", "alternate", "human"])
def test_no_response_stands_on_side_a_more_often(name: str) -> None:
    sides = []
    for place in PLACES:
        labels = label_responses(TURN, place, masked=True)
        for c in show_comparisons(TURN, labels, place, masked=True):
            if name in (labels[c.label_a], labels[c.label_b]):
                sides.append(labels[c.label_a] == name)
                break  # one a place: independent draws
    assert_uniform(sides, 2)


def test_labels_and_sides_are_independent_of_each_other() -> None:
    assert_uniform(((tuple(labels_at(place).items()), swaps_at(place)[0]) for place in PLACES), 12)


def test_sides_of_neighbouring_comparisons_are_independent() -> None:
    assert_uniform((tuple(swaps_at(place)[:2]) for place in PLACES), 4)


def test_turns_of_a_conversation_are_labelled_independently() -> None:
    first, second = conversation().turns
    assert_uniform(
        ((tuple(labels_at(p, first).items()), tuple(labels_at(p, second).items())) for p in PLACES), 36
    )


def test_neighbouring_seeds_are_independent() -> None:
    ways = [
        tuple(tuple(labels_at((seed, f"conversation-{n}")).items()) for seed in (0, 1)) for n in range(1200)
    ]
    assert_uniform(ways, 36)


def test_what_is_shown_does_not_depend_on_the_winners() -> None:
    raw = record()
    other = Conversation.model_validate(reannotated(raw))
    about = Conversation.model_validate(raw)
    assert [c.winner for c in about.turns[0].comparisons] != [c.winner for c in other.turns[0].comparisons]
    for place in PLACES[:100]:
        labels = label_responses(about.turns[0], place, masked=True)
        assert labels == label_responses(other.turns[0], place, masked=True)
        assert show_comparisons(about.turns[0], labels, place, masked=True) == show_comparisons(
            other.turns[0], labels, place, masked=True
        )


def test_the_winner_stands_on_side_a_as_often_as_on_side_b() -> None:
    winners = dict(truth_of(conversation()).turns[0].winners)
    sides = []
    for place in PLACES:
        labels = label_responses(TURN, place, masked=True)
        first = show_comparisons(TURN, labels, place, masked=True)[0]
        sides.append(first.to_shown(winners[first.index]))
    assert_uniform(sides, 2)


@pytest.mark.parametrize("place", PLACES[:20])
def test_a_pick_in_the_prompt_names_the_same_response_in_the_conversation(place: tuple[int, str]) -> None:
    labels = label_responses(TURN, place, masked=True)
    for c in show_comparisons(TURN, labels, place, masked=True):
        asked = TURN.comparisons[c.index]
        theirs = {"A": asked.response_a, "B": asked.response_b}
        assert labels[c.label_a] == theirs[c.to_conversation("A")]
        assert labels[c.label_b] == theirs[c.to_conversation("B")]
        assert c.question == asked.question_id
        assert [c.to_shown(c.to_conversation(side)) for side in ("A", "B")] == ["A", "B"]


def test_the_plan_shows_exactly_that_under_its_seed() -> None:
    about = conversation()
    for seed in range(5):
        request = request_of("prefer", Settings(seed=seed), of=about)
        labels = label_responses(TURN, (seed, "CONV-1"), masked=True)
        assert request.shown_labels == labels
        assert request.comparisons == show_comparisons(TURN, labels, (seed, "CONV-1"), masked=True)
        assert {label: request.responses[label] for label in labels} == {
            label: TURN.responses[name] for label, name in labels.items()
        }


def test_only_the_prefer_stage_depends_on_the_seed() -> None:
    first, second = (plan(conversation(), Settings(seed=seed)) for seed in (0, 1))
    assert [a.stage for a, b in zip(first, second, strict=True) if a != b] == ["prefer", "prefer"]


@pytest.mark.parametrize("name", ["naïve/ид 😢", "a" * 200, "0"])
def test_any_conversation_id_can_be_hashed(name: str) -> None:
    assert set(labels_at((-1, name)).values()) == {"original", "alternate", "human"}
