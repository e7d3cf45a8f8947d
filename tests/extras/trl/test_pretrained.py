"""The proof's quick form: a model from a folder, its warm start, and some arms of four steps."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from attune_data import BenchmarkTrainingError, load
from attune_env import training_dataset
from tests.data.builders import write
from tests.examples import load_example

TRAIN, TEST = load("written:train")[:6], load("written:test")[:3]


def run(model: Path, out: Path, *flags: str) -> None:
    """Run the example's command line in this process."""
    with pytest.MonkeyPatch.context() as patch:
        said = ["--model", str(model), "--tokens", "900", "--warm-up", "4", "-o", str(out), *flags]
        patch.setattr(sys, "argv", ["train_pretrained.py", *said])
        load_example("train_pretrained").main()


def test_controls_keep_what_a_habit_earns_and_nothing_else() -> None:
    example = load_example("train_pretrained")
    items = example.pairs(TRAIN)
    replies = [{*turn.responses.values()} for one in TRAIN for turn in one.turns]
    assert len(items) == sum(3 if len(some) == 3 else 1 for some in replies)  # 1 where nothing was edited

    def winners(some: list[Any]) -> list[tuple[frozenset[str], str]]:
        return [(frozenset(item.kinds), item.won) for item in some]

    others = example.shuffled(items, seed=1)
    assert Counter(winners(others)) == Counter(winners(items))
    assert winners(others) != winners(items)
    moved = example.swapped(items)
    assert winners(moved) == winners(items)
    for item, other in zip(items, moved, strict=True):
        assert other.turn.user_message == item.turn.user_message
        assert not {*other.turn.responses.values()} & {*item.turn.responses.values()}


def test_a_letter_earns_nothing_in_both_orders() -> None:
    example = load_example("train_pretrained")
    both = example.conversations(example.pairs(TRAIN))
    assert len({one.conversation_id for one in both}) == len(both)
    rows = training_dataset(both, stages=["prefer"], reward="skill_bounded")
    for one, other in zip(both[::2], both[1::2], strict=True):
        [pair], [turned] = one.turns[0].comparisons, other.turns[0].comparisons
        assert (pair.response_a, pair.response_b) == (turned.response_b, turned.response_a)
        assert {pair.winner, turned.winner} == {"A", "B"}
    drawn = example.in_groups(rows).__getitems__([1, 1, 1, 1])  # as a loader draws four answers to the second
    assert [one["truth"] for one in drawn] == [rows[place]["truth"] for place in (2, 3, 2, 3)]


@pytest.mark.slow
def test_an_arm_is_trained_measured_kept_and_not_made_again(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, some in (("train", TRAIN), ("test", TEST)):
        (tmp_path / name).mkdir()
        for number, one in enumerate(some):
            write(tmp_path / name / f"conversation_{number}.json", one.to_record())
    data = ["--train", str(tmp_path / "train"), "--test", str(tmp_path / "test"), "--steps", "4"]
    for arm in ("true", "shuffled", "random", "supervised"):
        run(saved, tmp_path / "out", "--arm", arm, *data)
    outcome = load_example("learned").Outcome(tmp_path / "out")
    kept = {
        "prior",
        "asked",
        "surface",
        "untrained",
        "few-shot",
        "warm",
        "true",
        "shuffled",
        "random",
        "supervised",
    }
    assert kept < set(outcome.arms)
    assert {len(outcome.points(one)) for [one] in outcome.arms.values()} == {len(outcome.sides)}
    assert outcome.mean("prior").mean() == 50  # the same letter in both orders
    [true] = outcome.arms["true"]
    assert len(true["reward"]) == len(true["kl"]) == 4
    assert (tmp_path / "out" / "true-0" / "adapter_model.safetensors").exists()
    capsys.readouterr()
    run(saved, tmp_path / "out", "--arm", "true", *data)
    assert "true-0.json is there" in capsys.readouterr().out


def test_benchmark_records_are_refused(saved: Path, tmp_path: Path) -> None:
    record = TRAIN[0].model_copy(update={"provenance": None}).to_record()
    write(tmp_path / "conversation_1.json", record)
    with pytest.raises(BenchmarkTrainingError):
        run(saved, tmp_path / "out", "--arm", "true", "--train", str(tmp_path / "conversation_1.json"))
