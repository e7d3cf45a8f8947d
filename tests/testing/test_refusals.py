"""The contracts refuse what breaks them: each check of `attune_env.testing` can fail, and says where."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from attune_data import Conversation, load
from attune_env.testing import ContractError, Outcome, check_env_contract, check_episode, check_reward
from attune_episodes import Policy, Request, Settings, plan, rollout
from attune_rewards import RewardSpec
from attune_rewards.predictions import Stage

SHORT = load("sample")[:2]
COMPOSITE = RewardSpec.preset("composite")
ONE: dict[str, Any] = {"policies": ["prior"], "rewards": ["composite"]}


def test_a_reward_that_breaks_its_contract_is_refused() -> None:
    count = itertools.count()

    def mine(stage: Stage, function: Callable[..., float]) -> RewardSpec:
        return COMPOSITE.with_part("mine", stage, function, 0.1)

    check_reward("emotion", SHORT, empty_at_most=0.6)
    for reward, says in (
        (
            mine("prefer", lambda *_: 0.9),
            r"part 'mine': .*own answer earns 0\.9, not 1 .*'sample-01', turn 1, prefer",
        ),
        (mine("draft", lambda *_: 1.0 if next(count) < 60 else 0.5), "when played again"),
        # any text is a draft
        (mine("draft", lambda *_: 1.0), r"the reply 'no' to every request earns 0\.09\d+ .*at most 0\.0"),
        ("emotion", r"'empty' earns 0\.\d+, at most 0\.0 is stated"),
    ):
        with pytest.raises(ContractError, match=says):
            check_reward(reward, SHORT, empty_at_most=0.0 if reward == "emotion" else 0.5)


def test_a_prompt_that_depends_on_an_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaking(about: Conversation, settings: Settings) -> tuple[Request, ...]:
        felt = str([turn.mood_shift_tags for turn in about.turns])
        return tuple(replace(request, user_message=felt) for request in plan(about, settings))

    monkeypatch.setattr("attune_env.testing.contracts.plan", leaking)
    with pytest.raises(
        ContractError, match="sample-01/1/draft: what is asked depends on the annotated answers"
    ):
        check_episode(SHORT)


def honest(policy: Policy, about: Conversation, reward: str) -> Outcome:
    played = rollout(about, policy, reward=reward, facts={"run_timestamp": "2026-01-01T00:00:00+00:00"})
    steps = played.steps
    return Outcome([s.reward for s in steps], played.total, [s.status for s in steps], played.result)


def kept(good: Outcome, **changed: object) -> Outcome:
    return replace(good, record={**good.record, **changed})


@pytest.mark.parametrize(("spoil", "says"), [
    (lambda good: replace(good, total=good.total + 1e-9), "sum of the rewards against the return"),
    (lambda good: replace(good, rewards=[r / 2 for r in good.rewards], total=good.total / 2),
     "return against that of rollout"),
    (lambda good: replace(good, statuses=[*good.statuses[1:], "unparsed:no_json"]),
     r"unreadable replies: .*unparsed:no_json"),
    (lambda good: replace(good, rewards=[float("nan"), *good.rewards[1:]]), r"rewards .*nan"),
    (lambda good: kept(good, turns=[{**turn, "em_emotion_tags": None} for turn in good.record["turns"]]),
     "strict Composite of the record against the return"),
    (lambda good: kept(good, attune={**good.record["attune"], "complete": False}),
     "the result record is not complete"),
    (lambda good: kept(good, api_cost=("a", "tuple")), "the result record changes in JSON"),
])  # fmt: skip
def test_an_environment_that_cheats_is_refused(spoil: Callable[[Outcome], Outcome], says: str) -> None:
    with pytest.raises(ContractError, match=says):
        check_env_contract(lambda *asked: spoil(honest(*asked)), SHORT, **ONE)


def test_an_environment_that_forgets_is_refused_and_an_honest_one_is_not() -> None:
    check_env_contract(honest, SHORT, **ONE)
    count = itertools.count()

    def forgetful(policy: Policy, about: Conversation, reward: str) -> Outcome:
        good = honest(policy, about, reward)
        return good if next(count) < 2 else replace(good, rewards=[good.total], total=good.total)

    with pytest.raises(ContractError, match=r"first, .* when played again"):
        check_env_contract(forgetful, SHORT, **ONE)
