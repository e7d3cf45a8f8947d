"""From a scores file back to its conversations and result files, and what remains of it under `--where`.

Scores files get passed on to other people. A source that one names is read only if it is a bundled set or on
this machine: a scores file must not make this machine fetch a data set or ask another host for a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attune_data import Conversations
from attune_data.errors import DataError, Problem, SettingsError, one_line, show
from attune_data.selection import select
from attune_data.written.corpus import is_written
from attune_env.results.scores import aggregates_of, contents


def recorded_source(scores: Mapping[str, Any]) -> str:
    """The place that a scores file says its conversations were read from; SettingsError unless it is here."""
    source = scores["metadata"].get("ground_truth")
    if isinstance(source, str) and (source == "sample" or is_written(source) or _is_here(source)):
        return source
    raise SettingsError(
        f"--where reads the profiles of the scored conversations, and the scores file names {show(source)}, "
        "which is not a file or folder here: name the conversations with --data"
    )


def recorded_results(scores: Mapping[str, Any], path: Path) -> Path | None:
    """The folder of the result files that the scores file `path` was made of; None if they are not found.

    That is the folder its metadata names, as given to `attune score --results`, or else the one that contains
    the scores file, or else `results` there; only if it holds a result file that the scores name.
    """
    named = scores["metadata"].get("results")
    places = [Path(named)] if isinstance(named, str) and _is_here(named) else []
    files = sorted({name for entry in scores["conversations"] if (name := named_file(entry)) is not None})
    for place in (*places, path.parent, path.parent / "results"):
        if place.is_dir() and any((place / name).is_file() for name in files):
            return place
    return None


def named_file(entry: Mapping[str, Any]) -> str | None:
    """The result file that an entry names, if that is a name and no path."""
    name = entry.get("source_result")
    plain = isinstance(name, str) and name == Path(name).name and not {"\\", "\0"} & set(name)
    return str(name) if plain and name not in ("", ".", "..") else None


def _is_here(source: str) -> bool:
    """Whether a path is one of this machine; looks nowhere else."""
    if not source.strip() or source.replace("\\", "/").startswith("//"):  # //host/share is another machine
        return False
    try:
        return Path(source).exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


def narrowed(
    scores: Mapping[str, Any], conversations: Conversations, where: str
) -> tuple[dict[str, Any], list[Problem]]:
    """The scores of the conversations that meet `where`, with new means; and warnings.

    `conversations` are the ground truth that the scores were made with: all of it, even if the scores were
    made from a selection (then both selections apply). Scores do not hold profiles.

    Raises DataError if scored conversations are not in it, SettingsError if none of the scored ones
    is left, and what `select` raises.
    """
    before = scores["metadata"].get("where")
    whole = select(conversations, before) if before else conversations
    check_scored(scores, whole, conversations.source)
    chosen = select(whole, where)
    kept = [entry for entry in scores["conversations"] if entry["conversationId"] in chosen.by_id]
    if not kept:
        raise SettingsError(one_line(f"none of the {len(chosen)} conversations with {where} was scored"))
    both = f"{before},{where}" if before else where
    metadata = {**scores["metadata"], **contents(kept, chosen, both)}
    made = {**scores, "metadata": metadata, "conversations": kept, "aggregates": aggregates_of(kept)}
    return made, changed(scores, whole, conversations.source)


def check_scored(scores: Mapping[str, Any], conversations: Conversations, source: str) -> None:
    """Raises DataError if a scored conversation is not among `conversations`, which `source` holds."""
    unknown = {entry["conversationId"] for entry in scores["conversations"]} - set(conversations.by_id)
    if unknown:
        raise DataError(
            Problem(source, "", f"no conversation {show(min(unknown))}, which was scored",
                    "the conversations that the scores were made with", "name them with --data")
        )  # fmt: skip


def changed(scores: Mapping[str, Any], conversations: Conversations, source: str) -> list[Problem]:
    """A warning where `conversations`, which `source` holds, are not what was scored against."""
    made_with = (scores["metadata"].get("data") or {}).get("fingerprint")
    if made_with == conversations.fingerprint:
        return []
    return [
        Problem(source, "", f"fingerprint {conversations.fingerprint}", f"{made_with}, that of the scores",
                "the conversations have changed since scoring", severity="warning")
    ]  # fmt: skip
