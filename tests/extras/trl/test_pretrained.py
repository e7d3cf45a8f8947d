"""The proof's quick form: a model from a folder, its warm start, and some arms of four steps."""

from __future__ import annotations

import sys
from pathlib import Path

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


def test_a_group_has_both_orders_by_turns() -> None:
    example, task = load_example("train_pretrained"), load_example("comparisons")
    rows = training_dataset(task.conversations(task.pairs(TRAIN)), stages=["prefer"], reward="skill_bounded")
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
    models = {"untrained", "few-shot", "warm", "true", "shuffled", "random", "supervised"}
    assert set(outcome.arms) == {*load_example("comparisons").BASELINES, *models}
    assert {len(outcome.points(one)) for [one] in outcome.arms.values()} == {len(outcome.told["winners"])}
    assert outcome.mean("prior").mean() == 50  # the same letter in both orders
    [true] = outcome.arms["true"]
    assert len(true["reward"]) == len(true["kl"]) == 4
    assert len(true["seen"]) == len(true["seen_winners"]) == 8  # two comparisons a step
    assert true["right"] == 1 > outcome.arms["shuffled"][0]["right"]
    head, *rows = outcome.outcomes()
    assert {len(row) for row in rows} == {len(head)}
    assert [row[0] for row in list(outcome.alike())[1:]] == [
        f"{one}, 0" for one in outcome.arms if one in models - {"few-shot"}
    ]
    assert len([*outcome.told_of()]) == 7
    assert (tmp_path / "out" / "true-0" / "adapter_model.safetensors").exists()
    capsys.readouterr()
    run(saved, tmp_path / "out", "--arm", "true", *data)
    assert "true-0.json is there" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"recipe.json: these runs were made with .* give another --output"):
        run(saved, tmp_path / "out", "--arm", "true", *data[:-1], "5")


def test_benchmark_records_are_refused(saved: Path, tmp_path: Path) -> None:
    record = TRAIN[0].model_copy(update={"provenance": None}).to_record()
    write(tmp_path / "conversation_1.json", record)
    with pytest.raises(BenchmarkTrainingError):
        run(saved, tmp_path / "out", "--arm", "true", "--train", str(tmp_path / "conversation_1.json"))
