"""From scores files to studies: merged, filtered, with the data behind them if it is available."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attune_data import Conversations, load
from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.selection import select
from attune_env.report.analyses.study import Study
from attune_env.results.merge import Named, differences, merged
from attune_env.results.recorded import (
    changed,
    check_scored,
    narrowed,
    recorded_results,
    recorded_source,
)
from attune_env.results.scores import Reading, read_scores
from attune_env.statistics.score_table import Resample


@dataclass(frozen=True, slots=True)
class Sources:
    """The inputs of a report, as requested.

    Args:
        scores: scores files.
        ground_truth: the annotated conversations; by default those that the scores name, if they are on this
            machine.
        results: the folder of result files; by default the one that the scores name, if it is on this
            machine.
        mode: the mode that analyses are about; by default `default`, or else the first that all files hold.
        scoring: the variant that ranks models; by default that of the first file.
        where: only conversations that meet these conditions.
        side_by_side: files that cannot share a table become separate studies.
        resample: units of the bootstrap.
        seed: seeds it.
        scores_only: read conversations only where `where` needs them, and no result files.
        needs_data: the conversations are required.
        baseline: the model or policy that the verdict compares with.
    """

    scores: Sequence[Path]
    ground_truth: str | None = None
    results: Path | None = None
    mode: str | None = None
    scoring: Reading | None = None
    where: str | None = None
    side_by_side: bool = False
    resample: Resample = "auto"
    seed: int = 0
    scores_only: bool = False
    needs_data: bool = False
    baseline: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """Scores files that go together."""

    label: str
    study: Study
    without: str = ""
    """Why there are no conversations, if there are none."""
    scored: int = 0
    """How many conversations were scored, before `where`."""


def read_parts(asked: Sources, command: str) -> tuple[list[Part], list[Problem]]:
    """The studies of `asked`, and warnings: one, or with `side_by_side` one for each set that goes together.

    Raises:
        SettingsError: files that do not go together; a mode that none holds; `where` without conversations.
        UnknownNameError: a baseline that was not scored in this mode.
        DataError: what `read_scores` and `merged` raise; conversations that are not those that were scored.
    """
    seen = set()
    for path in asked.scores:
        real = os.path.realpath(path)  # unlike Path.resolve, it takes links that lead in a circle
        if real in seen:
            raise SettingsError(f"{path} is named twice; name each scores file once")
        seen.add(real)
    sets: list[list[Named]] = []
    for path in asked.scores:
        file = str(path), read_scores(path)
        together = (
            one for one in sets if not asked.side_by_side or not differences([*one, file], asked.mode)
        )
        if (members := next(together, None)) is not None:
            members.append(file)
        else:
            sets.append([file])
    found = [_part(asked, members, command) for members in sets]
    return [part for part, _ in found], [problem for _, warnings in found for problem in warnings]


def narrowed_study(study: Study, where: str, command: str) -> Study:
    """The study of those conversations that meet `where`; raises what `narrowed` raises."""
    if study.conversations is None:
        raise SettingsError("a subset is chosen by profiles and topics: name the conversations with --data")
    scores, _ = narrowed(study.scores, study.conversations, where)
    chosen = select(study.conversations, where)
    return replace(study, scores=scores, conversations=chosen, command=command)


def _part(asked: Sources, files: Sequence[Named], command: str) -> tuple[Part, list[Problem]]:
    scores = merged(files, asked.mode)
    scored = scores["metadata"]["n_conversations"]
    mode = _mode(files, asked.mode)
    warnings: list[Problem] = []
    conversations, without = None, ""
    if asked.where is not None or not asked.scores_only:
        try:
            required = asked.needs_data or asked.where is not None
            conversations = _conversations(scores, asked, required=required)
        except _NotHere as error:
            without = str(error)
    if conversations is not None:
        if asked.where is not None:
            scores, told = narrowed(scores, conversations, asked.where)
        else:
            before = scores["metadata"].get("where")
            whole = select(conversations, before) if before else conversations
            told = changed(scores, whole, conversations.source)
        warnings += told
        if (chosen := scores["metadata"].get("where")) is not None:
            conversations = select(conversations, chosen)
    if asked.scoring is not None:
        settings = {**scores["metadata"]["settings"], "scoring": asked.scoring}
        scores = {**scores, "metadata": {**scores["metadata"], "settings": settings}}
    results = None if asked.scores_only else _results(files, asked)
    options = asked.resample, asked.seed, command, asked.baseline
    study = Study(scores, mode, conversations, results, *options)
    return Part(", ".join(Path(name).name for name, _ in files), study, without, scored), warnings


def _mode(files: Sequence[Named], mode: str | None) -> str:
    """The mode asked for, or the first that all files hold; raises SettingsError if one lacks it."""
    held = [{entry["mode"] for entry in scores["conversations"]} for _, scores in files]
    shared = sorted(set.intersection(*held))
    if mode is None:
        return "default" if "default" in shared else shared[0]
    if mode not in shared:
        raise SettingsError(f"mode {show(mode)} was not scored; scored modes: {', '.join(map(show, shared))}")
    return mode


class _NotHere(Exception):
    """The conversations behind a scores file are not available, and no path was given."""


def _conversations(scores: Mapping[str, Any], asked: Sources, *, required: bool) -> Conversations:
    if asked.ground_truth is not None:
        found = load(asked.ground_truth, skip_invalid=True)  # what was left out then is left out again
        check_scored(scores, found, asked.ground_truth)
        return found
    try:
        source = recorded_source(scores)
    except SettingsError as error:
        if required:
            raise
        named = show(scores["metadata"].get("ground_truth"))
        raise _NotHere(f"the scores name {named}, which is not a file or folder here; give --data") from error
    try:
        found = load(source, skip_invalid=True)
    except DataError as error:
        if required:
            raise SettingsError(
                f"{error}\n--where reads the profiles of the scored conversations: name the conversations "
                "with --data"
            ) from error
        raise _NotHere(f"{source}: {error.problems[0].found}; give --data") from error
    unknown = {entry["conversationId"] for entry in scores["conversations"]} - set(found.by_id)
    if unknown and not required:
        raise _NotHere(f"{source} no longer contains {show(min(unknown))}; give --data")
    return found


def _results(files: Sequence[Named], asked: Sources) -> Path | None:
    """The folder of result files: the one given, or else the one that all files come from."""
    if asked.results is not None:
        if not asked.results.is_dir():
            expected = "a folder of result files"
            raise DataError(Problem(str(asked.results), "", "no such folder", expected, "check the path"))
        return asked.results
    found = [recorded_results(scores, Path(name)) for name, scores in files]
    places = {os.path.realpath(place): place for place in found if place is not None}
    return next(iter(places.values())) if len(places) == 1 and None not in found else None
