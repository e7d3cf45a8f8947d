"""`rejudge`: judges rate the drafts of result files that are there; the model is not asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from attune_data import Conversations
from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_env.results.files import Result, read_results
from attune_env.results.marks import mapping, marks_of
from attune_env.running.endpoint.job import Job
from attune_env.running.endpoint.journal import Journal
from attune_env.running.endpoint.loop import Watcher
from attune_env.running.endpoint.session import EndpointReport, Model, Options, Session, check_judges
from attune_env.running.endpoint.tally import total, usage_of
from attune_episodes.judging import judge_request
from attune_episodes.settings import MODES, Settings

JOURNAL = "rejudge"
"""The name of the journal and the lists of rejudging, one for all models in a folder."""


@dataclass
class RejudgeJob(Job):
    """The drafts of one result file."""

    before: Mapping[str, Any] = field(default_factory=dict)
    """The record as it is."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.group += f"/{self.em_model}"

    @property
    def planned(self) -> int:
        """How many calls it takes."""
        return len(self.judges) * sum(
            judge_request(self.conversation, turn, draft, self.settings) is not None
            for turn, draft in self._drafts()
        )

    def start(self, journal: Journal, *, schema_first: bool = False) -> None:
        """Makes the list of its calls; those that the journal holds are done."""
        for turn, draft in self._drafts():
            self.judge(turn, draft, journal)

    def record(self) -> dict[str, Any]:
        """The record with these judges' judgements in the place of those before."""
        made = self.judged(self.before)
        calls = self.judging
        made["attune"]["judge"]["usage"] = {"calls": len(calls), **usage_of(total(calls))}
        return made

    def discard(self) -> None:
        """Nothing: the result is what is judged."""

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
        settings: the codebook and the prompt set count.
        skip_invalid: leave out files that are no results rather than raise.
        options: concurrency, patience, caps; `overwrite` asks again what these judges have said before.
        watcher: is told how it goes.

    Each judgement is durable at once; the same call goes on where one ended. A file that these very judges
    have rated already, with these words, is left as it is.

    Raises:
        SettingsError: no judge, a judge named twice, or another rejudging of the folder is going on.
        DataError: files that are no results.
    """
    if not judges:
        raise SettingsError("no judge: name at least one with --judge-model")
    names = check_judges(judges)
    found, problems, _ = read_results(results, conversations)
    unfit = {result.path: problem for result in found if (problem := _no_turns(result))}
    problems = [*problems, *unfit.values()]
    found = [result for result in found if result.path not in unfit]
    if problems and not (skip_invalid and found):
        raise DataError(problems)
    base, folder = settings or Settings(), output or results
    session = Session(JOURNAL, JOURNAL, folder, options, watcher)
    session.retry_option = False
    todo: list[Job] = []
    for result in found:
        identity = (result.record["conversationId"], result.em_model, result.mode)
        path = folder / result.path.name
        if not session.options.overwrite and path == result.path and _judged_by(result, names, base):
            session.complete.append(identity)
            continue
        if result.mode not in MODES:
            raise UnknownNameError(f"mode of {result.path.name}", result.mode, MODES)
        todo.append(
            RejudgeJob(
                conversations.by_id[result.record["conversationId"]],
                replace(base, mode=result.mode),
                1,
                result.em_model,
                path,
                {"source_file": result.record.get("source_file")},
                session.askers,
                before=result.record,
            )
        )
    return session.play({judge.name: judge for judge in judges}, todo, {"judges": names})


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


def _judged_by(result: Result, judges: Sequence[str], settings: Settings) -> bool:
    """Whether a record holds the judgements of exactly these judges, asked in these words."""
    marks = mapping(marks_of(result.record).get("judge"))
    return (
        marks.get("models") == sorted(judges)
        and marks.get("template") == settings.prompt_set.judge_fingerprint
        and mapping(marks.get("codebook")).get("fingerprint") == settings.codebook.fingerprint
    )
