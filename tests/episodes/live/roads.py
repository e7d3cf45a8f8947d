"""Every road by which a live conversation is held, with the same replies."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final
from unittest.mock import patch

import pytest

from attune_data.simulate import Simulation
from attune_episodes import score_row
from attune_episodes.live import LiveEpisode
from attune_episodes.live.source import LiveSource
from attune_episodes.trainers import live_rows, row_reward, to_skyrl, training_dataset
from tests import PATIENCE
from tests.command import ATTUNE

SEED: Final = 8
WORLD: Final = Simulation(SEED)
NUMBER: Final = 3
REPLIES: Final = (
    "It sounds like that hurt… and it makes sense that you are upset. What happened then?",
    "You should simply move on.",
    "I can see how much this weighs on you, and no wonder.",
    "",
)
Rewards = list[list[float]]
"""Conversation -> the reward of each reply."""


def reply(said: int) -> str:
    """The reply after so many others."""
    return REPLIES[said % len(REPLIES)]


def engine() -> Rewards:
    """By `LiveEpisode` itself."""
    found = []
    for index in range(NUMBER):
        live = LiveEpisode(WORLD, index)
        while not live.done:
            live.say(reply(len(live.turns)))
        assert live.total == sum(turn.reward for turn in live.turns)
        found.append([turn.reward for turn in live.turns])
    return found


def gymnasium() -> Rewards:
    import gymnasium

    env: Any = gymnasium.make("attune_env:Attune/Live-v0", world_seed=SEED, sampling="sequential")
    found: Rewards = []
    for _ in range(NUMBER):
        env.reset()
        rewards: list[float] = []
        done = False
        while not done:
            _, reward, done, _, info = env.step(reply(len(rewards)))
            rewards.append(reward)
        assert info["total"] == pytest.approx(sum(rewards), abs=1e-12)
        found.append(rewards)
    return found


def verifiers() -> Rewards:
    from tests.endpoint import serve
    from tests.verifiers_env.play import environment, played

    def model(messages: Sequence[Mapping[str, Any]]) -> str:
        return reply(sum(message["role"] == "assistant" for message in messages))

    with serve(model) as server:
        env = environment({"live": True, "number": NUMBER, "world_seed": SEED})
        return [[trace.reward] for trace in played(env, server.url)]


def terminal() -> Rewards:
    """The first conversation alone, in a process with hashes of its own."""
    done = subprocess.run(
        [str(ATTUNE), "live", "--seed", str(SEED)], input="".join(f"{reply(n)}\n" for n in range(20)),
        capture_output=True, check=True, encoding="utf-8", timeout=PATIENCE,
        env=os.environ | {"PYTHONHASHSEED": "7"},
    )  # fmt: skip
    return [[float(paid) for paid in re.findall(r"^turn \d+: ([+-][\d.]+)$", done.stdout, re.MULTILINE)]]


def first_rows() -> Rewards:
    """The rows of first turns, whose state is that of the episode: one reply each."""
    rows = [row for row in training_dataset("simulated", world_seed=SEED, number=NUMBER, stages=["respond"])
            if row["turn"] == 1]  # fmt: skip
    values = [score_row(row, reply(0)).value or 0.0 for row in rows]
    assert row_reward(completions=[reply(0)] * NUMBER, truth=[row["truth"] for row in rows]) == values
    return [[value] for value in values]


def openenv() -> Rewards:
    pytest.importorskip("openenv.core")
    pytest.importorskip("websockets")
    from attune_episodes.openenv_env import AttuneClient
    from tests.extras.openenv.serving import served

    found = []
    with (
        served(LiveSource(world_seed=SEED, sampling="sequential")) as url,
        AttuneClient(base_url=url).sync() as one,
    ):
        for _ in range(NUMBER):
            result = one.reset()
            rewards: list[float] = []
            while not result.done:
                result = one.step(reply(len(rewards)))
                rewards.append(result.reward)
            assert result.observation.total == pytest.approx(sum(rewards), abs=1e-12)
            found.append(rewards)
    return found


def skyrl() -> Rewards:
    skyrl_gym = pytest.importorskip("skyrl_gym")
    from attune_episodes.trainers.skyrl import register_environments

    register_environments()
    found = []
    for row in to_skyrl(live_rows(WORLD, NUMBER)):
        extras = {name: value for name, value in row.items() if name not in ("prompt", "env_class")}
        env = skyrl_gym.make(row["env_class"], env_config={}, extras={**extras, "max_turns": 1})
        env.init(row["prompt"])
        rewards: list[float] = []
        done = False
        while not done:
            step = env.step(reply(len(rewards)))
            rewards.append(step["reward"])
            done = step["done"]
        assert env.get_metrics()["return"] == pytest.approx(sum(rewards), abs=1e-12)
        found.append(rewards)
    return found


def trl() -> Rewards:
    pytest.importorskip("trl")
    from attune_episodes.trainers import live_rollouts
    from attune_episodes.trainers import trl as adapter
    from tests.extras.trl import tiny

    words = tiny.tokenizer()
    ours = live_rollouts(WORLD, NUMBER)

    class Trainer:
        class accelerator:  # as the trainer has it
            num_processes = 1

        processing_class, chat_template = words, words.chat_template
        chat_template_kwargs: ClassVar[dict[str, Any]] = {}

    calls = iter(range(100))

    def generate(trainer: Any, prompts: list[list[int]]) -> Any:
        said = next(calls)  # side by side: every waiting conversation has as many replies
        return [words(reply(said) + words.eos_token).input_ids for _ in prompts], None

    with patch.object(adapter, "generate", generate):
        made = ours["rollout_func"]([row["prompt"] for row in ours["train_dataset"]], Trainer)
    totals = ours["reward_funcs"][0](episode=made["episode"])
    assert totals == [episode.total for episode in made["episode"]]
    return [[turn.reward for turn in episode.turns] for episode in made["episode"]]


ROADS: Final[dict[str, Callable[[], Rewards]]] = {
    "gymnasium": gymnasium,
    "verifiers": verifiers,
    "terminal": terminal,
    "rows": first_rows,
    "openenv": openenv,
    "skyrl": skyrl,
    "trl": trl,
}
SHOWN: Final = {"terminal": 5e-4}
"""Road -> how exact its numbers are, where it rounds them to show them."""


def check_road(name: str) -> None:
    """Raise where a road pays anything else than the live episode, beyond 1e-12."""
    with contextlib.redirect_stderr(io.StringIO()):
        found = ROADS[name]()
    near = SHOWN.get(name, 1e-12)
    assert len(found) == (1 if name == "terminal" else NUMBER)
    for mine, want in zip(found, engine(), strict=False):
        if name == "verifiers":  # the trace has the total alone
            assert mine == [pytest.approx(sum(want), abs=near)]
        else:
            wanted = want[:1] if name == "rows" else want
            assert mine == pytest.approx(wanted, abs=near)
            assert sum(mine) == pytest.approx(sum(wanted), abs=near * len(wanted))
