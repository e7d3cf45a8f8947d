"""The grades of OpenEnv's RFC 008, measured on the folder, and the table of docs/openenv.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.pages import BLOCK, DOCS

pytest.importorskip("openenv.validation.runtime", reason="older than the checks")

from tools.openenv_grades import graded


def test_the_folder_earns_the_grades_that_the_page_shows(folder: Path) -> None:
    """All but the attacks, which the audit's own tests play."""
    own, ours = graded(folder, number=2)
    assert {one.check_id: one.status.value for one in (*own, *ours)} == dict.fromkeys(
        [
            "static.manifest",
            "runtime.startup",
            "runtime.observation_schema",
            "runtime.reward_well_formed",
            "runtime.state_contract",
            "runtime.seed_control",
            "runtime.episode_determinism",
            "semantic.oracle_max",
            "semantic.floor_gap",
            "semantic.canary_floor",
            "semantic.no_solution_leakage",
        ],
        "pass",
    )
    page = (DOCS / "openenv.md").read_text(encoding="utf-8")
    (table,) = [match[0] for match in BLOCK.finditer(page) if match[1] == "grades"]
    rows = re.findall(r"^\| `(\S+)` \| (\w+) \|", table, re.MULTILINE)
    expected = [*(one.check_id for one in (*own, *ours)), "statistical.adversarial_floor"]
    assert rows == [(check, "pass") for check in expected]
