"""Read this project's additions to a result record leniently, since they may be missing or malformed.

They are under the key `attune` of the record, of each turn and of the post part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from attune_rewards.predictions import STAGES, Stage
from attune_rewards.reward.score import OK

Place = tuple[int | None, Stage]
"""(turn, stage) of a request; the turn of reflect is None."""


def marks_of(part: object) -> Mapping[str, Any]:
    """The `attune` entry of a result record, a turn or the post part; {} if there is none."""
    return mapping(mapping(part).get("attune"))


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, otherwise {}."""
    return value if isinstance(value, Mapping) else {}


def parts_of(record: Mapping[str, Any]) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """Yield (turn number, part) for each valid turn, then (None, post part)."""
    turns = record.get("turns")
    for entry in turns if isinstance(turns, list) else ():
        if isinstance(entry, Mapping) and type(entry.get("turnNumber")) is int:
            yield entry["turnNumber"], entry
    yield None, mapping(record.get("post_conversation"))


def outcomes_of(record: Mapping[str, Any]) -> dict[Place, str]:
    """Place -> `ok`, `unparsed:<code>` or another outcome, for the requests that were made."""
    return {place: outcome for place, outcome in _told(record, "outcomes") if outcome != "not_asked"}


def replies_of(record: Mapping[str, Any]) -> dict[Place, str]:
    """Place -> the raw reply."""
    return dict(_told(record, "replies"))


def _told(record: Mapping[str, Any], name: str) -> Iterator[tuple[Place, str]]:
    """The texts that parts give by stage; those of a turn that is listed twice come from its first entry."""
    seen = set()
    for turn, part in parts_of(record):
        told = mapping(marks_of(part).get(name))
        for stage in STAGES:
            if isinstance(text := told.get(stage), str) and (turn, stage) not in seen:
                seen.add((turn, stage))
                yield (turn, stage), text


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer in a result record, as far as our additions describe it."""

    plain: bool
    """Whether a plain text was asked for rather than a JSON object."""
    reply: str
    outcome: str
    """`ok` or `unparsed:<code>`."""
    finish: str
    """The finish reason that the server sent."""

    @property
    def readable(self) -> bool:
        """Whether it could be parsed."""
        return self.outcome == OK


def answers_in(record: Mapping[str, Any]) -> dict[str, StoredAnswer]:
    """Request id -> answer, for the answers of a model behind a server; {} for other results."""
    marks = marks_of(record)
    if "usage" not in marks:
        return {}
    calls, verbose = mapping(marks.get("calls")), "verbose" in str(record.get("mode"))
    answers = {}
    for turn, part in parts_of(record):
        own = marks_of(part)
        replies = mapping(own.get("replies"))
        for stage, outcome in mapping(own.get("outcomes")).items():
            if isinstance(reply := replies.get(stage), str) and isinstance(outcome, str):
                id_ = f"{record.get('conversationId')}/{'end' if turn is None else turn}/{stage}"
                finish = mapping(calls.get(id_)).get("finish")
                plain = stage == "draft" and not verbose
                answers[id_] = StoredAnswer(
                    plain, reply, outcome, finish if isinstance(finish, str) else "stop"
                )
    return answers


def finish_ok_of(record: Mapping[str, Any]) -> list[str]:
    """The finish reasons that the run of a record took for the model's own end."""
    declared = marks_of(record).get("finish_ok")
    return [name for name in declared if isinstance(name, str)] if isinstance(declared, list) else []


def outcome_counts(record: Mapping[str, Any]) -> Counter[str]:
    """Count the outcomes (ok, unparsed:<code>, …) in a result record; empty if it has none."""
    counts: Counter[str] = Counter()
    for _, part in parts_of(record):
        outcomes = mapping(marks_of(part).get("outcomes"))
        counts.update(str(outcome) for outcome in outcomes.values() if outcome != "not_asked")
    return counts
