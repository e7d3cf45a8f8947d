"""What every run against servers has in common: models, options, the journal, the loop, the lists."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attune_data import garbage
from attune_data.errors import SettingsError, show
from attune_env.results.files import check_same_result
from attune_env.running.endpoint.anew import overwriting_in
from attune_env.running.endpoint.asking import Asker, Patience, Price, Sampling
from attune_env.running.endpoint.control import Caps, Control
from attune_env.running.endpoint.faults import StopRun
from attune_env.running.endpoint.files import add_run, write_skipped
from attune_env.running.endpoint.job import Job
from attune_env.running.endpoint.journal import Journal, journal_name
from attune_env.running.endpoint.loop import Loop, Silent, Watcher, disk_message
from attune_env.running.endpoint.providers import Endpoint
from attune_env.running.endpoint.structured import Structured
from attune_env.running.endpoint.tally import Tally
from attune_env.running.existing import Training

if TYPE_CHECKING:
    from attune_env.running.endpoint.client import ChatClient

PASSED_OVER: Final = "lines passed over"
"""Under that name the journal remembers of how many damaged lines a person was told."""


COUNTED: Final = 500
"""Conversations whose calls are counted before the first; reading more of them would hold that up."""


@dataclass(frozen=True)
class Model:
    """A model behind an endpoint."""

    name: str
    endpoint: Endpoint
    sampling: Sampling = field(default_factory=Sampling)
    price: Price | None = None
    """For endpoints that do not tell what a call costs."""
    training: Training | None = None
    """Where in a training run it stands."""

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
    """Make results again that are there, and ask everything anew; goes on where that was stopped."""
    command: str = ""
    """What a person would type to go on; told in files and messages, so no key may be in it."""
    command_anew: str = ""
    """The same where nothing is overwritten yet: `--overwrite` is in it. Empty: as `command`."""


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
    command: str = ""
    """What goes on with it."""
    replaceable: int = 0
    """Results of before that `overwrite` was to replace and did not."""


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
        self.command = self.options.command
        """What goes on with it."""
        self.failed: list[dict[str, Any]] = []
        self.complete: list[tuple[str, str, str]] = []
        """(conversationId, em_model, mode) of what is complete."""

    def choose(self, jobs: Iterable[tuple[Job, Callable[[], bool]]]) -> list[Job]:
        """Those of the jobs that are to be played; notes the others as complete.

        Each comes with a function that tells whether its result is there. It is not asked where that result
        is to be replaced. DataError where that would be one of another conversation, model or mode.
        """
        candidates = list(jobs)
        earlier = overwriting_in(self.folder / journal_name(self.name))
        states = [earlier.state(job.group, job.identity()) if earlier.left else None for job, _ in candidates]
        goes_on = "left" in states
        if goes_on:
            left = states.count("left") + states.count(None) * self.options.overwrite
            self.watcher.said(
                "going on with what --overwrite began; "
                f"results made: {states.count('made')}, still to be made: {left}"
            )
        todo = []
        with garbage.paused():
            for (job, is_there), state in zip(candidates, states, strict=True):
                job.anew = self.options.overwrite and not (goes_on and state)
                if not job.anew and state != "left" and self._is_there(job, is_there):
                    self.complete.append(job.names)
                else:
                    check_same_result(job.path, *job.names)
                    todo.append(job)
        return todo

    def _is_there(self, job: Job, is_there: Callable[[], bool]) -> bool:
        try:
            return is_there()
        except SettingsError:
            if not self.options.overwrite:
                raise
            job.anew = True  # made once, and since then replaced by another run
            return False

    def play(
        self, models: Mapping[str, Model], todo: Sequence[Job], facts: Mapping[str, Any]
    ) -> EndpointReport:
        """Plays the jobs; `facts` are kept with the run's numbers."""
        before = len(self.complete)
        if not todo:
            # nothing is left to do: no lock is needed, nothing is waited for
            skipped = self._write_skipped()
            tally = Tally(Control(self.options.concurrency))
            return EndpointReport(0, before, (), skipped, None, tally, self.command)
        clients = self._clients(models)
        with Journal(self.folder, self.name) as journal:
            if journal.passed_over > journal.facts.get(PASSED_OVER, 0):
                self.watcher.said(
                    f"{journal.path.name}: {journal.passed_over} lines cut off or damaged; what they held "
                    "is asked again"
                )
            journal.begin({job.group: job.identity() for job in todo if job.anew})
            started = _now()
            control = Control(self.options.concurrency, self.options.caps)
            tally = Tally(control, conversations=len(todo))
            with garbage.settled():
                asyncio.run(self._play(clients, journal, tally, models, todo))
            if not journal.begun:
                self.command = self.options.command_anew or self.command
            for entry in self.failed:
                # each with its own: another provider's model of that name has its entries in the same list
                entry["command"] = self.command
            made = set(self.complete)
            old = [
                job for job in todo if job.names not in made and (job.anew or job.group in journal.anew.left)
            ]
            skipped = None
            try:
                skipped = self._write_skipped()
                add_run(self.folder, self.name, {**self._numbers(started, tally), **facts})
            except OSError as error:
                # a full disk: what the journal and the results hold is there all the same
                control.stop(StopRun(disk_message(error, self.folder)))
        return EndpointReport(
            self.written, before, tuple(self.failed), skipped, control.reason, tally, self.command,
            sum(job.path.exists() for job in old),
        )  # fmt: skip

    def _clients(self, models: Mapping[str, Model]) -> dict[str, ChatClient]:
        """Who sends, for each model; loaded only now: a run that is complete does not wait for the SDK."""
        with garbage.paused():
            from attune_env.running.endpoint.client import ChatClient

            timeout = self.options.call_timeout
            return {name: ChatClient(model.endpoint, call_timeout=timeout) for name, model in models.items()}

    def _write_skipped(self) -> Path | None:
        return write_skipped(
            self.folder, self.skip_name, self.failed, self.complete, self.command,
            retry_option=self.retry_option,
        )  # fmt: skip

    def _numbers(self, started: str, tally: Tally) -> dict[str, Any]:
        reason = tally.control.reason
        return {
            "started": started,
            "ended": _now(),
            "command": self.command,
            "stopped": str(reason) if reason else None,
            "concurrency": self.options.concurrency,
            "structured": {asker.model: asker.structured.known for asker in self.askers.values()},
            "results_written": self.written,
            **tally.describe(),
        }

    async def _play(
        self,
        clients: Mapping[str, ChatClient],
        journal: Journal,
        tally: Tally,
        models: Mapping[str, Model],
        todo: Sequence[Job],
    ) -> None:
        async with AsyncExitStack() as stack:
            for name, model in models.items():
                client = await stack.enter_async_context(clients[name])
                self.askers[name] = Asker(
                    client, model.name, tally.control, model.sampling,
                    _structured(model, journal), self.options.patience, model.price,
                    model.training.describe() if model.training is not None else {},
                )  # fmt: skip
            if journal.passed_over != journal.facts.get(PASSED_OVER, 0):
                await journal.note({PASSED_OVER: journal.passed_over})
            for job in todo[:COUNTED]:
                tally.count(job.group, job.planned)
            await Loop(
                todo, journal, tally, self.options.concurrency, self.folder, self.watcher, self._conclude
            ).go()

    def _conclude(self, job: Job, tally: Tally) -> None:
        """Notes a job that is over, complete or not."""
        if job.failed:
            tally.conversations_failed += 1
            request, reason = job.failed
            names = dict(zip(("conversationId", "em_model", "mode"), job.names, strict=True))
            facts = {"source_file": job.facts.get("source_file"), "request": request, "reason": reason}
            self.failed.append({**names, **facts})
        else:
            tally.conversations_done += 1
            self.written += 1
            self.complete.append(job.names)
        self.watcher.finished(job, tally)
        job.close()


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
