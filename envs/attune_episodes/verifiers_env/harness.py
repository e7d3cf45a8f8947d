"""`AttuneHarness`: asks the requests of a plan, in this process, through verifiers' own endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
            await asking.all(data.task.requests, self.config.parallel)
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

    async def all(self, requests: Sequence[Request], parallel: int) -> None:
        """Asks every request; CallFailedError with the first that got no reply.

        A limit of verifiers shows as a call that is refused. It drops what a harness raises once it has
        stopped the rollout, and the trace then ends as incomplete, not as failed.
        """
        if parallel == 1:
            for number, request in enumerate(requests):
                await self.one(number, request)
            return
        waiting = iter(enumerate(requests))

        async def work() -> None:
            for number, request in waiting:
                await self.one(number, request)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(parallel, len(requests))):
                    group.create_task(work())
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None  # the others were stopped because of it

    async def one(self, number: int, request: Request) -> None:
        """Asks one request, until its reply can be read or counts as it is."""
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
                raise
            node = self._node(messages, before)
            if node is not None:
                entry["nodes"].append(node)
            if not _take(entry, request, reply):
                return

    def _node(self, messages: Sequence[Mapping[str, str]], before: int) -> int | None:
        """The node of a reply: new since it was asked for, and after these messages.

        All of them: where a person says the same twice, prompts that do not name the turn end alike, and
        both requests may be in flight.
        """
        nodes = self.trace.nodes
        for index in range(before, len(nodes)):
            if not nodes[index].sampled:
                continue
            parent = nodes[index].parent
            for message in reversed(messages):
                if parent is None or nodes[parent].message.content != message["content"]:
                    break
                parent = nodes[parent].parent
            else:
                if parent is None:
                    return index
        return None

    def _messages(self, request: Request) -> list[dict[str, str]]:
        messages = request.chat()
        if self.system is not None:
            messages[0] = {"role": "system", "content": self.system}
        return messages


def _take(entry: dict[str, Any], request: Request, reply: Reply) -> bool:
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
    if not isinstance(said, Unparsed):
        return False
    return request.stage != "draft" or said.code == "empty"
