"""`rejudge`: judges rate the drafts of existing result files; the model is not asked again."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from attune_data import Conversations
from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_env.results.files import Result, read_result, read_results, with_scores
from attune_env.running.asker import Asker, Call
from attune_env.running.costs import Estimate, judge_usage
from attune_env.running.jobs import Job
from attune_env.running.loop import Watcher
from attune_env.running.served import EndpointReport, Session, check_judges
from attune_env.running.settings import Model, Options
from attune_env.running.tally import total
from attune_episodes.chat.completion import Usage
from attune_episodes.judging import JudgeRequest, judge_request
from attune_episodes.protocol.settings import MODES, Settings
from attune_rewards.predictions import ConversationPrediction
from attune_rewards.record.marks import mapping, marks_of

JOURNAL: Final = "rejudge"
"""The name used for the journal and lists of rejudging, shared by all models in a folder."""


@dataclass
class RejudgeJob(Job):
    """The drafts of one result file."""

    before: Mapping[str, Any] = field(default_factory=dict)
    prediction: ConversationPrediction = field(default_factory=lambda: ConversationPrediction(""))
    """The prediction in the existing record."""
    in_place: bool = False
    """Whether its file is replaced; otherwise a different one is written."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.group += f"/{self.em_model}"

    @property
    def planned(self) -> int:
        """The number of calls it takes."""
        return len(self.judges) * len(self.requests)

    @property
    def requests(self) -> list[JudgeRequest]:
        """The requests to each judge."""
        asked = (judge_request(self.conversation, *draft, self.settings) for draft in self._drafts)
        return [request for request in asked if request is not None]

    def first(self) -> Iterable[Call]:
        """The judges' calls about every draft."""
        return [call for draft in self._drafts for call in self.to_judges(*draft)]

    def exists(self) -> bool:
        """Whether the file has the judgements of exactly these judges in this wording.

        In a different folder, the file is always written, but existing judgements are not asked for again.
        Raises SettingsError if it would replace a result with other answers.
        """
        if self.in_place:
            marks = mapping(marks_of(self.before).get("judge"))
            found = {name: marks.get(name) for name in ("models", "providers", "template")}
            found["codebook"] = mapping(marks.get("codebook")).get("fingerprint")
            return found == self.describe()
        try:
            there = _answers(read_result(self.path)) if self.path.exists() else None
        except DataError:
            return False  # truncated: it is made again
        if there is not None and there != _answers(self.before):
            raise SettingsError(
                f"{self.path} contains answers other than those to be judged; choose another -o, or pass "
                "--overwrite"
            )
        return False

    def record(self) -> dict[str, Any]:
        """Replace the earlier judgements in the record by those of these judges.

        Raises DataError if a run has meanwhile replaced the file by one with other answers.
        """
        if self.in_place and _answers(read_result(self.path)) != _answers(self.before):
            raise DataError(
                Problem(
                    str(self.path),
                    "",
                    "answers that differ from those judged: another run has replaced them",
                    "the result as it was",
                    "run the same command again once that run has ended")
            )  # fmt: skip
        made, prediction = self.judged(self.before, self.prediction)
        calls = self.judging
        made["attune"]["judge"]["usage"] = {"calls": len(calls), **total(calls).describe()}
        return with_scores(made, self.conversation, prediction)

    @property
    def _drafts(self) -> list[tuple[int, str | None]]:
        known = {turn.turn_number for turn in self.conversation.turns}
        found = [(turn.get("turnNumber"), turn.get("em_drafted_response")) for turn in self.before["turns"]]
        return [
            (number, draft if isinstance(draft, str) else None)
            for number, draft in found
            if type(number) is int and number in known
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
    """Let judges rate the drafts in result files, ours or the official runner's, and add their judgements.

    Without an `output`, the files in `results`, including earlier judgements, are replaced. If `only` is
    given, only results of those conversations are judged. Of `settings`, only the codebook and the prompt set
    are used. `skip_invalid` leaves out files that are not results. With `options.overwrite`, judges are asked
    again even if they have already answered.

    Each judgement is saved immediately; the same call continues where an earlier one ended, also with
    `overwrite`. A file is not changed if exactly these judges have already rated it in the same wording, or
    if it has no draft to rate.

    Raises:
        SettingsError: no judge, a judge named twice, or another rejudging of the folder in progress.
        DataError: files that are not results, or no result for the chosen conversations.
    """
    if not judges:
        raise SettingsError("no judge: name at least one with --judge-model")
    check_judges(judges)
    base, folder = settings or Settings(), output or results
    session = Session(JOURNAL, JOURNAL, folder, options, watcher)
    by = {
        "models": sorted(judge.name for judge in judges),
        "providers": {judge.name: judge.endpoint.provider for judge in judges},
        "template": base.prompt_set.judge_fingerprint,
        "codebook": base.codebook.fingerprint,
    }
    jobs = []
    for job in _jobs(results, folder, conversations, base, session.askers, by, only, skip_invalid):
        if job.in_place and not job.requests:
            session.complete.append(job.names)
        else:
            jobs.append(job)
    facts = {"judges": [judge.full_name for judge in judges]}
    return session.play({judge.name: judge for judge in judges}, jobs, facts)


def estimate_rejudging(
    results: Path,
    conversations: Conversations,
    *,
    judges: int,
    only: Container[str] | None = None,
    settings: Settings | None = None,
    skip_invalid: bool = False,
) -> list[Estimate]:
    """Estimate `rejudge` for each mode of the results; same arguments, with the number of `judges`."""
    jobs = _jobs(results, results, conversations, settings or Settings(), {}, {}, only, skip_invalid)
    found = []
    for mode in MODES:
        asked = [job.requests for job in jobs if job.settings.mode == mode]
        requests = [request for one in asked for request in one]
        usage = judge_usage(requests, judges)
        if asked:
            found.append(Estimate(mode, len(asked), 0, len(requests) * judges, Usage(), usage))
    return found


def _jobs(
    results: Path,
    folder: Path,
    conversations: Conversations,
    settings: Settings,
    askers: Mapping[str, Asker],
    by: Mapping[str, Any],
    only: Container[str] | None,
    skip_invalid: bool,
) -> list[RejudgeJob]:
    """Make a job for each result to be judged; `by` identifies the judges and the wording."""
    found, problems, _ = read_results(results, conversations)
    unfit = {result.path: problem for result in found if (problem := _no_turns(result))}
    problems += unfit.values()
    found = [result for result in found if result.path not in unfit]
    if problems and not (skip_invalid and found):
        raise DataError(problems)
    chosen = [result for result in found if only is None or result.record["conversationId"] in only]
    if not chosen:
        raise DataError(
            Problem(str(results), "", "no result for any of the chosen conversations", "at least one",
                    "run them first, or choose others with --where and --number")
        )  # fmt: skip
    jobs = []
    for result in chosen:
        if result.mode not in MODES:
            raise UnknownNameError(f"mode of {result.path.name}", result.mode, MODES)
        path, asked = folder / result.path.name, replace(settings, mode=result.mode)
        job = RejudgeJob(
            result.record["conversationId"], conversations.by_id, asked, result.em_model, path,
            {"source_file": result.record.get("source_file")}, askers, lambda: by,
            before=result.record, prediction=result.prediction, in_place=path == result.path,
        )  # fmt: skip
        jobs.append(job)
    return jobs


def _no_turns(result: Result) -> Problem | None:
    """The problem with a record that cannot hold judgements; None if it can."""
    turns = result.record.get("turns")
    if not isinstance(turns, list):
        where, what = "turns", "no list of turns"
    elif odd := [number for number, entry in enumerate(turns) if not isinstance(entry, dict)]:
        where, what = f"turns[{odd[0]}]", f"{show(turns[odd[0]])}, which is not a turn"
    else:
        return None
    remedy = "move the file away, or pass --skip-invalid"
    return Problem(str(result.path), where, what, "a list of objects, one per turn", remedy)


def _answers(record: object) -> Any:
    """The evaluated model's answers in a record, without judgements; None if it is not a record."""
    if not isinstance(record, Mapping) or not isinstance(record.get("turns"), list):
        return None
    turns = [
        {name: value for name, value in mapping(entry).items() if not name.startswith("em_draft_")}
        for entry in record["turns"]
    ]
    return turns, record.get("post_conversation")
