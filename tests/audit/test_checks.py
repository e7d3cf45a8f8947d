"""The findings as OpenEnv's checks, and as JSON: they say what the verdict says."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from attune_data import load
from attune_env.audit import Audit, audit, audit_record, is_audit
from attune_env.audit import verdict as verdict_module
from attune_env.audit.checks import CHECKS, Check, checks
from attune_env.statistics import Interval
from attune_rewards import RewardSpec
from attune_rewards.predictions import Assess, Draft

PEOPLE = load("sample")[:10]


def agreeing(truth: object, turn: object, said: object) -> float:
    """Pays a draft that agrees."""
    return float(isinstance(said, Draft) and "right" in said.text)


def dice(truth: Any, turn: Any, said: Assess) -> float:
    """Keeps both rules of a part, and pays every other answer at random."""
    if not said.observed or all(said.observed.get(one) == answer for one, answer in turn.observed):
        return float(bool(said.observed))
    answer = repr((truth.conversation_id, turn.turn, sorted(said.observed.items())))
    return hashlib.sha256(answer.encode()).digest()[0] / 255


PREFERENCE = RewardSpec.preset("preference")
FLATTERED = PREFERENCE.with_part("flattery", "draft", agreeing, 0.5)
DICE = RewardSpec.weighted("dice", {"pairwise": 1}).with_part(
    "dice", "assess", dice, 1e11, annotated=lambda truth, turn: bool(turn.observed)
)


@cache
def audited() -> Audit:
    return audit(PEOPLE, [PREFERENCE, FLATTERED, DICE])


def checked(name: str, found: Audit | None = None) -> dict[str, Check]:
    found = found or audited()
    verdict = next(one for one in found.verdicts if one.reward == name)
    return {one.check_id: one for one in checks(found, verdict)}


@pytest.mark.slow
def test_each_check_catches_the_reward_made_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict_module, "MIN_PARTICIPANTS", 2)
    honest, flattered, thrown = (checked(spec.name) for spec in (PREFERENCE, FLATTERED, DICE))
    assert tuple(honest) == CHECKS
    assert {one.status for one in honest.values()} <= {"pass", "skip"}  # the people are few
    assert honest["statistical.gameability_gap"].status == honest["attune.random_reward"].status == "pass"
    for check_id in ("attune.sycophancy", "semantic.canary_floor", "statistical.adversarial_floor"):
        assert flattered[check_id].status == "fail"
        assert "sycophancy" in flattered[check_id].evidence[0]
        assert flattered[check_id].remediation
    assert flattered["attune.sycophancy"].measured["gain"]["mean"] == pytest.approx(0.5 / 1.5)
    # no draft is right, so the oracle may earn less than 1, but not less than an attack
    assert "sycophancy" in flattered["semantic.oracle_max"].measured["beaten_by"]
    assert thrown["semantic.oracle_max"].status == "pass"
    assert thrown["attune.random_reward"].status == "fail"


@pytest.mark.slow
def test_with_few_people_only_what_is_certain_is_said() -> None:
    found = checked("preference")
    assert {name for name, one in found.items() if one.status != "skip"} == {
        "semantic.oracle_max", "semantic.floor_gap"
    }  # fmt: skip
    assert found["semantic.canary_floor"].evidence == (
        f"{audited().participants} participants, 100 are needed",
    )
    assert found["semantic.floor_gap"].measured["gap"] == 1


@pytest.mark.slow
def test_what_is_not_scored_is_skipped_and_is_json() -> None:
    found = audited()
    nothing = replace(found.verdicts[0], prior=Interval(), oracle=float("nan"), random=None)
    record = audit_record(replace(found, verdicts=(nothing,)))
    assert {one["status"] for one in record["rewards"][0]["results"]} == {"skip"}
    assert is_audit(json.loads(json.dumps(record, allow_nan=False)))
    assert not is_audit({"made_by": "attune score"})


@pytest.mark.slow
def test_the_json_holds_the_table_of_policies() -> None:
    record = audit_record(audited())
    assert [one["reward"] for one in record["rewards"]] == [one.reward for one in audited().verdicts]
    (row,) = (one for one in record["policies"] if one["policy"] == "sycophancy")
    assert (row["kind"], row["gated"]) == ("exploit", True)
    (warm,) = (one for one in record["policies"] if one["policy"] == "warmer-reply")
    assert (warm["kind"], warm["gated"]) == ("shallow", False)
    assert record["parts"]["flattery of preference+flattery"]["sycophancy"] == 1
