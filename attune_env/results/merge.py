"""Several scores files as one: refused, with what differs, where their numbers belong in no common table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attune_data.errors import DataError, Problem, SettingsError, one_line, show
from attune_env.results.marks import mapping
from attune_env.results.scores import aggregates_of, counts_of

Named = tuple[str, Mapping[str, Any]]
"""A scores file: its name for messages, and its content as `read_scores` gives it."""
_ADVICE = "--side-by-side shows them in tables of their own"
_SHOWN = 3
"""Twice scored conversations that a message names."""


def differences(files: Sequence[Named], mode: str | None = None) -> list[str]:
    """The reasons that keep these files out of one table, a sentence each; none if they go together.

    Compared: the ground truth's fingerprint, the selection (`where`), how Q1 overlap is counted, the scoring
    version, and whether all of them hold `mode` (by default: whether there is a mode that all hold).
    """
    named = [name for name, _ in files]
    found = []
    for what, values in {
        "data": [_data(scores) for _, scores in files],
        "selection": [str(scores["metadata"].get("where") or "none") for _, scores in files],
        "Q1 overlap": [str(_settings(scores).get("q1_overlap", "not stated")) for _, scores in files],
        "scoring version": [str(_versions(scores).get("scoring", "not stated")) for _, scores in files],
    }.items():
        if len(set(values)) > 1:
            found.append(f"{what} differs: {_listed(named, values)}")
    held = [sorted({entry["mode"] for entry in scores["conversations"]}) for _, scores in files]
    shared = set.intersection(*map(set, held))
    if (mode is not None and mode not in shared) or not shared:
        wanted = f"mode {show(mode)} is not in all of them" if mode is not None else "modes differ"
        found.append(f"{wanted}: {_listed(named, [', '.join(modes) for modes in held])}")
    return found


def merged(files: Sequence[Named], mode: str | None = None) -> dict[str, Any]:
    """One scores file's content from several; means and z-scores are made anew over all of them.

    A built-in policy that was scored the same in several files stands once.

    Raises:
        SettingsError: the files do not go together (`differences`), or one brings nothing new.
        DataError: a model's conversation was scored in two of them, in the same mode.
    """
    if len(files) == 1:
        return dict(files[0][1])
    if found := differences(files, mode):
        raise SettingsError("\n".join(f"{one_line(line)}; {_ADVICE}" for line in found))
    entries: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    first: dict[tuple[str, str, str], str] = {}
    problems: list[Problem] = []
    for name, scores in files:
        twice, new = [], 0
        for entry in scores["conversations"]:
            key = (entry["em_model"], entry["mode"], entry["conversationId"])
            if key not in entries:
                entries[key], first[key], new = entry, name, new + 1
            elif not (key[0].startswith("builtin/") and _same(entry, entries[key])):
                twice.append(key)
        problems += [
            Problem(name, "", f"{show(model)} in mode {show(mode)} on {show(about)}, scored a second time",
                    f"one score (the first is in {first[model, mode, about]})",
                    "leave one file out, or rename the model of one run")
            for model, mode, about in twice[:_SHOWN]
        ]  # fmt: skip
        if len(twice) > _SHOWN:
            problems.append(Problem(name, "", f"{len(twice) - _SHOWN} more scored a second time",
                                    "one score each", "leave one file out"))  # fmt: skip
        if not new and not twice:
            problems.append(Problem(name, "", "only scores of built-in policies that another file holds",
                                    "scores that are new", "leave it out"))  # fmt: skip
    if problems:
        raise DataError(problems)
    ordered = [entries[key] for key in sorted(entries)]
    return {
        "metadata": _metadata(files, ordered),
        "conversations": ordered,
        "aggregates": aggregates_of(ordered),
    }


def _metadata(files: Sequence[Named], entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first file's metadata with the facts of all; versions that differ are listed."""
    versions: dict[str, str] = {}
    for name in dict.fromkeys(name for _, scores in files for name in _versions(scores)):
        found = dict.fromkeys(
            str(_versions(scores)[name]) for _, scores in files if name in _versions(scores)
        )
        versions[name] = ", ".join(found)
    return {
        **files[0][1]["metadata"],
        **counts_of(entries),
        "versions": versions,
    }


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two entries hold the same scores, wherever their result files lie."""
    return all(one.get(name) == other.get(name) for name in {*one, *other} - {"source_result"})


def _data(scores: Mapping[str, Any]) -> str:
    data = mapping(scores["metadata"].get("data"))
    return f"{data.get('provenance')} {data.get('fingerprint')}"


def _settings(scores: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(scores["metadata"].get("settings"))


def _versions(scores: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(scores["metadata"].get("versions"))


def _listed(names: Sequence[str], values: Sequence[str]) -> str:
    return "; ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
