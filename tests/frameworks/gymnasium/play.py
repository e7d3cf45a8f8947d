"""Playing whole episodes of `Attune/Conversation-v0` in tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import gymnasium
import numpy as np

from attune_data import Conversation, Conversations
from attune_env.testing import Outcome
from attune_episodes import Policy, Request, Unparsed, parse
from attune_episodes.frameworks.gymnasium import ConversationEnv, JSONAction, TypedAction, to_action
from attune_episodes.play.policy import prepared
from attune_rewards import STAGES, TurnPrediction

ID: Final = "attune_env:Attune/Conversation-v0"
TIME: Final = "2026-01-01T00:00:00+00:00"
Env = gymnasium.Env[Any, Any]
Act = Callable[[Env, dict[str, Any]], Any]
"""The action for an env whose info is the second argument."""
WRAPPERS: Final[dict[str, tuple[Callable[[Env], Env], ...]]] = {
    "structured": (),
    "json": (JSONAction,),
    "typed": (TypedAction,),
}


def make(*wrappers: Callable[[Env], Env], **arguments: Any) -> Env:
    """The environment through `gymnasium.make`, wrapped."""
    env: Env = gymnasium.make(ID, **arguments)
    for wrapper in wrappers:
        env = wrapper(env)
    return env


def inner(env: Env) -> ConversationEnv:
    found = env.unwrapped
    assert isinstance(found, ConversationEnv)
    return found


def requests_of(info: dict[str, Any]) -> tuple[Request, ...]:
    request = info["request"]
    return (request,) if isinstance(request, Request) else tuple(request.requests)


def answer(form: str, policy: Policy, info: dict[str, Any], *, hp: bool) -> Any:
    """A policy's answer to what is asked, in one of the forms structured, json, typed."""
    asked = requests_of(info)
    texts = [str(policy.reply(request)) for request in asked]
    if form == "json":
        joined = ", ".join(f'"{r.stage}": {t}' for r, t in zip(asked, texts, strict=True))
        return texts[0] if len(asked) == 1 else f"{{{joined}}}"
    said = [parse(request, text) for request, text in zip(asked, texts, strict=True)]
    known = [one for one in said if not isinstance(one, Unparsed)]
    assert len(known) == len(said)
    if form == "structured":
        return to_action(zip(asked, known, strict=True), hp=hp)
    if len(asked) == 1:
        return known[0]
    stages: dict[str, Any] = {r.stage: s for r, s in zip(asked, known, strict=True)}
    return TurnPrediction(turn=asked[0].turn or 0, **stages)


def episode(
    env: Env, act: Act, *, seed: int | None = None, options: dict[str, Any] | None = None
) -> tuple[list[float], list[dict[str, Any]]]:
    """Rewards and infos (the reset's first) of one whole episode."""
    _, info = env.reset(seed=seed, options=options)
    rewards, infos = [], [info]
    ended = False
    while not ended:
        _, reward, ended, truncated, info = env.step(act(env, info))
        assert truncated is False
        rewards.append(float(reward))
        infos.append(info)
    return rewards, infos


def played(policy: Policy, about: Conversation, form: str, **arguments: Any) -> tuple[list[float], list[Any]]:
    """One conversation played by a policy, all stages unless told otherwise."""
    arguments = {"stages": STAGES, "data": Conversations([about])} | arguments
    env = make(*WRAPPERS[form], training=False, **arguments)
    player, hp = prepared(policy, about), "assess_hp" in arguments["stages"]
    return episode(env, lambda _, info: answer(form, player, info, hp=hp))


def player(form: str, step: str = "turn") -> Callable[[Policy, Conversation, str], Outcome]:
    """A way to play for `check_env_contract`."""

    def play(policy: Policy, about: Conversation, preset: str) -> Outcome:
        rewards, infos = played(policy, about, form, reward=preset, step=step)
        last = infos[-1]
        record = dict(last["result"]) | {"run_timestamp": TIME}
        statuses = [status for info in infos[1:] for status in info["status"].values()]
        return Outcome(rewards, last["total"], statuses, record)

    return play


def random_act(*, masked: bool) -> Act:
    """Draws from the action space."""

    def act(env: Env, info: dict[str, Any]) -> Any:
        return env.action_space.sample(mask=env.get_wrapper_attr("action_mask")() if masked else None)

    return act


def same(one: Any, two: Any) -> bool:
    """Whether two observations or actions are equal, arrays by value."""
    if isinstance(one, dict):
        return isinstance(two, dict) and one.keys() == two.keys() and all(same(one[k], two[k]) for k in one)
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, two))
    return bool(one == two)
