"""What the info of the last step holds: the official record and every metric, made when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attune_data.schema import Conversation
from attune_episodes.episode import Episode, Step
from attune_episodes.gymnasium_envs.codec import Kept
from attune_episodes.gymnasium_envs.prepared import Asked
from attune_episodes.parsing import Unparsed, render
from attune_episodes.request import Request
from attune_episodes.settings import Settings
from attune_rewards import read_record, score_conversation
from attune_rewards.predictions import Prediction
from attune_rewards.reward import OK, Score, part_means
from attune_rewards.spec import RewardSpec


class Lazy(Mapping[str, Any]):
    """A mapping that is made at the first look, since making it takes longer than the whole episode.

    `dict(lazy)` is the plain value; a pickle or a deep copy holds that.
    """

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        self._make: Callable[[], dict[str, Any]] | None = make
        self._made: dict[str, Any] = {}

    def _value(self) -> dict[str, Any]:
        if self._make is not None:
            self._made, self._make = self._make(), None
        return self._made

    def __getitem__(self, key: str) -> Any:
        return self._value()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._value())

    def __len__(self) -> int:
        return len(self._value())

    def __repr__(self) -> str:
        return repr(self._value())

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Lazy], tuple[dict[str, Any]]]:
        return _of, (self._value(),)


def _of(value: dict[str, Any]) -> Lazy:
    made = Lazy(lambda: value)
    made._value()
    return made


class Done:
    """One answered request, as an episode keeps it until its end."""

    __slots__ = ("_outcome", "asked", "kept", "score", "text")

    def __init__(
        self,
        asked: Asked,
        score: Score,
        *,
        outcome: Prediction | Unparsed | None = None,
        text: str | None = None,
        kept: Kept = (),
    ) -> None:
        self.asked, self.score, self._outcome, self.text, self.kept = asked, score, outcome, text, kept

    @property
    def request(self) -> Request:
        """What was asked."""
        return self.asked.request

    @property
    def outcome(self) -> Prediction | Unparsed:
        """What was said; of a flat action it is made when it is needed."""
        if self._outcome is None:
            self._outcome = self.asked.reader.typed(self.kept)
        return self._outcome

    @property
    def reply(self) -> str:
        """The raw text; of a typed prediction, or of a flat action, its JSON."""
        if self.text is not None:
            return self.text
        return "" if isinstance(self.outcome, Unparsed) else render(self.request, self.outcome)

    @property
    def status(self) -> str:
        """`ok` or `unparsed:<code>`."""
        if self._outcome is None:
            return OK  # what was scored quickly is a valid flat action
        return self.outcome.reason if isinstance(self.outcome, Unparsed) else OK


Logged = tuple[Asked, Kept, dict[str, float], float]
"""A request that was scored quickly: what was said, its parts and their weighted mean."""


def done_of(log: Sequence[Done | Logged]) -> list[Done]:
    """The answered requests of a log."""
    return [one if isinstance(one, Done) else _done(*one) for one in log]


def _done(asked: Asked, kept: Kept, parts: dict[str, float], value: float) -> Done:
    weight = 0.0 if asked.scored is None else asked.scored.weight
    return Done(asked, Score(value, OK, parts, weight), kept=kept)


def result_of(
    conversation: Conversation,
    settings: Settings,
    spec: RewardSpec,
    done: Sequence[Done],
    em_model: str,
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """The official result record, made by the engine's own `Episode`."""
    episode = Episode(conversation, settings, spec)
    last = len(episode.requests)
    episode.steps += [
        Step(one.request, one.reply, one.outcome, one.score, one.score.reward, number == last)
        for number, one in enumerate(done, 1)
    ]
    return episode.result(em_model, facts)


def metrics_of(conversation: Conversation, result: Mapping[str, Any]) -> dict[str, Any]:
    """Every metric of a result record, as `attune_rewards.score_conversation` names them."""
    said, _ = read_record(result, conversation)
    return score_conversation(conversation, said)


def told(done: list[Done], *, by_turn: bool) -> dict[str, Any]:
    """What info says of the requests just answered."""
    if not by_turn:
        score = done[0].score
        return {
            "parts": dict(score.parts), "value": score.value, "reason": score.reason,
            "status": done[0].status,
        }  # fmt: skip
    weight = sum(one.score.weight for one in done)
    return {
        "parts": part_means(one.score for one in done),
        "value": sum(one.score.reward for one in done) / weight if weight else None,
        "reason": {one.request.stage: one.score.reason for one in done},
        "status": {one.request.stage: one.status for one in done},
    }
