"""`Episode`: step through the plan of one conversation, score each reply, produce the official record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from attune_data.errors import AttuneError
from attune_data.format.schema import Conversation
from attune_episodes.parsing import Unparsed, parse, render, sound
from attune_episodes.play.record import prediction_of, result_record
from attune_episodes.play.score import as_scored, default_spec, reward_spec
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.request import Request
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import PREDICTION_OF, ConversationPrediction, Prediction
from attune_rewards.reward.score import NOT_SCORED, Score, scored_requests
from attune_rewards.reward.spec import RewardSpec


class Step(NamedTuple):
    """One reply and its score."""

    request: Request
    text: str | None
    """The raw reply; None if a typed prediction was given."""
    outcome: Prediction | Unparsed
    score: Score
    reward: float
    """The reward of this request: its share of the return (dense), or the whole return at the last one
    (terminal)."""
    done: bool

    def __repr__(self) -> str:
        return f"Step({self.request.id}, {self.status}, value {self.score.value}, reward {self.reward:.4f})"

    @property
    def reply(self) -> str:
        """The raw reply, or the JSON of a typed prediction."""
        if self.text is None and not isinstance(self.outcome, Unparsed):
            return render(self.request, self.outcome)
        return self.text or ""

    @property
    def status(self) -> str:
        """`ok` or `unparsed:<code>`, as in result files."""
        return self.outcome.reason if isinstance(self.outcome, Unparsed) else "ok"


def parse_rate(steps: Sequence[Step]) -> float:
    """Share of replies that were parsed, in [0, 1]; 1 if nothing was asked."""
    return sum(step.status == "ok" for step in steps) / len(steps) if steps else 1.0


class EpisodeOverError(AttuneError):
    """A reply was submitted after the last request."""


class Episode:
    """One conversation as an episode.

    >>> from attune_data import load
    >>> episode = Episode(load("sample")[0])
    >>> episode.request.stage
    'draft'
    >>> step = episode.submit("I'm sorry, that sounds exhausting.")
    >>> step.score.reason, step.reward
    ('not_scored', 0.0)
    """

    def __init__(
        self,
        conversation: Conversation,
        settings: Settings | None = None,
        reward: RewardSpec | str | None = None,
    ) -> None:
        self.conversation = conversation
        self.settings = settings or Settings()
        self.spec = default_spec() if reward is None else reward_spec(reward)
        self.requests = plan(conversation, self.settings)
        self._scored = scored_requests(conversation, self.spec, self.settings.stages)
        self.steps: list[Step] = []
        self.total = 0.0
        """The return so far; at the end of an episode with all scored stages: `composite_strict`/100."""

    @property
    def done(self) -> bool:
        """Whether every request has been answered."""
        return len(self.steps) == len(self.requests)

    @property
    def request(self) -> Request:
        """The current request; raises EpisodeOverError after the last one."""
        if self.done:
            raise EpisodeOverError(
                f"the episode of {self.conversation.conversation_id!r} is over after "
                f"{len(self.requests)} requests; make a new Episode to start again"
            )
        return self.requests[len(self.steps)]

    @property
    def total_name(self) -> str:
        """The name of the total: `composite_strict`, `composite_partial`, or another reward's own name.

        A total is partial, and not comparable with a Composite, if scored stages were left out. If nothing is
        scored, the total is 0.0 and is called `not_scored`.
        """
        if not self._scored:
            return "not_scored"
        if self.spec.name != "composite":
            return self.spec.name
        scored = {"assess", "prefer", "reflect"}
        return "composite_strict" if scored <= set(self.settings.stages) else "composite_partial"

    def submit(self, reply: str | Prediction | None) -> Step:
        """Score the reply to the current request and advance.

        Args:
            reply: a model's text, or a typed prediction of the request's stage; None, which some clients
                return for no content, counts as an empty text. Anything else raises TypeError.
        """
        request = self.request
        if isinstance(reply, str) or reply is None:
            text = sound(reply or "")
            return self.take(parse(request, text), text)
        if isinstance(reply, PREDICTION_OF[request.stage]):
            return self.take(reply)
        wanted = PREDICTION_OF[request.stage].__name__
        raise TypeError(
            f"stage {request.stage} expects text or {wanted}, got {type(reply).__name__} ({request.id})"
        )

    def take(self, outcome: Prediction | Unparsed, text: str | None = None) -> Step:
        """Score a reply that has already been parsed, and advance.

        Args:
            outcome: the result of `parse`, or a prediction of the request's stage.
            text: the raw reply, for the record; None if there is none.
        """
        request = self.request
        scored = self._scored.get((request.stage, request.turn))
        earned = (
            Score(None, NOT_SCORED) if scored is None else scored.score(*as_scored(request, outcome, scored))
        )
        self.total += earned.reward
        done = len(self.steps) + 1 == len(self.requests)
        reward = earned.reward if self.spec.dense else (self.total if done else 0.0)
        step = Step(request, text, outcome, earned, reward, done)
        self.steps.append(step)
        return step

    @property
    def prediction(self) -> ConversationPrediction:
        """Everything that the replies so far say about the conversation."""
        return prediction_of(self.conversation, self.settings, self.requests, self._answered)

    @property
    def _answered(self) -> dict[str, Prediction | Unparsed]:
        return {step.request.id: step.outcome for step in self.steps}

    def result(
        self, em_model: str = "unnamed/unnamed", facts: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Build the official result record of the replies so far.

        Args:
            em_model: `provider/model`.
            facts: further top-level fields of the format: `source_file`, `run_timestamp`, `api_cost`,
                `duration_seconds`; and further ones of ours under `attune`.
        """
        return result_record(
            self.conversation,
            self.settings,
            self.requests,
            self._answered,
            {step.request.id: step.reply for step in self.steps},
            em_model=em_model,
            facts=facts or {},
        )
