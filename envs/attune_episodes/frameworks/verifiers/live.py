"""`attune-live`: a conversation with a played person as an episode of verifiers.

    vf-eval attune-live --env.taskset.people plan.jsonl --env.taskset.person MODEL@http://localhost:8000/v1

The model's replies are calls of the rollout's endpoint; the person and the reader are asked where the
taskset says. The reward is the total of the live episode.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, Final, Self

import verifiers.v1 as vf
from pydantic import Field, model_validator

from attune_data.errors import AttuneError
from attune_episodes.frameworks.verifiers.arguments import DESCRIBED
from attune_episodes.frameworks.verifiers.run import SUCCESS, IncompleteEpisodeError, rollout_client
from attune_episodes.frameworks.verifiers.tasks import NotPlayableError
from attune_episodes.frameworks.verifiers.traces import AnyEpisode, AnyTask, AnyTrace
from attune_episodes.people.cards import PARTS, Card
from attune_episodes.people.closing import FIT
from attune_episodes.people.endpoint import answerer, people_of
from attune_episodes.people.live import Answerer, LiveEpisode
from attune_episodes.play.asking import patient

LIVE_ID: Final = "attune-live"
"""The name under which verifiers finds this: the package `attune_live`."""
INFO: Final = "attune_live"
"""Where a trace keeps what was earned: `rewards` of the replies, and at the end `total`, `fit` and `left`."""


class LiveTasksetConfig(vf.TasksetConfig):
    """Which people to talk with, and who plays them."""

    model_config = DESCRIBED

    id: vf.ID = LIVE_ID
    people: str = ""
    """A plan written by `attune people plan`, or the folder of pinned people."""
    person: str | None = None
    """Who plays the persons, as MODEL@http://host:port/v1; without it, pinned people."""
    reader: str | None = None
    """Who reads the replies; by default, whoever plays the persons."""
    key_var: str = ""
    """The environment variable with the key of both."""
    part: str | None = None
    """Only the people of one part: train, dev or test."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.part not in (None, *PARTS):
            raise ValueError(f"part is {self.part!r}; expected one of {', '.join(PARTS)}")
        return self


class LiveData(vf.TaskData):
    """One task: a card, and who plays."""

    card: dict[str, Any]
    people: str
    person: str | None = None
    reader: str | None = None
    key_var: str = ""

    def begin(self) -> LiveEpisode:
        """Begin the conversation; it asks whoever plays the person for the first message."""
        person, reader = _players(self.people, self.person, self.reader, self.key_var)
        return LiveEpisode(Card.from_record(self.card), person=person, reader=reader)


@lru_cache(maxsize=4)
def _players(
    people: str, person: str | None, reader: str | None, key_var: str
) -> tuple[Answerer, Answerer | None]:
    """Return who plays the person and who reads; a process reads pinned answers once for all its rollouts."""
    plays, _ = people_of(people, person, key_var)
    return plays, None if reader is None else answerer(reader, key_var)


class LiveTask(vf.Task[LiveData, vf.State, vf.TaskConfig]):
    """A conversation with one person."""

    @vf.reward(weight=1.0)
    async def live_total(self, trace: AnyTrace) -> float:
        """The mean reward over all planned turns."""
        return float(trace.info.get(INFO, {}).get("total", 0.0))

    @vf.metric
    async def about(self, trace: AnyTrace) -> dict[str, float]:
        """The turns, whether the person left, and the person's own judgement of the fit, from 0 to 3."""
        found = trace.info.get(INFO, {})
        names = ("turns", "left", "fit")
        return {name: float(found[name]) for name in names if name in found}


class LiveTaskset(vf.Taskset[LiveTask, LiveTasksetConfig]):
    """The people of a plan, or pinned people."""

    def load(self) -> Iterator[LiveTask]:
        """One task per card, in the order of the plan."""
        config = self.config
        asked = {name: getattr(config, name) for name in ("people", "person", "reader", "key_var")}
        if not config.people:
            raise NotPlayableError("name a plan or a folder of pinned people with --env.taskset.people")
        try:
            _, cards = people_of(config.people, config.person, config.key_var)
        except AttuneError as error:
            raise NotPlayableError(str(error)) from error
        for card in cards:
            if config.part in (None, card.part):
                # verifiers requires a prompt for every task; the person writes the first message
                data = LiveData(name=card.id, prompt=" ", card=vars(card), **asked)
                yield LiveTask(data, config.task)


class LiveHarnessConfig(vf.HarnessConfig):
    """How the model is asked for its replies."""

    model_config = DESCRIBED

    id: vf.ID = LIVE_ID
    system: str = ""
    """A system message for the model; by default none, as the person knows of none."""
    retries: int = Field(4, ge=0, le=100)
    """How many times to retry a failed call (408, 409, 425, 429, 5xx, no connection)."""


class LiveHarness(vf.Harness[LiveHarnessConfig]):
    """A harness that asks for each reply with the whole conversation so far, and tells it to the person."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: AnyTrace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Talk to the end, or until verifiers stops it."""
        if not isinstance(data, LiveData):
            raise TypeError(f"the harness {self.config.id!r} only plays tasks of the taskset {LIVE_ID}")
        system = [{"role": "system", "content": self.config.system}] if self.config.system else []
        async with rollout_client(endpoint, secret) as client:
            # the people are asked in threads: what is asked of them blocks
            episode = await asyncio.to_thread(data.begin)
            while not episode.done:
                body = {"model": ctx.model, "messages": [*system, *episode.chat()], "stream": False}
                send = partial(client.complete, body, plain=True, readable=lambda _: True)
                answer = await patient(send, self.config.retries)
                await asyncio.to_thread(episode.say, answer.text)
        trace.info[INFO] = {
            "rewards": [turn.reward for turn in episode.turns],
            "turns": len(episode.turns),
            "total": episode.total,
            "left": episode.left,
            "fit": len(FIT) - 1 - list(FIT).index(episode.closing.fit),
            "record": episode.record(),
        }
        return SUCCESS


class LiveEnvConfig(vf.SingleAgentEnvConfig):
    """The environment: played people, and the model that talks with them."""

    taskset: LiveTasksetConfig = Field(default_factory=LiveTasksetConfig)
    """Which people to talk with, and who plays them."""
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig(), network_notice=False).model_copy(
        update={"harness": LiveHarnessConfig()}
    )
    """The model that talks, and how."""


class LiveEnv(vf.SingleAgentEnv, vf.Env[LiveEnvConfig]):
    """The environment `attune-live`: a conversation with a played person as an episode."""

    config: LiveEnvConfig

    async def finalize(self, task: AnyTask, episode: AnyEpisode) -> None:
        """Mark a trace as failed if the conversation did not come to its end."""
        for trace in episode.traces:
            if trace.ok and "total" not in trace.info.get(INFO, {}):
                why = f"the conversation did not come to its end (stopped by: {trace.stop_condition})"
                trace.record_error(IncompleteEpisodeError(why))
                trace.rewards = dict.fromkeys(trace.rewards)
