"""The frozen nulls of the `skill` preset are what `prior` earns on simulated people."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from attune_data import Conversations, load
from attune_episodes import Settings, builtin_policy, rollout
from attune_episodes.skill import fit_skill, prior_scores, reference_data
from attune_rewards import LEAVES, RewardSpec
from attune_rewards.spec import MAX_NULL, SKILL_FILE, skill_spec
from tests import PATIENCE

SAMPLE = load("sample")
FROZEN: dict[str, Any] = json.loads(SKILL_FILE.read_text("utf-8"))


@cache
def reference() -> Conversations:
    return reference_data()


def test_the_frozen_nulls_are_the_priors_scores_on_simulated_people() -> None:
    now = prior_scores(reference())
    assert FROZEN["nulls"].keys() == now.keys()
    assert FROZEN["nulls"] == pytest.approx(now, abs=1e-12)


def test_the_reference_is_named_as_it_is() -> None:
    # if this fails the simulator has changed: python -m attune_episodes.skill > …/presets/skill.json
    made = reference()
    assert (len(made), made.provenance) == (500, "simulated")
    assert FROZEN["reference"] == f"{made.source} (500 conversations, {made.fingerprint})"
    assert RewardSpec.preset("skill").reference == FROZEN["reference"]


def test_the_module_prints_the_very_file() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "attune_episodes.skill"],
        capture_output=True, check=True, encoding="utf-8", timeout=PATIENCE,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (SKILL_FILE.read_text("utf-8"), "")


def test_the_module_prints_one_for_data_of_ones_own() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "attune_episodes.skill", "sample"],
        capture_output=True, check=True, encoding="utf-8", timeout=60,
    )  # fmt: skip
    printed = json.loads(done.stdout)
    assert printed["reference"] == f"sample ({len(SAMPLE)} conversations, {SAMPLE.fingerprint})"
    assert printed["nulls"] == pytest.approx(prior_scores(SAMPLE), abs=1e-12)


def test_the_prior_earns_nothing_on_average_and_the_oracle_one() -> None:
    spec = RewardSpec.preset("skill")
    prior, oracle = (builtin_policy(name, reference()) for name in ("prior", "oracle"))
    values: dict[str, list[float]] = {}
    for about in reference():
        for part, score in rollout(about, prior, reward=spec).parts.items():
            values.setdefault(part, []).append(spec.transform(part, score))
        assert rollout(about, oracle, reward=spec).total == pytest.approx(1.0, abs=1e-12)
    assert values.keys() == set(LEAVES) - set(spec.left_out)
    for scores in values.values():
        assert sum(scores) / len(scores) == pytest.approx(0.0, abs=1e-12)


def test_worse_than_the_prior_is_below_zero() -> None:
    totals = [rollout(about, lambda messages: "", reward="skill").total for about in SAMPLE]
    assert max(totals) < 0


def test_nulls_of_ones_own_data() -> None:
    data = SAMPLE[:6]
    spec = fit_skill(data, Settings(panas_strategy="delta"))
    assert spec.reference == f"sample (6 conversations, {data.fingerprint})"
    nulls = prior_scores(data, Settings(panas_strategy="delta"))
    assert {leaf: null for leaf, null in nulls.items() if null <= MAX_NULL} == spec.nulls
    assert set(spec.left_out) == {leaf for leaf, null in nulls.items() if null > MAX_NULL}


def test_parts_that_teach_nothing_are_left_out_and_named() -> None:
    # the follow-up's null is above .95: nobody can be told apart by it
    spec = skill_spec({"q3_follow_up": 0.96, "q2": 0.95, "q1": 0.0}, "by hand")
    assert spec.left_out == ("q3_follow_up",)
    assert "q3_follow_up" not in spec.parts
    assert spec.transform("q2", 1.0) == pytest.approx(1.0)
    assert spec.transform("q2", 0.0) == pytest.approx(-19.0)  # (0 - .95)/.05


def test_a_reward_of_ones_own_is_measured_from_what_the_prior_earns_on_its_parts() -> None:
    def always(truth: object, turn: object, said: object) -> float:
        return 0.25

    mine = RewardSpec.weighted("mine", {"emotion_va": 2, "q1": 1}).with_part("flat", "prefer", always, 1.0)
    fitted = fit_skill(SAMPLE, spec=mine.with_format(0.1))
    assert fitted.name == "mine+flat+format-skill"
    assert fitted.left_out == ("format",)  # the prior answers everything: it would teach nothing
    assert set(fitted.nulls) == {"emotion_va", "q1", "flat"}
    assert fitted.nulls["flat"] == pytest.approx(0.25, abs=1e-12)
    composite = prior_scores(SAMPLE)
    assert fitted.nulls["q1"] == pytest.approx(composite["q1"], abs=1e-12)
    prior = builtin_policy("prior", SAMPLE)
    totals = [rollout(about, prior, reward=fitted).total for about in SAMPLE]
    assert sum(totals) / len(totals) == pytest.approx(0, abs=1e-12)
