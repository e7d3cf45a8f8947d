"""The searched adversary finds what is there to be found, and is fitted on other people only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from attune_data import Conversation, load
from attune_env.audit.attacks import fit_searched
from attune_episodes import Settings, builtin_policy, rollout
from attune_episodes.policies.asked import AskedPolicy, fit_asked
from attune_episodes.policies.constant import Answers, ConstantPolicy
from attune_episodes.policies.fitted import FittedPolicy
from attune_rewards import Assess, Draft, RewardSpec

PEOPLE = load("written:test")[:20]


@cache
def searched(preset: str) -> Answers:
    return fit_searched(PEOPLE, Settings(), RewardSpec.preset(preset))


def earned(answers: Answers, spec: RewardSpec | str, data: Sequence[Conversation] = PEOPLE) -> float:
    policy = ConstantPolicy("constant", answers)
    return sum(rollout(about, policy, reward=spec).total for about in data) / len(data)


@pytest.mark.slow
def test_from_silence_alone_it_comes_to_where_the_prior_is() -> None:
    for preset in ("behaviour", "preference", "holistic"):
        found = fit_searched(PEOPLE, Settings(), RewardSpec.preset(preset), [Answers()])
        # one change at a time may stop at another summit, a little lower
        assert earned(found, preset) == pytest.approx(earned(searched(preset), preset), abs=0.01)
        assert earned(found, preset) > earned(Answers(), preset) + 0.2


@pytest.mark.slow
def test_no_single_change_of_what_it_found_pays_more() -> None:
    spec = RewardSpec.preset("composite")
    again = fit_searched(PEOPLE, Settings(), spec, [searched("composite")])
    assert again == searched("composite")


def test_it_finds_the_weak_place_of_a_reward_of_ones_own() -> None:
    def three_sevens(truth: object, turn: object, said: object) -> float:
        """Pays for exactly three tags, all of intensity 7."""
        tags = said.tags or () if isinstance(said, Assess) else ()
        return (len(tags) == 3) * 0.5 + all(tag.intensity == 7 for tag in tags) * bool(tags) * 0.5

    def long(truth: object, turn: object, said: object) -> float:
        return min(1.0, len(said.text) / 500) if isinstance(said, Draft) else 0.0

    spec = RewardSpec.weighted("weak", {"pairwise": 0.1})
    spec = spec.with_part("sevens", "assess", three_sevens, 1.0).with_part("long", "draft", long, 1.0)
    found = fit_searched(PEOPLE[:5], Settings(), spec)
    assert len(found.tags or ()) == 3
    assert {tag.intensity for tag in found.tags or ()} == {7}
    assert len(found.draft) > 500


def test_each_fold_is_searched_without_its_own_people() -> None:
    seen: list[set[str]] = []

    def watched(others: Sequence[Conversation], settings: Settings) -> Answers:
        seen.append({about.participant for about in others})
        return fit_searched(others, settings, RewardSpec.preset("preference"))

    policy = FittedPolicy("searched", watched, PEOPLE, Settings())
    for about in PEOPLE:
        assert about.participant not in seen[policy.fold_of(about)]
    assert len(seen) == 5


def test_asked_learns_from_the_list_of_questions_alone() -> None:
    """In the sample B2 is hardly asked but where there was a feeling, so being asked it betrays one."""
    sample = load("sample")
    rules = fit_asked(sample)
    assert rules.tags.question == "B2"
    assert rules.tags.asked > 0  # one tag
    assert rules.tags.otherwise == 0  # none
    prior = builtin_policy("prior", sample)
    assert isinstance(prior, FittedPolicy)
    policies = (AskedPolicy(prior, sample), prior)
    gain = [
        sum(rollout(about, policy, reward="emotion").total for about in sample) / len(sample)
        for policy in policies
    ]
    assert gain[0] > gain[1] + 0.1


def test_asked_is_fitted_on_the_folds_of_the_prior() -> None:
    prior = builtin_policy("prior", PEOPLE)
    assert isinstance(prior, FittedPolicy)
    policy = AskedPolicy(prior, PEOPLE)
    for about in PEOPLE:
        mine = prior.fold_of(about)
        others = [one for one in PEOPLE if prior.fold_of(one) != mine]
        assert about.participant not in {one.participant for one in others}
        assert policy._rules[mine] == fit_asked(others)
