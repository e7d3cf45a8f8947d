"""Merge scores files; if their numbers cannot share a table, raise an error that names the differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from attune_data.errors import DataError, Problem, SettingsError, one_line, show
from attune_env.results.scores import aggregates_of, counts_of
from attune_rewards.record.marks import mapping

Named = tuple[str, Mapping[str, Any]]
"""A scores file: its name for messages, and its content as returned by `read_scores`."""
_COMPARED: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "data": lambda metadata: " ".join(
        str(mapping(metadata.get("data")).get(name)) for name in ("provenance", "fingerprint")
    ),
    "selection": lambda metadata: str(metadata.get("where") or "none"),
    "Q1 overlap": lambda metadata: str(mapping(metadata.get("settings")).get("q1_overlap", "not stated")),
    "scoring version": lambda metadata: str(mapping(metadata.get("versions")).get("scoring", "not stated")),
}
"""Metadata that must be equal in all files of one table."""
_SHOWN: Final = 3
"""How many conversations scored twice a message names."""


def differences(files: Sequence[Named], mode: str | None = None) -> list[str]:
    """The reasons why these files cannot share a table, one sentence each; empty if they can.

    The comparison covers the fingerprint of the ground truth, the selection (`where`), the measure of Q1
    overlap, the scoring version, and whether all have `mode` (by default, any common mode).
    """

    def listed(values: Sequence[str]) -> str:
        return "; ".join(f"{name}: {value}" for (name, _), value in zip(files, values, strict=True))

    found = []
    for what, said in _COMPARED.items():
        values = [said(scores["metadata"]) for _, scores in files]
        if len(set(values)) > 1:
            found.append(f"{what} differs: {listed(values)}")
    held = [sorted({entry["mode"] for entry in scores["conversations"]}) for _, scores in files]
    shared = set.intersection(*map(set, held))
    if not shared or (mode is not None and mode not in shared):
        wanted = f"mode {show(mode)} is not in all of them" if mode is not None else "modes differ"
        found.append(f"{wanted}: {listed([', '.join(modes) for modes in held])}")
    return found


def merged(files: Sequence[Named], mode: str | None = None) -> dict[str, Any]:
    """Merge the contents of several scores files, with means and z-scores over all of them.

    A built-in policy with the same scores in several files is listed once.

    Raises:
        SettingsError: the files cannot be combined (`differences`), or one adds nothing new.
        DataError: a model's conversation was scored in two of them, in the same mode.
    """
    if len(files) == 1:
        return dict(files[0][1])
    if found := differences(files, mode):
        advice = "--side-by-side shows them in separate tables"
        raise SettingsError("\n".join(f"{one_line(line)}; {advice}" for line in found))
    entries: dict[tuple[str, str, str], tuple[str, Mapping[str, Any]]] = {}
    problems: list[Problem] = []
    for name, scores in files:
        before, twice = len(entries), []
        for entry in scores["conversations"]:
            key = (entry["em_model"], entry["mode"], entry["conversationId"])
            first, known = entries.setdefault(key, (name, entry))
            if known is not entry and not (key[0].startswith("builtin/") and _same(entry, known)):
                twice.append((key, first))
        problems += [
            Problem(name, "", f"{show(model)} in mode {show(mode)} on {show(about)}, scored a second time",
                    f"one score (the first is in {first})",
                    "leave one file out, or rename the model of one run")
            for (model, mode, about), first in twice[:_SHOWN]
        ]  # fmt: skip
        if len(twice) > _SHOWN:
            problems.append(Problem(name, "", f"{len(twice) - _SHOWN} more scored a second time",
                                    "one score each", "leave one file out"))  # fmt: skip
        if len(entries) == before and not twice:
            problems.append(Problem(name, "", "only scores of built-in policies that another file contains",
                                    "scores that are new", "leave it out"))  # fmt: skip
    if problems:
        raise DataError(problems)
    ordered = [entries[key][1] for key in sorted(entries)]
    versions: dict[str, dict[str, None]] = {}
    for _, scores in files:
        for name, version in mapping(scores["metadata"].get("versions")).items():
            versions.setdefault(name, {})[str(version)] = None
    metadata = {
        **files[0][1]["metadata"],
        **counts_of(ordered),
        "versions": {name: ", ".join(found) for name, found in versions.items()},
    }
    return {"metadata": metadata, "conversations": ordered, "aggregates": aggregates_of(ordered)}


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two entries have the same scores, regardless of the location of their result files."""
    return all(one.get(name) == other.get(name) for name in {*one, *other} - {"source_result"})
