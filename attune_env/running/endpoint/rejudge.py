"""`rejudge`: judges rate the drafts of result files that are there; the model is not asked again."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from attune_data import Conversations
from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_env.results.files import Result, read_result, read_results
from attune_env.results.marks import mapping, marks_of
from attune_env.running.endpoint.anew import identity_of
from attune_env.running.endpoint.answer import Usage
from attune_env.running.endpoint.asking import Asker
from attune_env.running.endpoint.estimate import Estimate, judge_usage
from attune_env.running.endpoint.job import Job
from attune_env.running.endpoint.journal import Journal
from attune_env.running.endpoint.loop import Watcher
from attune_env.running.endpoint.session import EndpointReport, Model, Options, Session, check_judges
from attune_env.running.endpoint.tally import total, usage_of
from attune_episodes.judging import JudgeRequest, judge_request
from attune_episodes.settings import MODES, Mode, Settings

JOURNAL = "rejudge"
"""The name of the journal and the lists of rejudging, one for all models in a folder."""


@dataclass
class RejudgeJob(Job):
    """The drafts of one result file."""

    before: Mapping[str, Any] = field(default_factory=dict)
    """The record as it is."""
    in_place: bool = False
    """Whether its file is replaced; else another one is written."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.group += f"/{self.em_model}"

    @property
    def planned(self) -> int:
        """How many calls it takes."""
        return len(self.judges) * len(self.requests_to_judges)

    def start(self, journal: Journal, *, schema_first: bool = False) -> None:
        """Makes the list of its calls; those that the journal holds are done."""
        for turn, draft in self._drafts():
            self.judge(turn, draft, journal)

    def record(self) -> dict[str, Any]:
        """The record with these judges' judgements in the place of those before.

        Raises DataError where the file holds other answers by now: a run has replaced it meanwhile.
        """
        if self.in_place and _answers(read_result(self.path)) != _answers(self.before):
            raise DataError(
                Problem(str(self.path), "", "other answers than those that were judged: another run has "
                        "replaced them meanwhile", "the result as it was",
                        "run the same command again when that run is over")
            )  # fmt: skip
        made = self.judged(self.before)
        calls = self.judging
        made["attune"]["judge"]["usage"] = {"calls": len(calls), **usage_of(total(calls))}
        return made

    @property
    def requests_to_judges(self) -> list[JudgeRequest]:
        """What each judge is asked."""
        asked = (judge_request(self.conversation, *draft, self.settings) for draft in self._drafts())
        return [request for request in asked if request is not None]

    def _drafts(self) -> list[tuple[int, str | None]]:
        known = {turn.turn_number for turn in self.conversation.turns}
        return [
            (
                entry["turnNumber"],
                draft if isinstance(draft := entry.get("em_drafted_response"), str) else None,
            )
            for entry in self.before["turns"]
            if type(entry.get("turnNumber")) is int and entry["turnNumber"] in known
        ]


def rejudge(
    results: Path,
    conversations: Conversations,
    judges: Sequence[Model],
    output: Path | None = None,
    *,
    only: Container[str] | None = None,
    settings: Settings | None = None,
    skip_invalid: bool = False,
    options: Options | None = None,
    watcher: Watcher | None = None,
) -> EndpointReport:
    """Lets judges rate the drafts of result files, ours or the official runner's, and writes them in.

    Args:
        results: folder of result files.
        conversations: those that the results are about.
        judges: the judges; what others said in these files before is replaced.
        output: folder for the files with the new judgements; by default they replace those in `results`.
        only: ids of conversations; results of others are left alone. None: all.
        settings: the codebook and the prompt set count.
        skip_invalid: leave out files that are no results rather than raise.
        options: concurrency, patience, caps; `overwrite` asks again what these judges have said before.
        watcher: is told how it goes.

    Each judgement is durable at once; the same call goes on where one ended, also one with `overwrite`. A
    file that these very judges have rated already, with these words, or that holds no draft to rate, is left
    as it is.

    Raises:
        SettingsError: no judge, a judge named twice, or another rejudging of the folder is going on.
        DataError: files that are no results, or no result of the conversations that are wanted.
    """
    if not judges:
        raise SettingsError("no judge: name at least one with --judge-model")
    check_judges(judges)
    base, folder = settings or Settings(), output or results
    session = Session(JOURNAL, JOURNAL, folder, options, watcher)
    session.retry_option = False
    what = identity_of(_what_judges(judges, base))
    jobs: list[tuple[Job, Callable[[], bool]]] = []
    for result in _chosen(results, conversations, only, skip_invalid=skip_invalid):
        job = _job(result, conversations, base, folder, session.askers, what)
        if job.in_place and not job.requests_to_judges:
            session.complete.append(job.names)
        else:
            is_there = partial(_judged_by, result, judges, base) if job.in_place else partial(_elsewhere, job)
            jobs.append((job, is_there))
    full_names = {"judges": [judge.full_name for judge in judges]}
    return session.play({judge.name: judge for judge in judges}, session.choose(jobs), full_names)


def estimate_rejudging(
    results: Path,
    conversations: Conversations,
    *,
    judges: int,
    only: Container[str] | None = None,
    settings: Settings | None = None,
    skip_invalid: bool = False,
) -> list[Estimate]:
    """What `rejudge` would take, per mode of the results; the arguments are its, `judges` is how many."""
    base = settings or Settings()
    by_mode: dict[Mode, list[RejudgeJob]] = {}
    for result in _chosen(results, conversations, only, skip_invalid=skip_invalid):
        job = _job(result, conversations, base, results, {}, "")
        by_mode.setdefault(job.settings.mode, []).append(job)
    found = []
    for mode in (mode for mode in MODES if mode in by_mode):
        asked = [request for job in by_mode[mode] for request in job.requests_to_judges]
        usage = judge_usage(asked, judges)
        found.append(Estimate(mode, len(by_mode[mode]), 0, len(asked) * judges, Usage(), usage))
    return found


def _chosen(
    folder: Path, conversations: Conversations, only: Container[str] | None, *, skip_invalid: bool
) -> list[Result]:
    """The results that are to be judged."""
    found, problems, _ = read_results(folder, conversations)
    unfit = {result.path: problem for result in found if (problem := _no_turns(result))}
    problems = [*problems, *unfit.values()]
    found = [result for result in found if result.path not in unfit]
    if problems and not (skip_invalid and found):
        raise DataError(problems)
    chosen = [result for result in found if only is None or result.record["conversationId"] in only]
    if not chosen:
        raise DataError(
            Problem(str(folder), "", "no result of a conversation that is wanted", "at least one",
                    "run them first, or choose others with --where and --limit")
        )  # fmt: skip
    for result in chosen:
        if result.mode not in MODES:
            raise UnknownNameError(f"mode of {result.path.name}", result.mode, MODES)
    return chosen


def _job(
    result: Result,
    conversations: Conversations,
    settings: Settings,
    folder: Path,
    askers: Mapping[str, Asker],
    identity: str,
) -> RejudgeJob:
    return RejudgeJob(
        result.record["conversationId"],
        conversations.by_id,
        replace(settings, mode=cast("Mode", result.mode)),
        1,
        result.em_model,
        folder / result.path.name,
        {"source_file": result.record.get("source_file")},
        askers,
        lambda: identity,
        before=result.record,
        in_place=folder / result.path.name == result.path,
    )


def _no_turns(result: Result) -> Problem | None:
    """What is wrong with a record that has no place for judgements; None where it has."""
    turns = result.record.get("turns")
    if not isinstance(turns, list):
        where, what = "turns", "no list of turns"
    elif odd := [number for number, entry in enumerate(turns) if not isinstance(entry, dict)]:
        where, what = f"turns[{odd[0]}]", f"{show(turns[odd[0]])}, which is no turn"
    else:
        return None
    return Problem(
        str(result.path), where, what, "a list of objects, one a turn",
        "move the file away, or pass --skip-invalid",
    )  # fmt: skip


def _what_judges(judges: Sequence[Model], settings: Settings) -> dict[str, Any]:
    """What tells judgements from others: who judged, asked in which words."""
    return {
        "models": sorted(judge.name for judge in judges),
        "providers": {judge.name: judge.endpoint.provider for judge in judges},
        "template": settings.prompt_set.judge_fingerprint,
        "codebook": settings.codebook.fingerprint,
    }


def _judged_by(result: Result, judges: Sequence[Model], settings: Settings) -> bool:
    """Whether a record holds the judgements of exactly these judges, asked in these words.

    Files of earlier versions do not say at which provider a judge was: there its name decides.
    """
    marks = mapping(marks_of(result.record).get("judge"))
    wanted = _what_judges(judges, settings)
    found = {
        "models": marks.get("models"),
        "providers": marks.get("providers", wanted["providers"]),
        "template": marks.get("template"),
        "codebook": mapping(marks.get("codebook")).get("fingerprint"),
    }
    return found == wanted


def _elsewhere(job: RejudgeJob) -> bool:
    """False: in another folder the file is always written; what was said before is not asked again.

    Raises SettingsError where a result with other answers stands there, which would be lost.
    """
    try:
        there = _answers(read_result(job.path)) if job.path.exists() else None
    except DataError:
        return False  # cut off: it is made again
    if there is not None and there != _answers(job.before):
        raise SettingsError(
            f"{job.path} holds other answers than those that are to be judged; choose another -o, or pass "
            "--overwrite"
        )
    return False


def _answers(record: object) -> Any:
    """What a record holds of the evaluated model, without what judges said of it; None where it is none."""
    if not isinstance(record, Mapping) or not isinstance(record.get("turns"), list):
        return None
    turns = [
        {name: value for name, value in mapping(entry).items() if not name.startswith("em_draft_")}
        for entry in record["turns"]
    ]
    return turns, record.get("post_conversation")
