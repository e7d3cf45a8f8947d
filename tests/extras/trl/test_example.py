"""The example trains for real: a tiny model made on the spot, and one from a folder."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM

from tests.examples import FOLDER


def ran(*flags: str) -> None:
    """Run the example's command line in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["train_trl_grpo.py", *flags])
        runpy.run_path(str(FOLDER / "train_trl_grpo.py"), run_name="__main__")


def test_the_quick_run_makes_a_model_trains_it_and_saves_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran("--quick", "--steps", "2", "--output", str(tmp_path))
    assert capsys.readouterr().out.splitlines()[-1] == f"2 steps; {tmp_path} holds the model"
    AutoModelForCausalLM.from_pretrained(tmp_path)


def test_another_model_and_reward_are_taken(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran("--model", str(saved), "--reward", "composite", "--steps", "1", "--output", str(tmp_path))
    assert "1 steps" in capsys.readouterr().out
