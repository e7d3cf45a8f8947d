"""Parse the raw replies of a result file again, without a model, for `attune score --reparse`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from attune_data.errors import AttuneError, DataError, Problem, show
from attune_data.format.codebook import Codebook
from attune_data.format.schema import Conversation
from attune_episodes.parsing import parse
from attune_episodes.play.record import result_record
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.settings import Settings
from attune_rewards.record.marks import mapping, marks_of, parts_of


def reparsed(
    record: Mapping[str, Any], conversation: Conversation, codebook: Codebook, file: str
) -> tuple[dict[str, Any], list[Problem]]:
    """Parse the answers of a record again from its raw replies; also returns warnings.

    A turn or post part whose replies are damaged stays as it is, and so does what is no turn at all: both
    count as without reparsing. Raises DataError if the file has no replies (like the official runner's) or
    was asked in a wording other than `codebook`, whose option lists determine the meaning of numbers in a
    reply.
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
    intact, damaged = _raw_replies(record, file)
    replies = {
        one.id: intact[one.turn][one.stage] for one in requests if one.stage in intact.get(one.turn, {})
    }
    answered = {one.id: parse(one, replies[one.id]) for one in requests if one.id in replies}
    again = result_record(
        conversation, same, requests, answered, replies, em_model=record["em_model"], facts=record
    )
    made = {entry["turnNumber"]: entry for entry in again["turns"]}
    turns = record.get("turns")
    if isinstance(turns, list):
        again["turns"] = [
            _judged(made[number], entry) if (number := _number(entry)) in intact and number in made else entry
            for entry in turns
        ]
    else:
        again["turns"] = turns
    if None not in intact:
        again["post_conversation"] = record.get("post_conversation")
    complete = again["attune"]["complete"] and not damaged
    return again | {"attune": {**marks, "complete": complete}}, damaged


def _number(entry: object) -> Any:
    """The number of a turn; "" for something that is no turn."""
    number = mapping(entry).get("turnNumber")
    return number if type(number) is int else ""


def _judged(made: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """A turn with the judges' ratings of before, which are not replies of the model and do not change."""
    return made | {key: before[key] for key in made if key.startswith("em_draft_") and before.get(key)}


def _raw_replies(
    record: Mapping[str, Any], file: str
) -> tuple[dict[int | None, Mapping[str, str]], list[Problem]]:
    """Turn (None for the post part) -> stage -> reply, where none is missing; and warnings about the others.

    The others count as they stand in the file.
    """
    intact: dict[int | None, Mapping[str, str]] = {}
    damaged = []
    for turn, part in parts_of(record):
        replies, outcomes = (marks_of(part).get(name) for name in ("replies", "outcomes"))
        parsed = [
            stage for stage, said in mapping(outcomes).items() if str(said).startswith(("ok", "unparsed:"))
        ]
        whole = isinstance(replies, Mapping) and isinstance(outcomes, Mapping)
        if whole and all(
            isinstance(mapping(replies).get(stage), str) for stage in (*mapping(replies), *parsed)
        ):
            intact.setdefault(turn, mapping(replies))
        elif part:
            where = "post_conversation" if turn is None else f"turn {turn}"
            damaged.append(
                Problem(file, f"{where}.attune.replies", show(replies), "the raw reply of each stage",
                        "its fields count as they stand", severity="warning")
            )  # fmt: skip
    return intact, damaged


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
