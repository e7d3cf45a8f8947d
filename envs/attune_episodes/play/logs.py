"""Convert a harness's log to rollouts: the part shared by every `rollouts_from`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from attune_episodes.play.rollout import Rollout
from attune_episodes.play.task import Task, replay
from attune_rewards.predictions import STAGES


@dataclass(frozen=True)
class Recording:
    """One conversation as played by a harness."""

    task: Task
    replies: Mapping[str, str]
    """Request id -> the raw reply that counts, for every request."""
    model: str
    """The model's name in the result record, `provider/model`."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the result record."""
    way: Hashable = None
    """How it was asked beyond the settings: a system prompt that replaced the plan's."""


def rollouts_of(recordings: Iterable[Recording]) -> list[Rollout]:
    """Parse and score recordings again; one rollout each, in order.

    Repeated conversations of a model are named `<model>@sample2`, `<model>@sample3`, …, as by
    `attune run --samples`. If the wording differs in the same mode (seed, labels, PANAS strategy, prompts,
    codebook, system prompt), they are named `<model>#2`, `<model>#3`, …, so that result files never clash.
    """
    ways: dict[tuple[str, str], list[Hashable]] = {}
    seen: Counter[tuple[str, str, str]] = Counter()
    made = []
    for one in recordings:
        task, settings = one.task, one.task.settings
        known = ways.setdefault((one.model, settings.mode), [])
        # without the stages: in logs of single stages, these depend on what a conversation has
        if (way := (settings.words, one.way)) not in known:
            known.append(way)
        name = one.model if way == known[0] else f"{one.model}#{known.index(way) + 1}"
        place = (task.conversation.conversation_id, name, settings.mode)
        seen[place] += 1
        name = name if seen[place] == 1 else f"{name}@sample{seen[place]}"
        made.append(replace(replay(task, one.replies, em_model=name, facts=one.facts), policy=name))
    return made


def texts_in(entries: object, task: Task) -> dict[str, str]:
    """Request id -> raw reply, for the requests that were answered.

    Args:
        entries: request id -> `{"text": …}`, as stored in a log; anything else counts as no reply.
        task: the task that was asked.
    """
    kept = entries if isinstance(entries, Mapping) else {}
    texts = {request.id: (kept.get(request.id) or {}).get("text") for request in task.requests}
    return {name: text for name, text in texts.items() if isinstance(text, str)}


R = TypeVar("R", bound=Recording)


def joined(parts: Iterable[R]) -> list[R]:
    """Join recordings of parts of a conversation (single requests or stages) that were asked in the same way.

    Each joins the first matching group that has no answer to any of its requests yet. A group has all of its
    parts' stages; numbers among its facts are summed, and lists joined. Groups are in the order of their
    first parts.
    """
    groups: dict[Hashable, list[list[R]]] = {}
    order: list[list[R]] = []
    for part in parts:
        task, settings = part.task, part.task.settings
        who = (task.conversation.conversation_id, part.model)
        alike = groups.setdefault((who, settings.words, part.way, task.spec), [])
        group = next((g for g in alike if not any(one.replies.keys() & part.replies for one in g)), None)
        if group is None:
            group = []
            alike.append(group)
            order.append(group)
        group.append(part)
    return [_joined(group) for group in order]


def _joined(group: Sequence[R]) -> R:
    first = group[0]
    asked = {stage for part in group for stage in part.task.settings.stages}
    stages = tuple(stage for stage in STAGES if stage in asked)
    task = replace(first.task, settings=replace(first.task.settings, stages=stages))
    replies = {name: text for part in group for name, text in part.replies.items()}
    return replace(first, task=task, replies=replies, facts=_merged([part.facts for part in group]))


def _merged(values: Sequence[Any]) -> Any:
    """Merge several values: sum numbers, join lists, merge mappings, take the first text in sort order."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    if isinstance(known[0], Mapping):
        return {name: _merged([value.get(name) for value in known]) for name in known[0]}
    if isinstance(known[0], str):
        return min(known)
    return sum(known[1:], known[0])
