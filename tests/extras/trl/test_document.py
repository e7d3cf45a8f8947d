"""The blocks of docs/trl.md that need TRL run as they stand, on a tiny model and for two steps."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.extras.pages import run_page

FEW: Final = "per_device_train_batch_size=4, use_cpu=True, bf16=False, report_to='none'"
SMALLER: Final = (
    "max_steps=2",
    '"sample", number=4, ',
    "",
    "",
    f'GRPOConfig("out", num_generations=4, max_completion_length=16, {FEW},',
    f'RLOOConfig("out", num_generations=4, max_completion_length=16, {FEW},',
    f'SFTConfig("sft", {FEW},',
    f'DPOConfig("dpo", max_length=4096, {FEW},',
    f'RewardConfig("rm", max_length=4096, {FEW},',
)
"""The replacements that are run, after the model: only sizes and the device differ from the page."""


def test_the_page_runs(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for names in run_page("trl.md", repr(str(saved)), *SMALLER):
        if "trainer" in names:
            assert names.pop("trainer").state.global_step == 2
