"""Plans: shares are dealt, parts share nothing, and a line of a plan is read as it was written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from attune_data.errors import DataError
from attune_episodes.people.cards import SHOWS, Card, plan, plan_text, read_plan

CARDS = plan(320, 7)


def test_one_card_in_eight_presses_and_three_turns_in_four_show() -> None:
    assert Counter(bool(card.presses) for card in CARDS)[True] == 40
    assert abs(sum(SHOWS[card.openness] for card in CARDS) / len(CARDS) - 0.75) < 0.01
    assert Counter(card.part for card in CARDS) == {"train": 224, "dev": 32, "test": 64}
    assert all(2 <= len(card.style) <= 3 and len(card.compared) == card.turns for card in CARDS)


def test_no_person_topic_or_circumstance_is_in_two_parts_of_any_plans() -> None:
    both = [*CARDS, *plan(320, 8)]
    assert len({card.id for card in both}) == len({card.person["id"] for card in both}) == 640
    for about in (lambda card: (card.category, card.subtopic), lambda card: card.circumstance):
        parts = [{about(card) for card in both if card.part == part} for part in ("train", "dev", "test")]
        assert all(parts)
        assert sum(map(len, parts)) == len(set.union(*parts))


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "plan.jsonl").write_text(plan_text(CARDS[:3]), "utf-8")
    assert read_plan(tmp_path / "plan.jsonl") == CARDS[:3]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("openness", "wide", "one of names"),
        ("asked", ["B99"], "ids of yes/no"),
        ("nick", "x", "one of id"),
    ],
)
def test_a_line_that_is_no_card_is_told_with_its_place(name: str, value: object, told: str) -> None:
    record = json.loads(CARDS[0].to_line()) | {name: value}
    with pytest.raises(DataError, match=rf"plan\.jsonl:3: {name}.*{told}"):
        Card.from_record(record, "plan.jsonl:3")
