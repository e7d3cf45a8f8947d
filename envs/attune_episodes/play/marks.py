"""Read our own additions to result files leniently, since they may be missing or malformed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from attune_episodes.chat.finish import Verdict, verdict
from attune_episodes.play.asking import OK


def marks_of(part: object) -> Mapping[str, Any]:
    """The `attune` entry of a result file, a turn or the post part; {} if there is none."""
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


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer in a result file, as far as our additions describe it."""

    plain: bool
    reply: str
    outcome: str
    """`ok` or `unparsed:<code>`."""
    finish: str

    def verdict(self, finish_ok: Collection[str] = ()) -> Verdict:
        """The verdict by today's rule; earlier versions stored faults too."""
        return verdict(self.finish, plain=self.plain, readable=self.outcome == OK, finish_ok=finish_ok)


def answers_in(record: Mapping[str, Any]) -> dict[str, StoredAnswer]:
    """Request id -> answer, for the answers of a model behind a server; {} for other results."""
    marks = marks_of(record)
    if "usage" not in marks:
        return {}
    calls, verbose = mapping(marks.get("calls")), "verbose" in str(record.get("mode"))
    found = {}
    for turn, part in parts_of(record):
        own = marks_of(part)
        replies = mapping(own.get("replies"))
        for stage, outcome in mapping(own.get("outcomes")).items():
            if isinstance(reply := replies.get(stage), str) and isinstance(outcome, str):
                id_ = f"{record.get('conversationId')}/{'end' if turn is None else turn}/{stage}"
                finish = mapping(calls.get(id_)).get("finish")
                plain = stage == "draft" and not verbose
                found[id_] = StoredAnswer(
                    plain, reply, outcome, finish if isinstance(finish, str) else "stop"
                )
    return found


def stored_faults(record: Mapping[str, Any]) -> list[str]:
    """The ids of answers that are none, since the server broke them off."""
    declared = marks_of(record).get("finish_ok")
    ok = [name for name in declared if isinstance(name, str)] if isinstance(declared, list) else ()
    return [id_ for id_, one in answers_in(record).items() if one.verdict(ok) == "fault"]


def outcome_counts(record: Mapping[str, Any]) -> Counter[str]:
    """Count the outcomes (ok, unparsed:<code>, …) in a result file; empty if it has none."""
    counts: Counter[str] = Counter()
    for _, part in parts_of(record):
        outcomes = mapping(marks_of(part).get("outcomes"))
        counts.update(str(outcome) for outcome in outcomes.values() if outcome != "not_asked")
    return counts
