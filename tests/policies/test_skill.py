"""The frozen baselines of the `skill` preset are what `prior` earns on its reference data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attune_data import load
from attune_episodes import builtin_policy, rollout
from attune_episodes.policies.skill import REFERENCE, fit_skill, prior_scores
from attune_rewards import RewardSpec
from attune_rewards.reward.presets.skill import SKILL_FILE, skill_spec

SAMPLE = load("sample")
FROZEN: dict[str, Any] = json.loads(SKILL_FILE.read_text("utf-8"))


def test_the_preset_names_the_data_as_it_is_now() -> None:
    people = load(REFERENCE)
    assert FROZEN["reference"] == f"{REFERENCE} ({len(people)} conversations, {people.fingerprint})"


@pytest.mark.slow
def test_the_frozen_baselines_are_the_priors_scores_on_the_reference_data() -> None:
    now = prior_scores(load(REFERENCE))
    assert FROZEN["baselines"].keys() == now.keys()
    assert FROZEN["baselines"] == pytest.approx(now, abs=1e-12)


def test_parts_that_teach_nothing_are_left_out_and_named() -> None:
    # the follow-up's baseline is above .95: nobody can be told apart by it
    spec = skill_spec({"q3_follow_up": 0.96, "q2": 0.95, "q1": 0.0}, "by hand")
    assert spec.left_out == ("q3_follow_up",)
    assert "q3_follow_up" not in spec.parts
    assert spec.transform("q2", 1.0) == pytest.approx(1.0)
    assert spec.transform("q2", 0.0) == pytest.approx(-19.0)  # (0 - .95)/.05
    assert skill_spec({"q2": 0.96}, "by hand", spec).left_out == ("q3_follow_up", "q2")


@pytest.mark.slow
def test_a_reward_of_ones_own_is_measured_from_what_the_prior_earns_on_its_parts() -> None:
    def always(truth: object, turn: object, said: object) -> float:
        return 0.25

    mine = RewardSpec.weighted("mine", {"emotion_va": 2, "q1": 1}).with_part("flat", "prefer", always, 1.0)
    fitted = fit_skill(SAMPLE, spec=mine.with_format(0.1))
    assert fitted.name == "mine+flat+format-skill"
    assert fitted.left_out == ("format",)  # the prior answers everything: it would teach nothing
    assert set(fitted.baselines) == {"emotion_va", "q1", "flat"}
    assert fitted.baselines["flat"] == pytest.approx(0.25, abs=1e-12)
    composite = prior_scores(SAMPLE)
    assert fitted.baselines["q1"] == pytest.approx(composite["q1"], abs=1e-12)
    prior = builtin_policy("prior", SAMPLE)
    totals = [rollout(about, prior, reward=fitted).total for about in SAMPLE]
    assert sum(totals) / len(totals) == pytest.approx(0, abs=1e-12)
