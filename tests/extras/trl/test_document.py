"""The blocks of docs/trainers-trl.md that need TRL run as they stand, on a tiny model and for two steps."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.extras.pages import run_page

FEW: Final = "per_device_train_batch_size=4, use_cpu=True, bf16=False, report_to='none'"
SMALLER: Final = (
    ("max_steps=200", "max_steps=2"),
    ("number=200", "number=4"),
    ("simulate(200, seed=1)", "simulate(3, seed=1)"),
    ("simulate(100, seed=1)", "simulate(2, seed=1)"),
    (" max_completion_length=256,", ""),
    (" max_completion_length=1024,", ""),
    ('GRPOConfig("out",', f'GRPOConfig("out", num_generations=4, max_completion_length=16, {FEW},'),
    ('RLOOConfig("out",', f'RLOOConfig("out", num_generations=4, max_completion_length=16, {FEW},'),
    ('SFTConfig("sft",', f'SFTConfig("sft", {FEW},'),
    ('DPOConfig("dpo",', f'DPOConfig("dpo", max_length=4096, {FEW},'),
    ('RewardConfig("rm",', f'RewardConfig("rm", max_length=4096, {FEW},'),
)
"""What stands on the page, and what is run: only sizes, the device and the model differ."""


def test_the_page_runs(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = ('"Qwen/Qwen2.5-0.5B-Instruct"', repr(str(saved)))
    for names in run_page("trainers-trl.md", (model, *SMALLER), number=4):
        if "trainer" in names:
            assert names.pop("trainer").state.global_step == 2
    assert names["ours"]["reward_funcs"][0].__name__ == "conversation_return"
