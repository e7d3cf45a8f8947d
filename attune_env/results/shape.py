"""The shape of a scores file: what the tables rely on, checked before anything is computed from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from attune_data.errors import show
from attune_env.results.marks import mapping
from attune_rewards.aggregate import NOT_METRICS, flatten

_NO_NUMBERS: Final = NOT_METRICS | {
    "attune", "fully_annotated", "post_score", "strict_parts", "turn_scores",
}  # fmt: skip
"""Fields of an entry that are no metrics, or whose own fields are checked by name."""
LARGEST: Final = 1e6
"""Beyond any metric; a mean of numbers near the largest float would overflow."""
Fault = tuple[str, str, str]
"""Where it stands, what was found, what was expected."""


def faults(scores: Mapping[str, Any]) -> Iterator[Fault]:
    """What in `metadata`, `conversations` and `aggregates` is not as `attune score` writes it."""
    data = mapping(scores["metadata"].get("data"))
    for field in ("fingerprint", "provenance"):
        yield from _text(data.get(field), f"metadata.data.{field}")
    if (where := scores["metadata"].get("where")) is not None:
        yield from _text(where, "metadata.where")
    for index, entry in enumerate(scores["conversations"]):
        yield from _entry(entry, f"conversations[{index}]")
    for index, group in enumerate(scores["aggregates"]):
        yield from _group(group, f"aggregates[{index}]")


def unmatched(scores: Mapping[str, Any]) -> Iterator[Fault]:
    """(model, mode) that is scored and has no mean, or the other way round; once the shapes are right."""
    scored, meant = (
        {(e["em_model"], e["mode"]): f"{part}[{i}]" for i, e in reversed([*enumerate(scores[part])])}
        for part in ("conversations", "aggregates")
    )
    for ours, theirs, missing in ((scored, meant, "aggregates"), (meant, scored, "conversations")):
        for key in ours:
            if key not in theirs:
                found = f"{show(key[0])} in mode {show(key[1])}"
                yield ours[key], found, f"a model and mode that stand in {missing} too"


def contradictory(scores: Mapping[str, Any]) -> Iterator[Fault]:
    """Conversations that stand twice for one model and mode, with different scores."""
    first: dict[tuple[str, str, str], int] = {}
    for index, entry in enumerate(scores["conversations"]):
        before = first.setdefault((entry["conversationId"], entry["em_model"], entry["mode"]), index)
        if entry != scores["conversations"][before]:
            found = f"other scores of {show(entry['conversationId'])} than in conversations[{before}]"
            yield f"conversations[{index}]", found, "each conversation of a model and mode once"


def _entry(entry: Mapping[str, Any], here: str) -> Iterator[Fault]:
    for field in ("conversationId", "em_model", "mode"):
        yield from _text(entry[field], f"{here}.{field}")
    objects = {f: entry.get(f) for f in ("post_score", "strict_parts", "attune") if f in entry}
    marks = mapping(entry["attune"])
    objects |= {"attune.outcomes": marks.get("outcomes")}
    branches = mapping(entry["post_score"]).get("four_branch_per_branch")
    objects |= {"post_score.four_branch_per_branch": branches} if branches is not None else {}
    wrong = [
        (f"{here}.{field}", show(value), "an object")
        for field, value in objects.items()
        if not isinstance(value, Mapping)
    ]
    yield from wrong
    yield from _turns(entry.get("turn_scores"), f"{here}.turn_scores")
    if not wrong:
        for name, value in flatten(entry).items():
            yield from _number(value, f"{here}: {name}")
        # what is neither a number nor an object of numbers is no metric: means would go without it
        for name in sorted(entry.keys() - _NO_NUMBERS - flatten(entry).keys()):
            value = entry[name]
            for inner, number in value.items() if isinstance(value, Mapping) else [("", value)]:
                yield from _number(number, f"{here}: {name}" + f".{inner}" * bool(inner))
        for name, count in marks["outcomes"].items():
            if type(count) is not int or not 0 <= count <= LARGEST:
                yield f"{here}.attune.outcomes.{name}", show(count), "how often it came up"


def _turns(turns: object, here: str) -> Iterator[Fault]:
    if not isinstance(turns, list | None):
        yield here, show(turns), "a list of objects, one for each turn"
        return
    for index, turn in enumerate(turns or ()):
        if not isinstance(turn, Mapping) or type(turn.get("turnNumber")) is not int:
            yield f"{here}[{index}]", show(turn), "an object with its turnNumber"
            continue
        for name, value in turn.items():
            yield from _number(value, f"{here}[{index}]: {name}")


def _group(group: object, here: str) -> Iterator[Fault]:
    if not isinstance(group, Mapping):
        yield here, show(group), "an object"
        return
    for field in ("em_model", "mode"):
        yield from _text(group.get(field), f"{here}.{field}")
    for name in ("composite_score", "composite_strict", "parse_rate", "answered_share", "unscored_share"):
        yield from _number(group.get(name), f"{here}.{name}")


def _text(value: object, place: str) -> Iterator[Fault]:
    if not isinstance(value, str):
        yield place, show(value), "text"


def _number(value: object, place: str) -> Iterator[Fault]:
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= LARGEST
    if value is not None and not number:
        yield place, show(value), "a number such as metrics are, or null"
