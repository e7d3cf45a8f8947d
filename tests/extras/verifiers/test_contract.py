"""The contract of everything that plays (`attune_env.testing`), held by verifiers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from attune_data import Conversation
from attune_env.testing import Outcome, check_env_contract
from attune_episodes import BUILTIN, Policy
from attune_episodes.frameworks.verifiers import AttuneEnv, AttuneTaskset, rollouts_from
from attune_episodes.frameworks.verifiers.tasks import AttuneTask
from attune_episodes.frameworks.verifiers.traces import AttuneData
from attune_episodes.play.policy import prepared
from attune_episodes.play.task import Task
from attune_rewards import RewardSpec
from tests.endpoint import Book, Server, serve
from tests.frameworks.verifiers.play import context, environment, sample

SHORT = sample()[:3]


class Player:
    """One environment, one event loop and one endpoint for all episodes."""

    def __init__(self, server: Server, env: AttuneEnv, runner: asyncio.Runner) -> None:
        self.server, self.env, self.runner = server, env, runner

    def __call__(self, policy: Policy, about: Conversation, preset: str) -> Outcome:
        assert isinstance(self.env.taskset, AttuneTaskset)
        settings = self.env.taskset.settings
        task = AttuneTask(AttuneData.of(Task(about, settings, RewardSpec.preset(preset))))
        book, player = Book(), prepared(policy, about)
        for request in task.data.task.requests:
            book.add(request, str(player.reply(request)))
        self.server.answers = book
        episode = self.runner.run(self.env.run_episode(task, context(self.server.url)))
        assert episode.ok, episode.errors
        (trace,) = episode.traces
        (one,) = rollouts_from([trace])
        steps = one.steps
        assert abs(trace.reward - one.total) < 1e-12
        return Outcome([s.reward for s in steps], trace.reward, [s.status for s in steps], one.result)


@pytest.fixture(scope="module")
def player() -> Iterator[Player]:
    env = environment({"number": 1}, {"harness": {"parallel": 8}})
    serving = env.serving()
    with serve(Book()) as server, asyncio.Runner() as runner:
        runner.run(serving.__aenter__())
        try:
            yield Player(server, env, runner)
        finally:
            runner.run(serving.__aexit__(None, None, None))


@pytest.mark.parametrize("preset", ["composite", "skill"])
@pytest.mark.parametrize("name", BUILTIN)
def test_verifiers_keeps_the_contract(player: Player, name: str, preset: str) -> None:
    check_env_contract(player, SHORT, policies=[name], rewards=[preset])
