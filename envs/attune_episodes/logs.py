"""From a harness's log to rollouts: what every `rollouts_from` shares once the log is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from attune_episodes.rollout import Rollout
from attune_episodes.task import Task, replay


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
    codebook, system prompt), it is named `<model>#2`, `<model>#3`, …, so that no two result files meet.
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


class Part(Protocol):
    """Replies to some requests of a conversation."""

    @property
    def replies(self) -> Mapping[str, str]:
        """Id of a request -> raw reply."""


P = TypeVar("P", bound=Part)


def together(parts: Iterable[P], key: Callable[[P], Hashable]) -> list[list[P]]:
    """Group the parts of the same conversation.

    Each goes to the first group of its key in which none of its requests is answered yet; groups are in the
    order of their first parts.
    """
    groups: dict[Hashable, list[list[P]]] = {}
    order: list[list[P]] = []
    for part in parts:
        of_key = groups.setdefault(key(part), [])
        for group in of_key:
            if not all_replies(group).keys() & part.replies.keys():
                break
        else:
            group = []
            of_key.append(group)
            order.append(group)
        group.append(part)
    return order


def all_replies(group: Iterable[Part]) -> dict[str, str]:
    """The replies of all parts of a group."""
    return {name: text for part in group for name, text in part.replies.items()}
