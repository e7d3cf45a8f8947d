"""The examples of trainers that need nothing but this package."""

from __future__ import annotations

import runpy
from pathlib import Path

import datasets
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "trainers"


@pytest.mark.slow
def test_the_plain_loop_learns_what_reading_nothing_can_earn(capsys: pytest.CaptureFixture[str]) -> None:
    assert runpy.run_path(str(EXAMPLES / "plain_loop.py"))["main"]() == 0
    # by its `prior`, no feelings is the constant answer that pays best, and `skill` measures from it
    assert capsys.readouterr().out == (
        "held-out reward -0.52 -> 0.02\n"
        'what it says in 99% of all cases: {"emotions": []}\n'
    )  # fmt: skip


def test_the_files_for_verl_are_written_of_different_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "verl-data"
    assert runpy.run_path(str(EXAMPLES / "verl_reward.py"))["main"](str(folder), 2) == 0
    people = []
    for name in ("train", "val"):
        rows = datasets.Dataset.from_parquet(
            str(folder / f"{name}.parquet"), cache_dir=str(tmp_path / "cache")
        )
        people.append({info["participant_id"] for info in rows["extra_info"]})
    assert people[0]
    assert people[0].isdisjoint(people[1])
    assert "reward.custom_reward_function.name=compute_score" in capsys.readouterr().out
