"""`AttuneHarness` asks the requests of a plan; `AttuneEnv` rejects incomplete results."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import verifiers.v1 as vf
from verifiers.v1.agent import Agents

from attune_data.errors import AttuneError, show
from attune_data.source.guard import for_training
from attune_episodes.chat.client import ChatClient
from attune_episodes.chat.completion import Answer
from attune_episodes.chat.faults import Fault
from attune_episodes.frameworks.verifiers.arguments import AttuneEnvConfig, AttuneHarnessConfig, check_harness
from attune_episodes.frameworks.verifiers.logs import FAILED, INFO_KEY, VERSION
from attune_episodes.frameworks.verifiers.traces import (
    AnyEpisode,
    AnyTask,
    AnyTrace,
    AttuneData,
    replies_of,
    state_of,
)
from attune_episodes.parsing import Unparsed, parse
from attune_episodes.play.asking import Asking, patient
from attune_episodes.protocol.request import Request

SUCCESS: Final = vf.ProgramResult(exit_code=0, stdout="", stderr="")


class IncompleteEpisodeError(AttuneError):
    """A rollout ended before every request was answered, or before scoring was complete."""


class AttuneHarness(vf.Harness[AttuneHarnessConfig]):
    """A harness that sends every request of the plan unchanged and records the raw replies.

    No program is started: calls go directly to the rollout's endpoint, with its secret, so that verifiers
    sees, limits, records and samples each of them. After an unreadable reply, exactly the same messages are
    sent again. Failed calls are retried.
    """

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
        """Play one task to its end, or until verifiers stops it."""
        if not isinstance(data, AttuneData):
            raise TypeError(
                f"the harness {self.config.id!r} only plays tasks of its own taskset, got "
                f"{type(data).__name__}; set --env.taskset.id attune-env"
            )
        data.check_prompts()
        async with rollout_client(endpoint, secret) as client:
            player = _Player(client, ctx.model, trace, self.config)
            await player.all(data.task.requests, self.config.parallel)
        return SUCCESS


@asynccontextmanager
async def rollout_client(endpoint: str, secret: str) -> AsyncIterator[ChatClient]:
    """Open a client of a rollout's endpoint, which is on this machine; the rollout has its own time limit."""
    client = ChatClient(
        endpoint.rstrip("/"), {"Authorization": f"Bearer {secret}"}, call_timeout=None, proxies=False
    )
    try:
        yield client
    finally:
        await client.close()


@dataclass(slots=True)
class _Player:
    client: ChatClient
    model: str
    trace: AnyTrace
    config: AttuneHarnessConfig

    async def all(self, requests: Sequence[Request], parallel: int) -> None:
        """Ask every request; raises Fault for the first one without a reply.

        When a limit of verifiers is reached, it refuses the call. After stopping the rollout, it ignores
        errors of the harness, and the trace ends as incomplete rather than failed.
        """
        self.trace.info[INFO_KEY] = {"version": VERSION, "replies": {}}
        waiting = iter(enumerate(requests))

        async def work() -> None:
            for number, request in waiting:
                await self.one(number, request)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(parallel, len(requests))):
                    group.create_task(work())
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None  # the others were cancelled because of it

    async def one(self, number: int, request: Request) -> None:
        """Ask one request until its reply can be read or no attempts are left."""
        messages = request.chat()
        # the trace's own view of the task: what the harness is handed may have notices of verifiers added
        if (system := self.trace.task.data.system_prompt) is not None:
            messages[0]["content"] = str(system)
        entry: dict[str, Any] = {"text": None, "status": FAILED, "asks": 0, "calls": 0, "nodes": []}
        self.trace.info[INFO_KEY]["replies"][request.id] = entry
        asking = Asking(request, parse, self.config.reasks + 1)
        for ask in asking:
            entry["asks"] = ask
            answer = await self._answer(request, messages, f"attune-{number}-{ask}", entry)
            asking.take(answer.text, answer.finish)
            entry |= {"text": asking.text, "status": asking.status, "finish_reason": answer.finish}
            entry.pop("refusal", None)
            if asking.refusal:
                entry["refusal"] = True
        state_of(self.trace).outcomes[request.id] = asking.text, asking.outcome

    async def _answer(
        self, request: Request, messages: list[dict[str, str]], name: str, entry: dict[str, Any]
    ) -> Answer:
        """Send messages unchanged until there is an answer; raises the Fault of the last attempt.

        `name` identifies the call: if its answer is lost in transit, a retry gets the same answer instead of
        another sample. One that the server broke off is sampled again.
        """
        body = {"model": self.model, "messages": messages, "stream": False}
        broken = 0

        async def send() -> Answer:
            nonlocal broken
            entry["calls"] += 1
            before = len(self.trace.nodes)
            try:
                answer = await self.client.complete(
                    body,
                    plain=request.plain,
                    readable=lambda text: not isinstance(parse(request, text), Unparsed),
                    headers={"Idempotency-Key": f"{name}-{broken}" if broken else name},
                )
            except Fault as fault:
                broken += fault.kind in ("broken_off", "no_choices")
                raise
            entry["nodes"] += self._node(messages, before)
            return answer

        try:
            return await patient(send, self.config.retries, self.config.backoff)
        except Fault as fault:
            entry["failed"] = str(fault)
            raise

    def _node(self, messages: Sequence[Mapping[str, str]], before: int) -> list[int]:
        """The new nodes after these messages, one of which has the reply; empty if none is found.

        There may be several: if a person says the same thing twice, prompts that do not name the turn end
        identically, and both requests may be in flight.
        """
        nodes = self.trace.nodes
        wanted = [message["content"] for message in reversed(messages)]
        for index in range(before, len(nodes)):
            thread: list[object] = []
            parent = nodes[index].parent if nodes[index].sampled else None
            while parent is not None and len(thread) <= len(wanted):
                thread.append(nodes[parent].message.content)
                parent = nodes[parent].parent
            if thread == wanted:
                return [index]
        return []


class AttuneEnv(vf.SingleAgentEnv, vf.Env[AttuneEnvConfig]):
    """The environment `attune-env`: a conversation as an episode, or one request of it."""

    config: AttuneEnvConfig

    def __init__(self, config: AttuneEnvConfig) -> None:
        super().__init__(config)
        check_harness(config)

    async def run(self, task: AnyTask, agents: Agents) -> None:
        """Play the task; raises BenchmarkTrainingError for a benchmark record with a training client."""
        data = task.data
        # A rollout for training is known by its client, which keeps the tokens; the taskset's own flag
        # (`training`) refuses earlier if it is set.
        if isinstance(data, AttuneData) and isinstance(agents.agent.ctx.client, vf.TrainClientConfig):
            for_training(data.task.conversation)
        await super().run(task, agents)

    async def finalize(self, task: AnyTask, episode: AnyEpisode) -> None:
        """Mark a trace as failed if replies or scores are missing, regardless of what stopped it.

        Turn limits, token limits and time-outs end a rollout without an error, and its rewards would be those
        of a model that stopped answering. They become null, as after any error, so that `--resume` plays the
        task again.
        """
        data = task.data
        if not isinstance(data, AttuneData):
            return
        for trace in episode.traces:
            problem = _incomplete(trace, data) if trace.ok else None
            if problem is not None:
                trace.record_error(IncompleteEpisodeError(f"{problem} (stopped by: {trace.stop_condition})"))
                trace.rewards = dict.fromkeys(trace.rewards)


def _incomplete(trace: AnyTrace, data: AttuneData) -> str | None:
    if missing := data.task.missing(replies_of(trace, data.task)):
        asked = len(data.task.requests)
        return f"{len(missing)} of {asked} requests have no reply, the first of them {show(missing[0])}"
    if any(reward is None for reward in trace.rewards.values()):
        return "the replies were not scored"
    return None
