"""`JSONAction` and `TypedAction`."""

from __future__ import annotations

import json
from typing import Any

import gymnasium
import pytest
from gymnasium.error import InvalidAction
from gymnasium.wrappers import TimeLimit

from attune_data.errors import SettingsError
from attune_data.loading import load
from attune_episodes import Unparsed, parse
from attune_episodes.gymnasium_envs import no_answer
from attune_episodes.gymnasium_envs.wrappers import JSONAction, JSONSpace, TypedAction, TypedSpace
from attune_rewards import STAGES, Assess, Draft, Tag, TurnPrediction
from tests.gymnasium_envs.play import episode, make

SAMPLE = load("sample")


def test_json_takes_texts_only() -> None:
    env = make(JSONAction)
    env.reset(seed=0)
    _, _, _, _, info = env.step('```json\n{"emotions": [{"emotion": "upset", "intensity": 3}]}\n```')
    assert info["status"] == "ok"
    for wrong in (no_answer(), Assess(), None, 3, b"{}"):
        with pytest.raises(InvalidAction, match=r"the action is .*; expected a text"):
            env.step(wrong)


def test_typed_takes_predictions_and_texts() -> None:
    env = make(TypedAction, data=SAMPLE[:1])
    env.reset()
    assert env.step(Assess((Tag("Upset", 3),)))[4]["status"] == "ok"
    assert env.step("?")[4]["status"] == "unparsed:no_json"
    with pytest.raises(InvalidAction, match="expected one of Draft, Assess, AssessHP, Prefer, Reflect"):
        env.step(no_answer())
    with pytest.raises(InvalidAction, match=r"stage assess takes Assess or text, found .*Draft"):
        env.step(Draft("hello"))


@pytest.mark.parametrize("step", ["request", "turn"])
@pytest.mark.parametrize("strategy", ["absolute", "delta"])
@pytest.mark.parametrize("wrapper", [JSONAction, TypedAction])
def test_samples_are_read_in_every_stage(wrapper: Any, strategy: str, step: str) -> None:
    env = make(wrapper, stages=STAGES, panas_strategy=strategy, step=step)
    env.action_space.seed(2)
    answered: set[str] = set()

    def act(env: Any, info: dict[str, Any]) -> str:
        text: str = env.action_space.sample(mask=env.get_wrapper_attr("action_mask")())
        assert env.action_space.contains(text)
        answered.update(json.loads(text))
        return text

    _, infos = episode(env, act, seed=1)
    for info in infos[1:]:
        statuses = info["status"].values() if step == "turn" else [info["status"]]
        assert set(statuses) <= {"ok", "unparsed:empty"}  # an empty draft is one of the samples
    assert {"emotions", "picks", "fourBranchScores"} <= answered
    for _ in range(3):
        episode(env, lambda env, info: env.action_space.sample())


def test_samples_follow_the_seed() -> None:
    space = JSONSpace()
    space.seed(3)
    first = [space.sample() for _ in range(3)]
    space.seed(3)
    assert [space.sample() for _ in range(3)] == first
    assert len(set(first)) == 3
    assert space == JSONSpace()
    assert space != JSONSpace(changes=True)
    assert JSONSpace() != TypedSpace()


def test_spaces_hold_what_they_say() -> None:
    assert "any text 😢" in JSONSpace()
    assert not JSONSpace().contains(Assess())
    typed = TypedSpace()
    assert typed.contains(Assess())
    assert typed.contains(TurnPrediction(turn=1))
    assert typed.contains("text")
    assert not typed.contains(no_answer())


@pytest.mark.parametrize("wrapper", [JSONAction, TypedAction])
def test_wrapped_specs_go_through_json(wrapper: Any) -> None:
    env = make(wrapper, data="sample", stages=["assess"], reward="emotion")
    assert env.spec is not None
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert isinstance(again, wrapper)
    assert again.spec == env.spec
    one, _ = episode(env, lambda *_: '{"emotions": []}', seed=3)
    two, _ = episode(again, lambda *_: '{"emotions": []}', seed=3)
    assert one == two


def test_wrappers_may_stand_anywhere_in_the_stack() -> None:
    env = TimeLimit(JSONAction(TimeLimit(make(), 50)), 3)
    env.reset(seed=0)
    assert [env.step("no")[3] for _ in range(3)] == [False, False, True]


def test_other_environments_are_refused() -> None:
    with pytest.raises(SettingsError, match="wraps Attune/Conversation-v0, found CartPoleEnv"):
        JSONAction(gymnasium.make("CartPole-v1"))


def test_a_model_in_ten_lines() -> None:
    env = make(JSONAction, data=SAMPLE[:1], stages=("assess",))

    def model(messages: list[dict[str, str]]) -> str:
        assert messages[-1]["role"] == "user"
        return 'I think: {"emotions": [{"emotion": "Upset", "intensity": 4}], "observed": {"B1": "yes"}}'

    _, info = env.reset()
    request = info["request"]
    said = parse(request, model(request.chat()))
    assert not isinstance(said, Unparsed)
    _, reward, _, _, info = env.step(model(request.chat()))
    assert info["status"] == "ok"
    assert float(reward) > 0
