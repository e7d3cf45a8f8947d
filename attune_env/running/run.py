"""`run_endpoint`: every conversation, mode and sample of a model behind a server, into result files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attune_data import Conversations, garbage
from attune_data.errors import SettingsError, show
from attune_env.results.files import check_same_result, result_name
from attune_env.running.asker import Asker
from attune_env.running.control import Control
from attune_env.running.existing import Wanted, is_complete
from attune_env.running.faults import StopRun
from attune_env.running.jobs import Job
from attune_env.running.journal import Journal, journal_name
from attune_env.running.lists import add_run, write_skipped
from attune_env.running.loop import Loop, Watcher, disk_message
from attune_env.running.overwriting import identity_of, overwriting_in
from attune_env.running.samples import split_sample
from attune_env.running.settings import Model, Options, training_marks
from attune_env.running.tally import Tally
from attune_episodes.settings import Mode, Settings

if TYPE_CHECKING:
    from attune_env.running.client import ChatClient

COUNTED: Final = 500
"""Conversations whose calls are counted before the first; reading more of them would hold that up."""


@dataclass(frozen=True)
class EndpointReport:
    """The outcome of a run."""

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
    """Asks a model about every conversation and writes one result file each; goes on where a run ended.

    Args:
        model: the evaluated model.
        conversations: the data.
        output: folder of the results, the journal and the lists, made if needed.
        modes: each is a result of its own.
        settings: everything else that decides what is asked.
        samples: how often each request is asked. Sample 1 is named as a run with one sample is; sample k
            is the model `provider/name@sample<k>`.
        judges: models that rate each draft.
        options: concurrency, patience, caps; with `overwrite` a result is replaced when the new one is
            complete, and nothing changes before the first answer.
        watcher: is shown how it goes.

    A call that fails for good leaves its conversation out (`report.failed`); when nothing works at all, or
    a cap is reached, the run stops early (`report.stopped`). Either way what was answered is kept, and the
    same call of this function goes on with the first call that is missing.

    Raises:
        SettingsError: the folder holds results of another run, or another run is writing to it.
        DataError: a file in the way.
        OSError: the folder cannot be written to.
    """
    if samples < 1:
        raise SettingsError(f"samples is {samples}; it must be at least 1")
    if split_sample(model.full_name)[1] > 1:
        raise SettingsError(f"{show(model.name)} ends as the names of further samples do")
    check_judges(judges)
    base = settings or Settings()
    session = Session(model.full_name, model.name, output, options, watcher)
    jobs: list[tuple[Job, Callable[[], bool]]] = []
    for mode in modes:
        asked = replace(base, mode=mode)
        for sample in range(1, samples + 1):
            em_model = model.full_name + (f"@sample{sample}" if sample > 1 else "")
            policy = policy_facts(model, judges, sample)
            marks = {"policy": policy, **training_marks(model.training)}
            for identity in conversations.by_id:
                path = output / result_name(identity, em_model, mode)
                file = Path(conversations.files.get(identity, "")).name or None
                result = Wanted(identity, conversations.by_id, asked, em_model, policy, model.training)
                facts = {"source_file": file, "attune": marks}
                job = Job(
                    identity, conversations.by_id, asked, em_model, path, facts, session.askers,
                    partial(_identity, result), sample,
                )  # fmt: skip
                jobs.append((job, partial(is_complete, path, result)))
    models = {"": model, **{judge.name: judge for judge in judges}}
    numbers = {"policy": policy_facts(model, judges, 1), "samples": samples}
    return session.play(models, session.choose(jobs), numbers)


def _identity(result: Wanted) -> str:
    return identity_of(result.describe())


def policy_facts(model: Model, judges: Sequence[Model], sample: int) -> dict[str, Any]:
    """The settings that decide, besides those of the episode, the answers: `attune.policy` of a result."""
    facts = {"name": model.full_name, **model.sampling.describe(), "judges": [j.full_name for j in judges]}
    return facts | ({"sample": sample} if sample > 1 else {})


def check_judges(judges: Sequence[Model]) -> None:
    """Raises SettingsError where a judge is named twice."""
    names = [judge.name for judge in judges]
    if len(set(names)) < len(names):
        raise SettingsError(f"a judge is named twice: {', '.join(map(show, names))}")


class Session:
    """Makes the calls of some jobs, with one journal, and reports the outcome."""

    def __init__(
        self, name: str, skip_name: str, folder: Path, options: Options | None, watcher: Watcher | None
    ) -> None:
        self.name = name
        """Of the journal and of the run's numbers: `provider/model`."""
        self.skip_name = skip_name
        """Of the list of skipped conversations: the model's."""
        self.folder = folder
        self.options = options or Options()
        self.watcher = watcher or Watcher()
        self.askers: dict[str, Asker] = {}
        """Filled when the session begins: "" or the judge's model -> who asks."""
        self.written = 0
        self.failed: list[dict[str, Any]] = []
        self.complete: list[tuple[str, str, str]] = []
        """(conversationId, em_model, mode) of the complete results."""

    def choose(self, jobs: Iterable[tuple[Job, Callable[[], bool]]]) -> list[Job]:
        """The jobs that are to be played; notes the others as complete.

        Each comes with a function that tells whether its result exists. It is not asked where that result
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
            for (job, exists), state in zip(candidates, states, strict=True):
                job.anew = self.options.overwrite and not (goes_on and state)
                if not job.anew and state != "left" and self._exists(job, exists):
                    self.complete.append(job.names)
                else:
                    check_same_result(job.path, *job.names)
                    todo.append(job)
        return todo

    def _exists(self, job: Job, exists: Callable[[], bool]) -> bool:
        try:
            return exists()
        except SettingsError:
            if not self.options.overwrite:
                raise
            job.anew = True  # made once, and since then replaced by another run
            return False

    def play(
        self, models: Mapping[str, Model], todo: Sequence[Job], facts: Mapping[str, Any]
    ) -> EndpointReport:
        """Plays the jobs; `facts` are kept with the run's numbers."""
        before, command = len(self.complete), self.options.command
        if not todo:  # no lock is needed, nothing is loaded
            skipped = write_skipped(self.folder, self.skip_name, (), self.complete, command)
            return EndpointReport(0, before, (), skipped, None, Tally(Control(self.options.concurrency)))
        from attune_env.running.client import ChatClient

        timeout = self.options.call_timeout
        clients = {name: ChatClient(one.endpoint, call_timeout=timeout) for name, one in models.items()}
        with Journal(self.folder, self.name) as journal:
            if journal.passed_over:
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
            skipped = None
            try:
                skipped = write_skipped(self.folder, self.skip_name, self.failed, self.complete, command)
                add_run(self.folder, self.name, {**self._numbers(started, tally), **facts})
            except OSError as error:
                # a full disk: what the journal and the results hold is there all the same
                control.stop(StopRun(disk_message(error, self.folder)))
        return EndpointReport(self.written, before, tuple(self.failed), skipped, control.reason, tally)

    def _numbers(self, started: str, tally: Tally) -> dict[str, Any]:
        reason = tally.control.reason
        return {
            "started": started,
            "ended": _now(),
            "command": self.options.command,
            "stopped": str(reason) if reason else None,
            "concurrency": self.options.concurrency,
            "structured": {asker.model.name: asker.takes_schemas for asker in self.askers.values()},
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
                fact = f"structured {model.endpoint.base_url} {model.name}"
                known = journal.facts.get(fact)
                self.askers[name] = Asker(
                    client, model, tally.control, self.options.patience, known,
                    partial(_remember, journal, fact),
                )  # fmt: skip
            for job in todo[:COUNTED]:
                tally.planned[job.group] = job.planned
            about = "" if len(tally.planned) >= len(todo) else "about "
            self.watcher.said(f"{len(todo)} conversations to play, {about}{tally.calls} calls")
            await Loop(
                todo, journal, tally, self.options.concurrency, self.folder, self.watcher, self._conclude
            ).go()

    def _conclude(self, job: Job, tally: Tally) -> None:
        """Notes a job that is over, complete or not."""
        if job.failed:
            tally.conversations_failed += 1
            names = dict(zip(("conversationId", "em_model", "mode"), job.names, strict=True))
            request, reason = job.failed
            source = {"source_file": job.facts.get("source_file")}
            why = {"request": request, "reason": reason, "command": self.options.command}
            self.failed.append({**names, **source, **why})
        else:
            tally.conversations_done += 1
            self.written += 1
            self.complete.append(job.names)
        self.watcher.finished(job, tally)
        job.close()


async def _remember(journal: Journal, fact: str, found: bool) -> None:
    await journal.note({fact: found})


def _now() -> str:
    """The time, UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")
