"""`JSONAction` and `TypedAction`."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import gymnasium
import pytest
from gymnasium.error import InvalidAction
from gymnasium.wrappers import TimeLimit

from attune_data.errors import SettingsError
from attune_data.source.load import load
from attune_episodes.frameworks.gymnasium import JSONAction, TextSpace, TypedAction, no_answer
from attune_rewards import Assess, Draft, Prefer, Tag, TurnPrediction
from tests.frameworks.gymnasium.play import make

SAMPLE = load("sample")


def test_json_takes_texts_only() -> None:
    env = make(JSONAction, step="request")
    env.reset(seed=0)
    fenced = '```json\n{"emotions": [{"emotion": "upset", "intensity": 3}]}\n```'
    assert env.step(fenced)[4]["status"] == {"assess": "ok"}
    for wrong in (no_answer(), Assess(), None, 3, b"{}"):
        with pytest.raises(InvalidAction, match=r"the action is .*; expected a text"):
            env.step(wrong)


def test_typed_takes_predictions_and_texts() -> None:
    env = make(TypedAction, data=SAMPLE[:1], step="request")
    env.reset()
    assert env.step(Assess((Tag("Upset", 3),)))[4]["status"] == {"assess": "ok"}
    assert env.step("?")[4]["status"] == {"prefer": "unparsed:no_json"}
    with pytest.raises(InvalidAction, match="expected one of Draft, Assess, AssessHP, Prefer, Reflect"):
        env.step(no_answer())
    with pytest.raises(InvalidAction, match=r"stage assess expects .* or Assess, found .*Draft"):
        env.step(Draft("hello"))
    turn = make(TypedAction, data=SAMPLE[:1])
    turn.reset()
    for wrong, message in (
        (TurnPrediction(turn=9), "answers turn 9, expected turn 1"),
        (Assess(), "turn 1 asks assess, prefer: expected .* a TurnPrediction"),
        (TurnPrediction(turn=1, assess=Prefer()), "stage assess expects .* or Assess, found .*Prefer"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidAction, match=message):
            turn.step(wrong)
    assert turn.step(TurnPrediction(turn=1, assess=Assess()))[4]["status"] == {
        "assess": "ok", "prefer": "unparsed:empty",
    }  # fmt: skip


def test_spaces_hold_what_they_say() -> None:
    typed: Any = make(TypedAction).action_space
    for said in (Assess(), TurnPrediction(turn=1), "any text 😢"):
        assert typed.contains(said)
        assert make(JSONAction).action_space.contains(said) is isinstance(said, str)
    assert not typed.contains(no_answer())
    assert TextSpace(9) != TextSpace(9, (Draft,)) == TextSpace(9, (Draft,))
    typed.seed(3)
    first = [typed.sample() for _ in range(3)]
    typed.seed(3)
    assert [typed.sample() for _ in range(3)] == first


def test_wrappers_may_stand_anywhere_in_the_stack() -> None:
    env = TimeLimit(JSONAction(TimeLimit(make(), 50)), 3)
    env.reset(seed=0)
    assert [env.step("no")[3] for _ in range(3)] == [False, False, True]


def test_other_environments_are_refused() -> None:
    with pytest.raises(SettingsError, match="wraps Attune/Conversation-v0, found CartPoleEnv"):
        JSONAction(gymnasium.make("CartPole-v1"))


ID = "Attune/Conversation-v0"
IDS = f"{ID} Attune/Live-v0"
REPORT = "print(*(i for i in gymnasium.registry if i.startswith('Attune/')))"
MAKE = "print(gymnasium.make('{}', number=1).reset(seed=0)[1]['conversation_id'])"


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        (f"import attune_env, gymnasium\n{REPORT}\n{MAKE.format(ID)}", f"{IDS}\nsample-01"),
        (f"import gymnasium, attune_env, importlib\nimportlib.reload(attune_env)\n{REPORT}", IDS),
        (f"import gymnasium\n{MAKE.format('attune_env:' + ID)}", "sample-01"),
        # the floors below do not need it
        (f"import attune_episodes, attune_rewards, attune_data, gymnasium\n{REPORT}", ""),
    ],
)  # fmt: skip
def test_the_id_is_known_in_every_order_of_imports(code: str, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, encoding="utf-8", timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == printed
