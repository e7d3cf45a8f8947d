"""`AttuneHarness`: asks the requests of a plan, in this process, through verifiers' own endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp
import verifiers.v1 as vf

from attune_episodes.parsing import Unparsed, parse
from attune_episodes.request import Request
from attune_episodes.verifiers_env.chat import CallFailedError, Chat, Reply
from attune_episodes.verifiers_env.config import AttuneHarnessConfig
from attune_episodes.verifiers_env.replies import FAILED, begin
from attune_episodes.verifiers_env.wire import AnyTrace, AttuneData

SUCCESS: Final = vf.ProgramResult(exit_code=0, stdout="", stderr="")


class AttuneHarness(vf.Harness[AttuneHarnessConfig]):
    """Sends every request of the plan as it was planned, and writes down the raw replies.

    No program is started: each call goes from here to the rollout's endpoint, with its secret, so that
    verifiers sees, limits, records and samples every one of them. A reply that cannot be read is asked for
    again with the very same messages (a draft only if it is empty). What fails on the way is tried again.
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
        """Plays one task to its end, or to where verifiers stops it."""
        if not isinstance(data, AttuneData):
            raise TypeError(
                f"the harness {self.config.id!r} plays tasks of its own taskset only, got "
                f"{type(data).__name__}; set --env.taskset.id attune-env"
            )
        data.check_prompts()
        headers = {"Authorization": f"Bearer {secret}"}
        timeout = aiohttp.ClientTimeout(total=None)  # the rollout and the client have their own
        connector = aiohttp.TCPConnector(limit=self.config.parallel)
        async with aiohttp.ClientSession(headers=headers, timeout=timeout, connector=connector) as session:
            chat = Chat(
                session,
                f"{endpoint.rstrip('/')}/chat/completions",
                ctx.model,
                self.config.retries,
                self.config.backoff,
            )
            asking = _Asking(chat, trace, self.config.reasks, _system(trace), begin(trace))
            await asking.all(data.told.requests, self.config.parallel)
        return SUCCESS


def _system(trace: AnyTrace) -> str | None:
    """A system prompt that the user put in place of the plan's own; None for the plan's."""
    # the trace's own view of the task: what the harness is handed may have notices of verifiers added
    data = trace.task.data
    return None if data.system_prompt is None else str(data.system_prompt)


@dataclass(slots=True)
class _Asking:
    """One episode being asked."""

    chat: Chat
    trace: AnyTrace
    reasks: int
    system: str | None
    replies: dict[str, dict[str, Any]]
    claimed: set[int] = field(default_factory=set)
    """Nodes of the trace that belong to a reply already."""

    async def all(self, requests: Sequence[Request], parallel: int) -> None:
        """Asks every request; ends early, without an error, where verifiers stopped the rollout."""
        if parallel == 1:
            for number, request in enumerate(requests):
                if not await self.one(number, request):
                    return
            return
        waiting = iter(enumerate(requests))

        async def work() -> None:
            for number, request in waiting:
                if not await self.one(number, request):
                    return

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(parallel, len(requests))):
                    group.create_task(work())
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None  # the others were stopped because of it

    async def one(self, number: int, request: Request) -> bool:
        """Asks one request; False where verifiers stopped the rollout. CallFailedError: no reply came."""
        messages = self._messages(request)
        entry: dict[str, Any] = {"text": None, "status": FAILED, "asks": 0, "calls": 0, "nodes": []}
        self.replies[request.id] = entry
        while entry["asks"] <= self.reasks:
            entry["asks"] += 1
            before = len(self.trace.nodes)
            try:
                reply = await self.chat.ask(messages, f"attune-{number}-{entry['asks']}")
            except CallFailedError as error:
                entry["calls"] += error.calls
                entry["failed"] = str(error)
                if self.trace.stop_condition is not None:
                    return False
                raise
            if not self._take(entry, request, reply, before):
                break
        return True

    def _take(self, entry: dict[str, Any], request: Request, reply: Reply, before: int) -> bool:
        """Writes a reply down; whether it should be asked for again."""
        said = parse(request, reply.text)
        entry |= {
            "text": reply.text,
            "status": said.reason if isinstance(said, Unparsed) else "ok",
            "calls": entry["calls"] + reply.calls,
            "finish_reason": reply.finish_reason,
        }
        entry.pop("refusal", None)
        if reply.refused:
            entry["refusal"] = True
        node = self._node(request, before)
        if node is not None:
            entry["nodes"].append(node)
        if not isinstance(said, Unparsed):
            return False
        return request.stage != "draft" or said.code == "empty"

    def _node(self, request: Request, before: int) -> int | None:
        """The node of a reply: new since it was asked for, sampled, and after this request's last message."""
        nodes, last = self.trace.nodes, request.messages[-1].content
        for index in range(before, len(nodes)):
            node = nodes[index]
            if not node.sampled or index in self.claimed or node.parent is None:
                continue
            if nodes[node.parent].message.content == last:
                self.claimed.add(index)
                return index
        return None

    def _messages(self, request: Request) -> list[dict[str, str]]:
        messages = request.chat()
        if self.system is not None:
            messages[0] = {"role": "system", "content": self.system}
        return messages
