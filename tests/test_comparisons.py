"""The task of the proof in `examples/`: both orders, controls that keep habits, and baselines."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from attune_data import load
from tests.examples import load_example

TRAIN = load("written:train")[:6]


def winners(some: list[Any]) -> list[tuple[frozenset[str], str]]:
    return [(frozenset(item.kinds), item.won) for item in some]


def test_controls_keep_what_a_habit_earns_and_nothing_else() -> None:
    task = load_example("comparisons")
    items = task.pairs(TRAIN)
    replies = [{*turn.responses.values()} for one in TRAIN for turn in one.turns]
    assert len(items) == sum(3 if len(some) == 3 else 1 for some in replies)  # 1 where nothing was edited

    assert {one for item in task.pairs(TRAIN, edits=False) for one in item.kinds} == {"original", "alternate"}

    others = task.shuffled(items, seed=1)
    assert Counter(winners(others)) == Counter(winners(items))
    assert winners(others) != winners(items)
    moved = task.swapped(items)
    assert winners(moved) == winners(items)
    for item, other in zip(items, moved, strict=True):
        assert other.turn.user_message == item.turn.user_message
        assert not {*other.turn.responses.values()} & {*item.turn.responses.values()}

    def shown(some: list[Any]) -> Counter[tuple[str, ...]]:
        return Counter(tuple(sorted(item.turn.responses[kind] for kind in item.kinds)) for item in some)

    assert shown(moved) == shown(items)  # each once


def test_a_letter_is_right_in_one_of_both_orders() -> None:
    task = load_example("comparisons")
    both = task.conversations(task.swapped(task.pairs(TRAIN)))
    assert len({one.conversation_id for one in both}) == len(both)
    for one, other in zip(both[::2], both[1::2], strict=True):
        [pair], [turned] = one.turns[0].comparisons, other.turns[0].comparisons
        assert (pair.response_a, pair.response_b) == (turned.response_b, turned.response_a)
        assert {pair.winner, turned.winner} == {"A", "B"}


def test_baselines_answer_both_orders(tmp_path: Path) -> None:
    task = load_example("comparisons")
    items = task.pairs(TRAIN[:3])
    baselines = task.Baselines(task.pairs(TRAIN[3:]), task.settings(tmp_path / "prompts"))
    moved = task.swapped(items)

    def points(name: str, some: list[Any]) -> float:
        answers = baselines.answers(name, some)
        sides = [1 if winner == "A" else -1 for winner in task.winners(some)]
        earned = [(a - b) * side for (a, b), side in zip(answers, sides, strict=True)]
        return sum(1.0 if one > 0 else 0.5 if one == 0 else 0.0 for one in earned)

    assert points("prior", items) == points("prior", moved) == len(items) / 2  # the same letter twice
    assert points("reader", items) == len(items)
    assert points("reader", moved) == sum(one.won == one.read for one in moved) < len(items)
    edited = [item for item in items if "human" in item.kinds]
    won = sum(item.won == "human" for item in edited)
    assert points("edit", items) == points("edit", moved) == won + (len(items) - len(edited)) / 2
    assert points("shorter-reply", items) + points("longer-reply", items) == pytest.approx(len(items))
    for name in ("surface", "words", "warmer-reply"):
        assert 0 < points(name, items) < len(items)
