"""The proof's quick form: a model from a folder, its warm start, and some arms of four steps."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from attune_data import BenchmarkTrainingError, load
from tests.data.builders import write
from tests.examples import load_example

TRAIN, TEST = load("written:train")[:6], load("written:test")[:3]


def run(model: Path, out: Path, *flags: str) -> None:
    """Run the example's command line in this process."""
    with pytest.MonkeyPatch.context() as patch:
        said = ["--model", str(model), "--tokens", "900", "--warm-up", "20", "-o", str(out), *flags]
        patch.setattr(sys, "argv", ["train_pretrained.py", *said])
        load_example("train_pretrained").main()


def test_controls_keep_what_a_habit_earns_and_nothing_else() -> None:
    example = load_example("train_pretrained")
    items = list(example.singles(TRAIN))

    def winners(some: list[object]) -> list[tuple[tuple[str, ...], str]]:
        pairs = [example.compared(item) for item in some]
        return [(kinds, getattr(pair, f"response_{pair.winner.lower()}")) for pair, kinds in pairs]

    assert len({item.conversation_id for item in items}) == len(items) == 3 * sum(len(c.turns) for c in TRAIN)
    others = example.shuffled(items, seed=1)
    assert sorted(winners(others)) == sorted(winners(items)) != winners(others)
    moved = example.swapped(items)
    assert winners(moved) == winners(items)
    for item, other in zip(items, moved, strict=True):
        assert other.turns[0].user_message == item.turns[0].user_message
        assert not {*other.turns[0].responses.values()} & {*item.turns[0].responses.values()}


@pytest.mark.slow
def test_an_arm_is_trained_measured_merged_and_not_made_again(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, some in (("train", TRAIN), ("test", TEST)):
        (tmp_path / name).mkdir()
        for number, one in enumerate(some):
            write(tmp_path / name / f"conversation_{number}.json", one.to_record())
    data = ["--train", str(tmp_path / "train"), "--test", str(tmp_path / "test"), "--steps", "4"]
    for arm in ("true", "shuffled", "random", "supervised"):
        run(saved, tmp_path / "out", "--arm", arm, *data)
    told = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    kept = {"prior-0", "asked-0", "surface-0", "untrained-0", "warm-0", "true-0"}
    assert set(told["runs"]) == kept | {"shuffled-0", "random-0", "supervised-0"}
    for run_ in told["runs"].values():
        assert len(run_["scores"]) == len(run_["swapped"]) == len(told["people"])
        assert {*run_["scores"]} <= {0.0, 1.0}
    assert told["runs"]["warm-0"]["steps"] == 20
    assert len(told["runs"]["true-0"]["curve"]) == 4
    assert (tmp_path / "out" / "true-0" / "adapter_model.safetensors").exists()
    capsys.readouterr()
    run(saved, tmp_path / "out", "--arm", "true", *data)
    assert "true-0 is in" in capsys.readouterr().out


def test_benchmark_records_are_refused(saved: Path, tmp_path: Path) -> None:
    record = TRAIN[0].model_copy(update={"provenance": None}).to_record()
    write(tmp_path / "conversation_1.json", record)
    with pytest.raises(BenchmarkTrainingError):
        run(saved, tmp_path / "out", "--arm", "true", "--train", str(tmp_path / "conversation_1.json"))
