"""What info holds of the answers to a step, and at the end of an episode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from attune_data.schema import Conversation
from attune_episodes.episode import Episode, Step
from attune_rewards import read_record, score_conversation
from attune_rewards.reward import part_means


def answered(done: Sequence[Step]) -> dict[str, Any]:
    """The parts, value and status of the requests just answered."""
    status = {step.request.stage: step.status for step in done}
    if len(done) == 1:
        score = done[0].score
        return {"parts": dict(score.parts), "value": score.value, "status": status}
    weight = sum(step.score.weight for step in done)
    return {
        "parts": part_means(step.score for step in done),
        "value": sum(step.score.reward for step in done) / weight if weight else None,
        "status": status,
    }


def outcome(episode: Episode, em_model: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The total, the official record and every metric of a finished episode."""
    result = Lazy(partial(episode.result, em_model, facts))
    return {
        "total": episode.total,
        "total_name": episode.total_name,
        "result": result,
        "metrics": Lazy(partial(_metrics, episode.conversation, result)),
    }


def _metrics(conversation: Conversation, result: Mapping[str, Any]) -> dict[str, Any]:
    said, _ = read_record(result, conversation)
    return score_conversation(conversation, said)


class Lazy(Mapping[str, Any]):
    """A mapping that is made when it is first read, since that takes longer than the whole episode.

    `dict(lazy)` is the plain value; a pickle or a copy holds that.
    """

    def __init__(self, make: Callable[[], Mapping[str, Any]]) -> None:
        self._make = make

    @cached_property
    def _value(self) -> Mapping[str, Any]:
        return self._make()

    def __getitem__(self, key: str) -> Any:
        return self._value[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def __len__(self) -> int:
        return len(self._value)

    def __repr__(self) -> str:
        return repr(self._value)

    def __reduce__(self) -> tuple[type[Lazy], tuple[Callable[[], Mapping[str, Any]]]]:
        return Lazy, (partial(dict, self._value),)
