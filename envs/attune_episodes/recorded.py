"""From what a harness recorded to rollouts and numbers; the same for every harness once its log was read.

An adapter reads the log of its harness and makes `Recording`s. Prompts, parsing and scores are the engine's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from attune_episodes.request import Request
from attune_episodes.rollout import Rollout, rollout
from attune_episodes.settings import Settings
from attune_episodes.told import Told
from attune_rewards.aggregate import flatten
from attune_rewards.records import read_record
from attune_rewards.scoring import score_conversation


@dataclass(frozen=True)
class Recording:
    """One conversation as a harness played it."""

    told: Told
    replies: Mapping[str, str]
    """Id of a request -> the raw reply that counts; of every request."""
    model: str
    """The model's name in the result record, `provider/model`."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the result record."""
    way: Hashable = None
    """How it was asked, as far as the settings do not say: a system prompt put in place of the plan's."""


def rollouts_of(recordings: Iterable[Recording]) -> list[Rollout]:
    """The rollouts that were recorded, parsed and scored again, in their order.

    A conversation that a model was asked about again goes by `<model>@sample2`, `<model>@sample3`, …, as
    `attune run --samples` names them. What was asked in other words in the same mode (seed, labels, PANAS
    strategy, prompts, wording, system prompt) is no sample of the first and goes by `<model>#2`,
    `<model>#3`, …. So no two result files meet.
    """
    ways: dict[tuple[str, str], list[Hashable]] = {}
    seen: Counter[tuple[str, str, str]] = Counter()
    made = []
    for one in recordings:
        told = one.told
        known = ways.setdefault((one.model, told.settings.mode), [])
        way = (_words(told.settings), one.way)
        if way not in known:
            known.append(way)
        name = one.model if way == known[0] else f"{one.model}#{known.index(way) + 1}"
        place = (told.conversation.conversation_id, name, told.settings.mode)
        seen[place] += 1
        name = name if seen[place] == 1 else f"{name}@sample{seen[place]}"
        played = replayed(told, one.replies, em_model=name, facts=one.facts)
        made.append(replace(played, policy=name))
    return made


def _words(settings: Settings) -> Hashable:
    """What decides in which words a stage is asked, beside the mode.

    The stages are left out: where logs hold single stages, they differ with what a conversation has.
    """
    return (
        settings.panas_strategy,
        settings.labels,
        settings.seed,
        settings.prompt_set.fingerprint,
        settings.codebook.fingerprint,
    )


def replayed(
    told: Told,
    replies: Mapping[str, str],
    *,
    em_model: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Rollout:
    """The rollout in which the model says what it said.

    Args:
        told: the conversation, how it was asked about and what is paid.
        replies: id of a request -> raw reply; of every request of the plan.
        em_model: the model's name in the result record; `policy/recorded` if None.
        facts: further fields of the result record.
    """
    said = _Recorded(replies)
    return rollout(told.conversation, said, told.settings, told.spec, em_model=em_model, facts=facts)


def scores_of(played: Rollout) -> dict[str, float | None]:
    """Metric, by its name in score files -> what `attune score` gives for the rollout's result record."""
    prediction, _ = read_record(played.result, played.conversation)
    return flatten(score_conversation(played.conversation, prediction))


def texts_in(entries: object, told: Told) -> dict[str, str]:
    """Request id -> raw reply, of the requests that were answered.

    Args:
        entries: request id -> `{"text": …}`, as a log holds it; anything else holds no reply.
        told: what was asked.
    """
    kept = entries if isinstance(entries, Mapping) else {}
    texts = {request.id: (kept.get(request.id) or {}).get("text") for request in told.requests}
    return {name: text for name, text in texts.items() if isinstance(text, str)}


def missing_in(replies: Mapping[str, str], told: Told) -> list[str]:
    """Ids of the requests without a reply, in their order."""
    return [request.id for request in told.requests if request.id not in replies]


class Part(Protocol):
    """What was recorded of some requests of a conversation."""

    @property
    def replies(self) -> Mapping[str, str]:
        """Id of a request -> raw reply."""


P = TypeVar("P", bound=Part)


def together(parts: Iterable[P], key: Callable[[P], Hashable]) -> list[list[P]]:
    """Parts of the same conversation put together.

    Each goes to the first group of its key in which none of its requests is answered yet; groups are in the
    order of their first parts.
    """
    groups: dict[Hashable, list[list[P]]] = {}
    order: list[list[P]] = []
    for part in parts:
        of_key = groups.setdefault(key(part), [])
        group = next((one for one in of_key if not _answered(one, part.replies)), None)
        if group is None:
            group = []
            of_key.append(group)
            order.append(group)
        group.append(part)
    return order


def all_replies(group: Iterable[Part]) -> dict[str, str]:
    """The replies of all parts of a group."""
    return {name: text for part in group for name, text in part.replies.items()}


def _answered(group: Sequence[Part], replies: Mapping[str, str]) -> bool:
    return any(one.replies.keys() & replies.keys() for one in group)


@dataclass(frozen=True)
class _Recorded:
    """A policy that says what was said."""

    replies: Mapping[str, str]
    name: str = "recorded"

    def reply(self, request: Request) -> str:
        return self.replies[request.id]
