"""`EndpointVoice`: let a model behind a server word simulated texts, which are checked before they are used.

Each text is one call in the asking loop of runs: faults are retried, a text that does not match its packet is
asked for again, and if none matches, the grammar's text is used. Calls are stored in a journal under the hash
of everything that determines them, so that nothing is asked twice.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from attune_data.errors import SettingsError, show
from attune_data.schema import Conversation
from attune_data.simulate.stream import Simulation
from attune_data.simulate.voice import Packet, Transcript, Wording, counted
from attune_env.running.answer import Usage
from attune_env.running.asker import Asker, Call
from attune_env.running.control import Control, Tally
from attune_env.running.costs import Estimate, usage_of_messages
from attune_env.running.faults import Fault, StopRun
from attune_env.running.journal import Finished, Journal
from attune_env.running.settings import Model, Options, Sampling
from attune_episodes.asking import Asking
from attune_episodes.voices import VoiceRequest, read_wording

CACHE: Final = Path("voices")
"""Default folder for the texts."""
WRITERS: Final = frozenset({"timeout", "too_large", "packed", "bad_request", "bad_json", "no_choices"})
"""Faults after which, if the server has answered before, the grammar's text is used and the run continues."""


def provider_and_model(name: str) -> tuple[str, str]:
    """Split a voice's name, `custom:MODEL`, into its two parts; raises SettingsError if one is missing."""
    provider, _, model = name.partition(":")
    if not (provider and model):
        raise SettingsError(f"voice is {show(name)}; expected PROVIDER:MODEL, such as custom:my-model")
    return provider, model


def endpoint_voice(
    name: str,
    *,
    base_url: str | None = None,
    cache: str | Path = CACHE,
    temperature: float | None = None,
    max_tokens: int | None = None,
    concurrency: int = Options.concurrency,
    max_calls: int | None = None,
    max_cost: float | None = None,
) -> EndpointVoice:
    """Make a voice from a model behind an OpenAI-compatible server; use it in a `with` block.

    Args:
        name: `PROVIDER:MODEL`, where the provider is custom, openrouter, openai or prime. The key comes from
            the provider's environment variable.
        base_url: address of the server, for custom.
        cache: folder where the texts are kept, so that none is paid for twice.
        temperature: by default the server's.
        max_tokens: longest answer; by default the server's.
        concurrency: requests at once.
        max_calls: HTTP requests after which it stops, retries included.
        max_cost: dollars after which it stops.

    Raises SettingsError for a name without a model, an unknown provider, or a missing address or key.
    """
    from attune_env.running.providers import endpoint_of

    provider, model = provider_and_model(name)
    endpoint = endpoint_of(provider, base_url=base_url)
    options = Options(concurrency=concurrency, max_calls=max_calls, max_cost=max_cost)
    return EndpointVoice(Model(model, endpoint, Sampling(temperature, max_tokens)), Path(cache), options)


class EndpointVoice(AbstractContextManager["EndpointVoice"]):
    """A model as a voice, open inside its `with` block; may be called from many threads at once.

    A call raises StopRun once a cap is reached or the server is unreachable; the texts so far are kept, and
    the same run continues from there.
    """

    def __init__(self, model: Model, folder: Path, options: Options | None = None) -> None:
        self.model, self.folder, self.options = model, folder, options or Options()
        self.name = model.full_name
        self.counts: Counter[str] = Counter()
        """Counts of texts `taken` and `fallen_back`, and of repeated requests (`asked_again`)."""
        self.tally = Tally(Control(self.options))

    def __enter__(self) -> EndpointVoice:
        from attune_env.running.client import ChatClient

        self._client = ChatClient(self.model.endpoint, call_timeout=self.options.call_timeout)
        self._journal = Journal(self.folder, self.name, "--voice-cache")
        self._asker = Asker(
            self._client, self.model, self.tally.control, self.options.patience, False, _forget
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="voice", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._journal.__exit__()

    def __call__(self, packet: Packet, transcript: Transcript) -> Wording:
        """The model's text, or the grammar's if none of the model's matches the packet."""
        return asyncio.run_coroutine_threadsafe(self._word(packet, transcript), self._loop).result()

    def conversations(self, world: Simulation, number: int) -> Iterator[Conversation]:
        """The next conversations of a world with this voice, in order; several are generated at once."""
        indices = range(world.start, world.start + number * world.step, world.step)
        waiting: deque[Future[Conversation]] = deque()
        with ThreadPoolExecutor(self.options.concurrency, "conversation") as threads:
            try:
                for index in indices:
                    waiting.append(threads.submit(world.__getitem__, index))
                    if len(waiting) > self.options.concurrency:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            except BaseException:
                for one in waiting:
                    one.cancel()
                self._loop.call_soon_threadsafe(self.tally.control.stop, StopRun("stopped"))
                raise

    async def _word(self, packet: Packet, transcript: Transcript) -> Wording:
        request = VoiceRequest(packet, transcript)
        group, _, _ = packet.id.partition("/")
        call = Call(self._asker, request, read_wording, "voice", group)
        finished = self._journal.get(call.key)
        if finished is None:
            finished = await self._ask(call)
            await self._journal.add(call.key, finished)
            self.tally.finished(finished)
        else:
            self.tally.calls_kept += 1
        # texts from a file are checked again too
        reading = Asking(request, read_wording, 1)
        taken = reading.take(finished.reply, finished.finish) and isinstance(reading.outcome, str)
        found = Wording(str(reading.outcome) if taken else packet.text, finished.asks, taken)
        counted(found, self.counts)
        return found

    async def _ask(self, call: Call) -> Finished:
        """Make the call until it is finished; a fault that affects only this text ends it without a reply."""
        try:
            return await self._asker.ask(call)
        except Fault as fault:
            if fault.kind in WRITERS and self._asker.breaker.ever:
                return Finished("", f"unparsed:{fault.kind}", finish=fault.kind)
            advice = f"; {fault.advice}" if fault.advice else ""
            self.tally.control.stop(StopRun(f"{call.request.id}: {fault}{advice}"))
            raise StopRun(str(self.tally.control.reason)) from None

    async def _close(self) -> None:
        self.tally.control.stop(StopRun("stopped"))
        own = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not own]
        await self._journal.settle()
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._client.close()


def estimate_voice(world: Simulation, number: int, *, live: bool = False) -> Estimate:
    """Estimate the calls and tokens for wording the next conversations of a world.

    A live conversation is estimated by the messages of the recorded one.
    """
    calls, usage = 0, Usage()

    def count(packet: Packet, transcript: Transcript) -> str:
        nonlocal calls, usage
        if packet.kind == "message" or not live:
            calls += 1
            usage += usage_of_messages(VoiceRequest(packet, transcript).chat(), len(packet.text.encode()))
        return packet.text

    counted = Simulation(
        world.seed, level=world.level, topics=world.topics, templates=world.templates, voice=count
    )
    for index in range(world.start, world.start + number * world.step, world.step):
        counted.record(index)
    return Estimate("live" if live else "voice", number, calls, 0, usage, Usage())


async def _forget(_: bool) -> None:
    """Texts have no schema, so nothing is learnt about the server."""
