"""What every run against servers has in common: models, options, the journal, the loop, the lists."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from attune_data.errors import SettingsError, show
from attune_env.running.endpoint.asking import Asker, Patience, Price, Sampling
from attune_env.running.endpoint.client import ChatClient
from attune_env.running.endpoint.control import Caps, Control
from attune_env.running.endpoint.faults import StopRun
from attune_env.running.endpoint.files import add_run, write_skipped
from attune_env.running.endpoint.job import Job
from attune_env.running.endpoint.journal import Journal
from attune_env.running.endpoint.loop import Loop, Silent, Watcher, disk_message
from attune_env.running.endpoint.providers import Endpoint
from attune_env.running.endpoint.structured import Structured
from attune_env.running.endpoint.tally import Tally

PASSED_OVER: Final = "lines passed over"
"""Under that name the journal remembers of how many damaged lines a person was told."""


@dataclass(frozen=True)
class Model:
    """A model behind an endpoint."""

    name: str
    endpoint: Endpoint
    sampling: Sampling = field(default_factory=Sampling)
    price: Price | None = None
    """For endpoints that do not tell what a call costs."""

    @property
    def full_name(self) -> str:
        """`provider/model`."""
        return f"{self.endpoint.provider}/{self.name}"


@dataclass(frozen=True)
class Options:
    """How a run goes about it; nothing here changes what is asked."""

    concurrency: int = 16
    """Requests at once, over all conversations."""
    call_timeout: float = 300.0
    """Seconds for one request."""
    patience: Patience = field(default_factory=Patience)
    caps: Caps = field(default_factory=Caps)
    overwrite: bool = False
    """Make results again that are there, and ask everything anew."""
    command: str = ""
    """What a person would type to go on; told in files and messages, so no key may be in it."""


@dataclass(frozen=True)
class EndpointReport:
    """What a run did."""

    written: int
    complete_before: int
    """Results that were there already."""
    failed: tuple[dict[str, Any], ...]
    """Entries of the list of skipped conversations."""
    skipped_file: Path | None
    """That list; None where nothing is skipped."""
    stopped: StopRun | None
    """Why the run ended before its end; None where it did not."""
    tally: Tally


def check_judges(judges: Sequence[Model]) -> list[str]:
    """The judges' names; raises SettingsError where one is named twice."""
    names = [judge.name for judge in judges]
    if len(set(names)) < len(names):
        raise SettingsError(f"a judge is named twice: {', '.join(map(show, names))}")
    return names


class Session:
    """Makes the calls of some jobs, with one journal, and says what came of it."""

    def __init__(
        self, name: str, skip_name: str, folder: Path, options: Options | None, watcher: Watcher | None
    ) -> None:
        self.name = name
        """Of the journal and of the run's numbers: `provider/model`."""
        self.skip_name = skip_name
        """Of the list of skipped conversations: the model's."""
        self.folder = folder
        self.retry_option = True
        """Whether the command of this run takes `--retry-skipped`."""
        self.options = options or Options()
        self.watcher = watcher or Silent()
        self.askers: dict[str, Asker] = {}
        """Filled when the session begins: "" or the judge's model -> who asks."""
        self.written = 0
        self.failed: list[dict[str, Any]] = []
        self.complete: list[tuple[str, str, str]] = []
        """(conversationId, em_model, mode) of what is complete."""

    def play(
        self, models: Mapping[str, Model], jobs: Iterable[Job], facts: Mapping[str, Any]
    ) -> EndpointReport:
        """Plays the jobs; `facts` are kept with the run's numbers."""
        todo, before = list(jobs), len(self.complete)
        if not todo:
            # nothing is left to do: no journal is read, nothing is waited for
            skipped = self._write_skipped()
            return EndpointReport(0, before, (), skipped, None, Tally(Control(self.options.concurrency)))
        with Journal(self.folder, self.name) as journal:
            if journal.passed_over > journal.facts.get(PASSED_OVER, 0):
                self.watcher.said(
                    f"{journal.path.name}: {journal.passed_over} lines cut off or damaged; what they held "
                    "is asked again"
                )
            started = _now()
            control = Control(self.options.concurrency, self.options.caps)
            tally = Tally(control, conversations=len(todo))
            with _settled_garbage():
                asyncio.run(self._play(journal, tally, models, todo))
            skipped = None
            try:
                skipped = self._write_skipped()
                add_run(self.folder, self.name, {**self._numbers(started, tally), **facts})
            except OSError as error:
                # a full disk: what the journal and the results hold is there all the same
                control.stop(StopRun(disk_message(error, self.folder)))
        return EndpointReport(self.written, before, tuple(self.failed), skipped, control.reason, tally)

    def _write_skipped(self) -> Path | None:
        return write_skipped(
            self.folder, self.skip_name, self.failed, self.complete, self.options.command,
            retry_option=self.retry_option,
        )  # fmt: skip

    def _numbers(self, started: str, tally: Tally) -> dict[str, Any]:
        reason = tally.control.reason
        return {
            "started": started,
            "ended": _now(),
            "command": self.options.command,
            "stopped": str(reason) if reason else None,
            "concurrency": self.options.concurrency,
            "structured": {asker.model: asker.structured.known for asker in self.askers.values()},
            "results_written": self.written,
            **tally.describe(),
        }

    async def _play(
        self, journal: Journal, tally: Tally, models: Mapping[str, Model], todo: list[Job]
    ) -> None:
        async with AsyncExitStack() as stack:
            for name, model in models.items():
                client = ChatClient(model.endpoint, call_timeout=self.options.call_timeout)
                await stack.enter_async_context(client)
                self.askers[name] = Asker(
                    client, model.name, tally.control, model.sampling,
                    _structured(model, journal), self.options.patience, model.price,
                )  # fmt: skip
            if journal.passed_over != journal.facts.get(PASSED_OVER, 0):
                await journal.note({PASSED_OVER: journal.passed_over})
            tally.calls = sum(job.planned for job in todo)
            if self.options.overwrite:
                await asyncio.gather(*(journal.forget(job.group) for job in todo))
                for job in todo:
                    job.discard()
            await Loop(
                todo, journal, tally, self.options.concurrency, self.folder, self.watcher, self._conclude
            ).go()

    def _conclude(self, job: Job, tally: Tally) -> None:
        """Notes a job that is over, complete or not."""
        identity = (job.conversation.conversation_id, job.em_model, job.settings.mode)
        if job.failed:
            tally.conversations_failed += 1
            request, reason = job.failed
            names = dict(zip(("conversationId", "em_model", "mode"), identity, strict=True))
            facts = {"source_file": job.facts.get("source_file"), "request": request, "reason": reason}
            # each with its own: another provider's model of that name has its entries in the same list
            self.failed.append({**names, **facts, "command": self.options.command})
        else:
            tally.conversations_done += 1
            self.written += 1
            self.complete.append(identity)
        self.watcher.finished(job, tally)
        job.close()


@contextmanager
def _settled_garbage() -> Iterator[None]:
    """Spares the cycle collector what is there already, the conversations and all modules.

    It would walk through them again and again, and every walk holds all calls up (a tenth of the CPU time).
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _now() -> str:
    """The time, UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _structured(model: Model, journal: Journal) -> Structured:
    """What is known of the server's structured outputs: as told, or found out by an earlier run."""
    if model.sampling.structured != "auto":
        return Structured(model.sampling.structured == "on")
    name = f"structured {model.endpoint.base_url} {model.name}"
    known = journal.facts.get(name)

    async def remember(found: bool) -> None:
        await journal.note({name: found})

    return Structured(known if isinstance(known, bool) else None, remember)
