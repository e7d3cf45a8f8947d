"""The blocks of docs/trainers-trl.md that need TRL run as they stand, on a tiny model and for two steps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[3]
SMALLER: Final = (
    ("max_steps=200", "max_steps=2"),
    ("number=200", "number=4"),
    ("simulate(200, seed=1)", "simulate(3, seed=1)"),
    ("simulate(100, seed=1)", "simulate(2, seed=1)"),
    (" max_completion_length=256,", ""),
    ('GRPOConfig("out",', 'GRPOConfig("out", num_generations=4, max_completion_length=16, FEW,'),
    ('RLOOConfig("out",', 'RLOOConfig("out", num_generations=4, max_completion_length=16, FEW,'),
    ('SFTConfig("sft",', 'SFTConfig("sft", FEW,'),
    ('DPOConfig("dpo",', 'DPOConfig("dpo", max_length=4096, FEW,'),
    ('RewardConfig("rm",', 'RewardConfig("rm", max_length=4096, FEW,'),
    ("FEW", "per_device_train_batch_size=4, use_cpu=True, bf16=False, report_to='none'"),
)
"""What stands on the page, and what is run: only sizes and the device differ."""


def test_the_page_runs(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "trainers-trl.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```py\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    for name, _ in SMALLER[:-1]:
        assert any(name in block for block in blocks), f"{name} no longer stands on the page"
    names: dict[str, Any] = {"__name__": "__document__"}
    for block in blocks:
        code = block.replace('"Qwen/Qwen2.5-0.5B-Instruct"', repr(str(saved)))
        for name, smaller in SMALLER:
            code = code.replace(name, smaller)
        exec(compile(code, "docs/trainers-trl.md", "exec"), names)
        if "trainer" in names:
            assert names.pop("trainer").state.global_step == 2
    assert names["ours"]["rollout_func"].thread == "elided"
