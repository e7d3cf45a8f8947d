"""Find the conversations and result files of a scores file, and apply `--where` to it.

Scores files are passed on to other people. A source named in one is read only if it is bundled or on this
machine, so that a scores file cannot make this machine download a data set or request a file from another
host.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attune_data import Conversations
from attune_data.errors import DataError, Problem, SettingsError, one_line, show
from attune_data.selection import select
from attune_data.source.names import part_named
from attune_env.results.scores import aggregates_of, contents


def recorded_source(scores: Mapping[str, Any]) -> str:
    """The source of the conversations named in a scores file; raises SettingsError unless it is local."""
    source = scores["metadata"].get("ground_truth")
    if isinstance(source, str) and (part_named(source) or _is_here(source)):
        return source
    raise SettingsError(
        f"--where reads the profiles of the scored conversations, and the scores file names {show(source)}, "
        "which is not a file or folder here: name the conversations with --data"
    )


def recorded_results(scores: Mapping[str, Any], path: Path) -> Path | None:
    """The folder of the result files behind the scores file `path`; None if they are not found.

    It is the folder named in the metadata, as given to `attune score --results`, here or beside the scores
    file; otherwise the one that contains the scores file, otherwise `results` in it; only if it has a result
    file named in the scores.
    """
    named = scores["metadata"].get("results")
    given = [named, str(path.parent / named)] if isinstance(named, str) and named.strip() else []
    places = [Path(place) for place in given if _is_here(place)]
    files = sorted({name for entry in scores["conversations"] if (name := named_file(entry)) is not None})
    for place in (*places, path.parent, path.parent / "results"):
        if place.is_dir() and any((place / name).is_file() for name in files):
            return place
    return None


def named_file(entry: Mapping[str, Any]) -> str | None:
    """The result file that an entry names, if it is a plain name and not a path."""
    name = entry.get("source_result")
    plain = isinstance(name, str) and name == Path(name).name and not {"\\", "\0"} & set(name)
    return str(name) if plain and name not in ("", ".", "..") else None


def _is_here(source: str) -> bool:
    """Whether a path is on this machine, without accessing others."""
    if not source.strip() or source.replace("\\", "/").startswith("//"):  # //host/share is another machine
        return False
    try:
        return Path(source).exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


def narrowed(
    scores: Mapping[str, Any], conversations: Conversations, where: str
) -> tuple[dict[str, Any], list[Problem]]:
    """Keep the scores of the conversations that meet `where`, with new means; also returns warnings.

    `conversations` is the complete ground truth behind the scores, needed because scores have no profiles. If
    the scores were made from a selection, both selections apply.

    Raises DataError if scored conversations are missing from it, SettingsError if none of the scored ones is
    left, and the errors of `select`.
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
    """Raise DataError if a scored conversation is missing from `conversations`, which come from `source`."""
    unknown = {entry["conversationId"] for entry in scores["conversations"]} - set(conversations.by_id)
    if unknown:
        raise DataError(
            Problem(source, "", f"no conversation {show(min(unknown))}, which was scored",
                    "the conversations that the scores were made with", "name them with --data")
        )  # fmt: skip


def changed(scores: Mapping[str, Any], conversations: Conversations, source: str) -> list[Problem]:
    """Warn if `conversations`, which come from `source`, differ from those used for scoring."""
    made_with = (scores["metadata"].get("data") or {}).get("fingerprint")
    if made_with == conversations.fingerprint:
        return []
    return [
        Problem(source, "", f"fingerprint {conversations.fingerprint}", f"{made_with}, that of the scores",
                "the conversations have changed since scoring", severity="warning")
    ]  # fmt: skip
