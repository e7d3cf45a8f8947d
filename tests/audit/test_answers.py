"""Right answers earn 1 and silence 0: a reward that breaks a rule is refused before anything is played."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from attune_data import load
from attune_env.audit import RuleError, audit, broken_rules
from attune_episodes import Settings
from attune_rewards import PRESETS, RewardSpec
from attune_rewards.metrics.tree import LEAF

PEOPLE = load("sample")[:4]


def mine(function: Callable[..., float], stage: Any = "prefer", **given: Any) -> RewardSpec:
    return RewardSpec.preset("emotion").with_part("mine", stage, function, 0.1, **given)


def right(truth: Any, turn: Any, said: Any) -> float:
    return float(all(said.picks.get(index) == winner for index, winner in turn.winners))


def test_the_packages_own_parts_keep_both_rules() -> None:
    every = RewardSpec.weighted("every", dict.fromkeys(LEAF, 1)).with_format(1)
    for spec in (every, *map(RewardSpec.preset, PRESETS)):
        for strategy in ("absolute", "delta"):
            assert list(broken_rules(spec, PEOPLE, Settings(panas_strategy=strategy))) == []


@pytest.mark.parametrize(("spec", "says"), [
    (mine(lambda truth, turn, said: 0.9 * right(truth, turn, said)),
     "the annotations' own answer earns 0.9, not 1 (conversation 'sample-01', turn 1, prefer)"),
    (mine(lambda truth, turn, said: float(turn is not None or said.q2 == truth.q2) or 0.25, "reflect"),
     "an answer that says nothing earns 0.25, not 0 (conversation 'sample-01', the end, reflect)"),
])  # fmt: skip
def test_a_broken_rule_stops_the_audit_at_its_first_place(spec: RewardSpec, says: str) -> None:
    played = []
    with pytest.raises(RuleError) as stopped:
        audit(PEOPLE, [RewardSpec.preset("skill"), spec], on_done=lambda: played.append(1))
    assert f"reward {spec.name!r}, part 'mine': {says}; score an answer by its agreement" in str(
        stopped.value
    )
    assert played == []


def test_no_draft_is_right_and_what_is_not_annotated_is_left_out() -> None:
    assert list(broken_rules(mine(lambda *_: 0.3, "draft"), PEOPLE, Settings())) == []
    nowhere = mine(lambda *_: 0.3, annotated=lambda truth, turn: False)
    assert list(broken_rules(nowhere, PEOPLE, Settings())) == []
