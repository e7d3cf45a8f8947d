"""verl's rollout and reward workers on Ray earn what one process earns."""

from __future__ import annotations

import sys
from pathlib import Path

import ray

from tests.documents import ROOT
from tests.extras.bytewise import model_folder

sys.path.insert(0, str(ROOT / "examples" / "scale"))

from map_rows import replied_rows, with_reward
from verl_workers import rewarded


def test_verls_own_workers_earn_what_one_process_earns(tmp_path: Path) -> None:
    rows = replied_rows(3)
    rows = rows.select(range(len(rows) // 2 * 2))
    spoiled = [reply[:20] if place % 5 == 0 else reply for place, reply in enumerate(rows["reply"])]
    rows = rows.remove_columns("reply").add_column("reply", spoiled)
    want = [with_reward(row)["value"] for row in rows]
    assert len(set(want)) > 10
    path = {"env_vars": {"PYTHONPATH": str(ROOT / "examples" / "scale")}}
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, runtime_env=path)
    try:
        assert rewarded(rows, model_folder(tmp_path / "model"), 2) == want
    finally:
        ray.shutdown()
