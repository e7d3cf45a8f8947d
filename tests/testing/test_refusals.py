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

SHORT = load("sample")[:2]
COMPOSITE = RewardSpec.preset("composite")


def with_part(function: Callable[..., float]) -> RewardSpec:
    return COMPOSITE.with_part("mine", "prefer", function, 0.1)


def test_a_reward_whose_gold_is_not_one_is_refused() -> None:
    with pytest.raises(
        ContractError, match=r"annotations' own answers earn 1 .*mine 0\.9000 in sample-01/1/"
    ):
        check_reward(with_part(lambda truth, turn, said: 0.9), SHORT)


def test_a_reward_that_depends_on_how_often_it_is_called_is_refused() -> None:
    count = itertools.count()

    def counting(truth: object, turn: object, said: object) -> float:
        return 1.0 if next(count) < 60 else 0.5

    with pytest.raises(ContractError, match=r"when played again|own answers earn 1"):
        check_reward(with_part(counting), SHORT)


def test_silence_above_the_stated_bound_is_refused() -> None:
    check_reward("emotion", SHORT, empty_at_most=0.6)
    with pytest.raises(ContractError, match=r"'empty' earns 0\.\d+, at most 0\.0 is stated"):
        check_reward("emotion", SHORT, empty_at_most=0.0)


def test_garbage_above_the_stated_bound_is_refused() -> None:
    any_draft = COMPOSITE.with_part("drafted", "draft", lambda truth, turn, said: 1.0, 0.1)
    with pytest.raises(ContractError, match=r"the reply 'no' to every request earns 0\.09\d+ .*at most 0\.0"):
        check_reward(any_draft, SHORT)


def test_a_prompt_that_depends_on_an_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaking(about: Conversation, settings: Settings) -> tuple[Request, ...]:
        felt = str([turn.mood_shift_tags for turn in about.turns])
        return tuple(replace(request, user_message=felt) for request in plan(about, settings))

    monkeypatch.setattr("attune_env.testing.plan", leaking)
    with pytest.raises(
        ContractError, match="sample-01/1/draft: what is asked depends on the annotated answers"
    ):
        check_episode(SHORT)


def honest(policy: Policy, about: Conversation, reward: str) -> Outcome:
    played = rollout(about, policy, reward=reward, facts={"run_timestamp": "2026-01-01T00:00:00+00:00"})
    steps = played.steps
    return Outcome([s.reward for s in steps], played.total, [s.status for s in steps], played.result)


def wrong_total(good: Outcome) -> Outcome:
    return replace(good, total=good.total + 1e-9)


def scaled(good: Outcome) -> Outcome:
    return replace(good, rewards=[r / 2 for r in good.rewards], total=good.total / 2)


def unread(good: Outcome) -> Outcome:
    return replace(good, statuses=[*good.statuses[1:], "unparsed:no_json"])


def not_finite(good: Outcome) -> Outcome:
    return replace(good, rewards=[float("nan"), *good.rewards[1:]])


def without_tags(good: Outcome) -> Outcome:
    turns = [{**turn, "em_emotion_tags": None} for turn in good.record["turns"]]
    return replace(good, record={**good.record, "turns": turns})


def incomplete(good: Outcome) -> Outcome:
    return replace(good, record={**good.record, "attune": {**good.record["attune"], "complete": False}})


def not_json(good: Outcome) -> Outcome:
    return replace(good, record={**good.record, "api_cost": ("a", "tuple")})


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (wrong_total, "sum of the rewards against the return"),
        (scaled, "return against that of rollout"),
        (unread, r"replies that were not read: .*unparsed:no_json"),
        (not_finite, r"rewards .*nan"),
        (without_tags, "strict Composite of the record against the return"),
        (incomplete, "the result record is not complete"),
        (not_json, "the result record changes in JSON"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_an_environment_that_cheats_is_refused(spoil: Callable[[Outcome], Outcome], says: str) -> None:
    kept: dict[str, Any] = {"policies": ["prior"], "rewards": ["composite"]}
    check_env_contract(honest, SHORT, **kept)
    with pytest.raises(ContractError, match=says):
        check_env_contract(lambda *asked: spoil(honest(*asked)), SHORT, **kept)


def test_an_environment_that_forgets_is_refused() -> None:
    count = itertools.count()

    def forgetful(policy: Policy, about: Conversation, reward: str) -> Outcome:
        good = honest(policy, about, reward)
        return good if next(count) < 2 else replace(good, rewards=[good.total], total=good.total)

    with pytest.raises(ContractError, match=r"first, .* when played again"):
        check_env_contract(forgetful, SHORT, policies=["prior"], rewards=["composite"])
