"""From a harness's log to rollouts: what every `rollouts_from` shares once the log is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from attune_episodes.rollout import Rollout
from attune_episodes.task import Task, replay
from attune_rewards.predictions import STAGES


@dataclass(frozen=True)
class Recording:
    """One conversation as a harness played it."""

    task: Task
    replies: Mapping[str, str]
    """Id of a request -> the raw reply that counts; of every request."""
    model: str
    """The model's name in the result record, `provider/model`."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the result record."""
    way: Hashable = None
    """How it was asked, beyond the settings: a system prompt put in place of the plan's."""


def rollouts_of(recordings: Iterable[Recording]) -> list[Rollout]:
    """Parse and score recordings again; one rollout each, in their order.

    A conversation that a model was asked about again is named `<model>@sample2`, `<model>@sample3`, …, as
    `attune run --samples` does. Asked in other words in the same mode (seed, labels, PANAS strategy, prompts,
    codebook, system prompt), it is named `<model>#2`, `<model>#3`, …, so that result files never clash.
    """
    ways: dict[tuple[str, str], list[Hashable]] = {}
    seen: Counter[tuple[str, str, str]] = Counter()
    made = []
    for one in recordings:
        task, settings = one.task, one.task.settings
        known = ways.setdefault((one.model, settings.mode), [])
        # without the stages: where logs hold single stages, these differ with what a conversation has
        if (way := (settings.words, one.way)) not in known:
            known.append(way)
        name = one.model if way == known[0] else f"{one.model}#{known.index(way) + 1}"
        place = (task.conversation.conversation_id, name, settings.mode)
        seen[place] += 1
        name = name if seen[place] == 1 else f"{name}@sample{seen[place]}"
        made.append(replace(replay(task, one.replies, em_model=name, facts=one.facts), policy=name))
    return made


def texts_in(entries: object, task: Task) -> dict[str, str]:
    """Request id -> raw reply, of the requests that were answered.

    Args:
        entries: request id -> `{"text": …}`, as a log holds it; anything else holds no reply.
        task: what was asked.
    """
    kept = entries if isinstance(entries, Mapping) else {}
    texts = {request.id: (kept.get(request.id) or {}).get("text") for request in task.requests}
    return {name: text for name, text in texts.items() if isinstance(text, str)}


R = TypeVar("R", bound=Recording)


def joined(parts: Iterable[R]) -> list[R]:
    """Join recordings of parts of a conversation: single requests or stages, asked in the same way.

    Each goes to the first group of its kind in which none of its requests is answered yet. A group has all of
    its stages; numbers among its facts are summed, and lists joined. In the order of their first parts.
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
    """One value of several: numbers summed, lists joined, mappings merged, of texts the least."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    if isinstance(known[0], Mapping):
        return {name: _merged([value.get(name) for value in known]) for name in known[0]}
    if isinstance(known[0], str):
        return min(known)
    return sum(known[1:], known[0])
