"""Parse the raw replies of a result file again, without a model, for `attune score --reparse`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from attune_data.codebook import Codebook
from attune_data.errors import AttuneError, DataError, Problem
from attune_data.schema import Conversation
from attune_env.results.marks import mapping, marks_of, parts_of
from attune_episodes.parsing import parse
from attune_episodes.plan import plan
from attune_episodes.record import result_record
from attune_episodes.settings import Settings


def reparsed(
    record: Mapping[str, Any], conversation: Conversation, codebook: Codebook, file: str
) -> dict[str, Any]:
    """Parse the answers of a record again from its raw replies.

    Raises DataError if the file has no replies (like the official runner's) or was asked in a wording other
    than `codebook`, whose option lists determine the meaning of numbers in a reply.
    """
    marks = marks_of(record)
    settings = mapping(marks.get("settings"))
    if not settings:
        raise DataError(
            Problem(file, "attune", "no raw replies", "a result file written by attune",
                    "score it without --reparse")
        )  # fmt: skip
    wording = mapping(settings.get("codebook"))
    if wording.get("fingerprint") != codebook.fingerprint:
        raise DataError(
            Problem(file, "attune.settings.codebook", f"wording {wording.get('name')}", codebook.name,
                    "give the codebook of the run with --codebook")
        )  # fmt: skip
    try:
        same = recorded_settings(settings, codebook)
    except DataError as error:
        raise DataError(replace(error.problems[0], file=file)) from error
    requests = plan(conversation, same)
    kept = {
        (turn, stage): text
        for turn, part in parts_of(record)
        for stage, text in mapping(marks_of(part).get("replies")).items()
        if isinstance(text, str)
    }
    replies = {one.id: kept[one.turn, one.stage] for one in requests if (one.turn, one.stage) in kept}
    answered = {one.id: parse(one, replies[one.id]) for one in requests if one.id in replies}
    again = result_record(
        conversation, same, requests, answered, replies, em_model=record["em_model"], facts=record
    )
    before = dict(parts_of(record))
    for entry in again["turns"]:
        # a judge's ratings are not replies of the model and do not change
        judged = before.get(entry["turnNumber"], {})
        entry |= {key: judged[key] for key in entry if key.startswith("em_draft_") and judged.get(key)}
    return again | {"attune": {**marks, "complete": again["attune"]["complete"]}}


def recorded_settings(found: Mapping[str, Any], codebook: Codebook) -> Settings:
    """The settings that a result file records; raises DataError if they are not settings."""
    try:
        return Settings(
            mode=found["mode"],
            stages=tuple(found["stages"]),
            panas_strategy=found["panas_strategy"],
            labels=found["labels"],
            seed=int(found["seed"]),
            codebook=codebook,
        )
    except (AttuneError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            Problem("", "attune.settings", f"{type(error).__name__} {error}", "the settings of a run",
                    "score it without --reparse")
        ) from error  # fmt: skip
