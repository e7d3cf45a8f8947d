"""`run_endpoint`: ask a model behind a server about every conversation and write result files."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attune_data import Conversations
from attune_data.errors import SettingsError, show
from attune_data.files import gc_pause
from attune_env.results.files import Names, existing_record, result_name, source_file
from attune_env.results.samples import split_sample
from attune_env.running.asker import Asker
from attune_env.running.control import Control, StopRun
from attune_env.running.existing import description, identity_of
from attune_env.running.jobs import Job
from attune_env.running.journal import Journal, journal_name, overwriting_in
from attune_env.running.lists import add_run, write_skipped
from attune_env.running.loop import Loop, Watcher, disk_message
from attune_env.running.settings import Model, Options, training_marks
from attune_env.running.tally import Tally
from attune_episodes.protocol.settings import Mode, Settings

if TYPE_CHECKING:
    from attune_episodes.chat.client import ChatClient

COUNTED: Final = 500
"""How many conversations' calls are counted before the first call; counting more would delay it."""


@dataclass(frozen=True)
class EndpointReport:
    """The outcome of a run."""

    written: int
    complete_before: int
    """Number of results that already existed."""
    failed: tuple[dict[str, Any], ...]
    """Entries of the list of skipped conversations."""
    skipped_file: Path | None
    """The path of that list; None if nothing is skipped."""
    stopped: StopRun | None
    """Why the run stopped early; None if it did not."""
    tally: Tally


def run_endpoint(
    model: Model,
    conversations: Conversations,
    output: Path,
    *,
    modes: Sequence[Mode] = ("default",),
    settings: Settings | None = None,
    samples: int = 1,
    judges: Sequence[Model] = (),
    options: Options | None = None,
    watcher: Watcher | None = None,
) -> EndpointReport:
    """Ask a model about every conversation and write one result file each; continues an earlier run.

    Each mode is a separate result with otherwise equal `settings`, and so is each of the `samples`. The
    first sample is named like a run with one sample, sample k like the model `provider/name@sample<k>`.
    `judges` rate each draft. With `options.overwrite` a result is replaced when the new one is complete, and
    nothing changes before the first answer.

    If a call fails permanently, its conversation is left out (`report.failed`); if nothing works at all or a
    cap is reached, the run stops early (`report.stopped`). In either case, every answer is kept, and calling
    this function again continues with the missing calls.

    Raises:
        SettingsError: the folder has results of another run, or another run is writing to it.
        DataError: a file is in the way.
        OSError: the folder cannot be written to.
    """
    if samples < 1:
        raise SettingsError(f"samples is {samples}; it must be at least 1")
    if split_sample(model.full_name)[1] > 1:
        raise SettingsError(f"{show(model.name)} has an ending that is reserved for further samples")
    check_judges(judges)
    session = Session(model.full_name, model.name, output, options, watcher)
    rated_by = [judge.full_name for judge in judges]
    jobs = []
    for mode in modes:
        asked = replace(settings or Settings(), mode=mode)
        for sample in range(1, samples + 1):
            em_model = model.full_name + (f"@sample{sample}" if sample > 1 else "")
            policy = model.policy(rated_by, sample)
            reasks = session.options.patience.asks - 1
            marks = {"policy": policy, "reasks": reasks, **training_marks(model.training)}
            if session.options.finish_ok:
                marks["finish_ok"] = sorted(session.options.finish_ok)
            for identity in conversations.by_id:
                names: Names = identity, em_model, mode
                facts = {"source_file": source_file(conversations, identity), "attune": marks}
                describe = partial(
                    description, conversations.by_id, names, asked, policy, model.training
                )  # fmt: skip
                path = output / result_name(*names)
                job = Job(
                    identity, conversations.by_id, asked, em_model, path, facts, session.askers, describe,
                    sample,
                )  # fmt: skip
                jobs.append(job)
    models = {"": model, **{judge.name: judge for judge in judges}}
    return session.play(models, jobs, {"policy": model.policy(rated_by), "samples": samples})


def check_judges(judges: Sequence[Model]) -> None:
    """Raise SettingsError if a judge is named twice."""
    names = [judge.name for judge in judges]
    if len(set(names)) < len(names):
        raise SettingsError(f"a judge is named twice: {', '.join(map(show, names))}")


class Session:
    """Makes the calls of some jobs with one journal, and reports the outcome."""

    def __init__(
        self, name: str, skip_name: str, folder: Path, options: Options | None, watcher: Watcher | None
    ) -> None:
        self.name = name
        """The name in the journal and in the run's numbers: `provider/model`."""
        self.skip_name = skip_name
        """The model's name in the list of skipped conversations."""
        self.folder = folder
        self.options = options or Options()
        self.watcher = watcher or Watcher()
        self.askers: dict[str, Asker] = {}
        """"" or the judge's model -> asker; filled when the calls begin."""
        self.complete: list[Names] = []
        """The results that are already complete."""

    def play(
        self, models: Mapping[str, Model], jobs: Sequence[Job], facts: Mapping[str, Any]
    ) -> EndpointReport:
        """Play the jobs whose results are not complete; `facts` are stored with the run's numbers.

        Raises DataError if a result would replace that of another conversation, model or mode.
        """
        options, todo = self.options, self._choose(jobs)
        if not todo:  # nothing to do, so no lock is needed
            skipped = write_skipped(self.folder, self.skip_name, (), self.complete, options.command)
            return EndpointReport(0, len(self.complete), (), skipped, None, Tally(Control(options)))
        from attune_episodes.chat.client import ChatClient

        clients = {
            name: ChatClient(
                one.endpoint.base_url,
                one.endpoint.all_headers,
                call_timeout=options.call_timeout,
                hide=one.endpoint.key.hidden_in,
                finish_ok=options.finish_ok,
            )
            for name, one in models.items()
        }
        with Journal(self.folder, self.name) as journal:
            if journal.passed_over:
                self.watcher.said(
                    f"{journal.path.name}: {journal.passed_over} lines cut off or damaged; their requests "
                    "are sent again"
                )
            journal.begin({job.group: identity_of(job.describe()) for job in todo if job.anew})
            started = _now()
            control = Control(options)
            tally = Tally(control, conversations=len(todo))
            loop = Loop(todo, journal, tally, options, self.folder, self.watcher)
            with gc_pause.settled():
                asyncio.run(self._ask(models, clients, loop, todo))
            skipped = None
            complete = [*self.complete, *loop.complete]
            numbers = {
                "started": started,
                "ended": _now(),
                "command": options.command,
                "stopped": str(control.reason) if control.reason else None,
                "concurrency": options.concurrency,
                "structured": {asker.model.name: asker.takes_schemas for asker in self.askers.values()},
                "left_out": {asker.model.name: sorted(asker.left_out) for asker in self.askers.values()},
                "results_written": len(loop.complete),
                **tally.describe(),
                **facts,
            }
            try:
                skipped = write_skipped(self.folder, self.skip_name, loop.failed, complete, options.command)
                add_run(self.folder, self.name, numbers)
            except OSError as error:
                # the disk is full, but the journal and the results are intact
                control.stop(StopRun(disk_message(error, self.folder)))
        written, failed = len(loop.complete), tuple(loop.failed)
        return EndpointReport(written, len(self.complete), failed, skipped, control.reason, tally)

    def _choose(self, jobs: Sequence[Job]) -> list[Job]:
        """The jobs to be played; records the others as complete.

        Results that will be replaced are not checked.
        """
        earlier = overwriting_in(self.folder / journal_name(self.name))
        states = [
            earlier.state(job.group, identity_of(job.describe())) if earlier.left else None for job in jobs
        ]
        goes_on = "left" in states
        if goes_on:
            left = states.count("left") + states.count(None) * self.options.overwrite
            self.watcher.said(
                "continuing the earlier run with --overwrite; "
                f"results already replaced: {states.count('made')}, still to replace: {left}"
            )
        todo = []
        with gc_pause.paused():
            for job, state in zip(jobs, states, strict=True):
                job.finish_ok = self.options.finish_ok
                if self.options.redo:
                    # only what is stored: what is missing is for a run without --redo
                    job.redo = self.options.redo if state != "left" and self._exists(job) else frozenset()
                    if job.redo and job.stored():
                        todo.append(job)
                    elif job.redo:
                        self.complete.append(job.names)
                    continue
                job.anew = self.options.overwrite and not (goes_on and state)
                if not job.anew and state != "left" and self._exists(job):
                    self.complete.append(job.names)
                else:
                    existing_record(job.path, job.names)  # a result of another run is not replaced
                    todo.append(job)
        return todo

    def _exists(self, job: Job) -> bool:
        try:
            return job.exists()
        except SettingsError:
            if not self.options.overwrite:
                raise
            job.anew = True  # was written, but has since been replaced by another run
            return False

    async def _ask(
        self, models: Mapping[str, Model], clients: Mapping[str, ChatClient], loop: Loop, todo: Sequence[Job]
    ) -> None:
        journal, tally = loop.journal, loop.tally
        async with AsyncExitStack() as stack:
            for name, model in models.items():
                stack.push_async_callback(clients[name].close)
                fact = f"structured {model.endpoint.base_url} {model.name}"
                known, remember = journal.facts.get(fact), partial(_remember, journal, fact)
                self.askers[name] = Asker(
                    clients[name], model, tally.control, self.options.patience, known, remember,
                    self.watcher.said, self.options.finish_ok,
                )  # fmt: skip
            for job in todo[:COUNTED]:
                tally.planned[job.group] = job.planned
            about = "" if len(tally.planned) >= len(todo) else "about "
            self.watcher.said(f"{len(todo)} conversations to play, {about}{tally.calls} calls")
            await loop.go()


async def _remember(journal: Journal, fact: str, found: bool) -> None:
    await journal.note({fact: found})


def _now() -> str:
    """The current time in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")
