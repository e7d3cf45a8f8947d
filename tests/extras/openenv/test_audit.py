"""The checks of `attune rewards audit --json` are results as OpenEnv's reports hold them."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

pytest.importorskip("openenv.validation", reason="older than the checks")

from openenv.validation import CheckResult
from openenv.validation.policy import load_policy

from attune_env.audit.checks import CHECKS, Check


def test_every_check_is_a_result_that_openenv_reads_and_its_policy_knows() -> None:
    made = [Check(name, "fail", {"gain": {"mean": 0.1}}, ("because",), "mend it", 0.5) for name in CHECKS]
    for one in made:
        read = CheckResult.model_validate_json(json.dumps(asdict(one)))
        assert json.loads(read.model_dump_json()) == json.loads(json.dumps(asdict(one)))
    known = {entry.check_id for entry in load_policy("v2").entries}
    assert {name for name in CHECKS if name not in known} == {"attune.random_reward", "attune.sycophancy"}
