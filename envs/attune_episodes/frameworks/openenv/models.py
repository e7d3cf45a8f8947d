"""The messages on the wire, which contain no annotations, and the client that sends and reads them."""

from __future__ import annotations

from typing import Annotated, Any

from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server import Action, Observation, State
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from attune_data.errors import show
from attune_episodes.parsing import sound
from attune_episodes.parsing.extract import MAX_CHARS

Text = Annotated[str, BeforeValidator(lambda value: sound(value) if isinstance(value, str) else value)]
"""A text in which lone surrogates (halves of characters) are replaced, as in all replies."""


class ChatMessage(BaseModel):
    """A chat message."""

    role: str
    """system, user or assistant"""
    content: str


class AttuneAction(Action):
    """The reply to the current request."""

    message: Text = Field(description="The reply, as the model wrote it")


class AttuneObservation(Observation):
    """The current request, and the score of the previous reply.

    `reward` is the reward of the last step (None after `reset`), and `done` says whether the episode is over.
    Nothing depends on `metadata`.
    """

    model_config = ConfigDict(extra="ignore")  # a newer server may send more fields

    conversation_id: str = Field("", description="Id of the conversation")
    request_id: str | None = Field(None, description="Id of the request that waits; null after the last")
    stage: str | None = Field(None, description="draft, assess, assess_hp, prefer or reflect")
    turn: int | None = Field(None, description="Turn number of the request; null in reflect")
    messages: list[ChatMessage] = Field(default_factory=list, description="The prompt, as chat messages")
    answer_schema: dict[str, Any] | None = Field(None, description="JSON schema of the answer")
    answered: int = Field(0, ge=0, description="Number of requests answered so far")
    requests: int = Field(0, ge=0, description="Number of requests of the episode")
    scored: str | None = Field(None, description="Id of the request that was just answered")
    parts: dict[str, float] = Field(default_factory=dict, description="Score of each part of the reward")
    value: float | None = Field(
        None, description="Weighted mean of the parts; null where nothing in the request is scored"
    )
    weight: float = Field(0.0, description="Share of the request in the episode's total")
    reason: str | None = Field(None, description="ok, unparsed:<code>, or not_scored")
    status: str | None = Field(None, description="Whether the reply was read: ok or unparsed:<code>")
    total: float = Field(0.0, description="Sum of the rewards so far")
    total_name: str | None = Field(
        None, description="Name of the total, such as composite_strict; null before the end"
    )


class AttuneState(State):
    """The state of an episode: `episode_id` is the client's or generated, `step_count` counts steps."""

    conversation_id: str | None = Field(None, description="Id of the conversation")
    stage: str | None = Field(None, description="Stage of the request that waits")
    turn: int | None = Field(None, description="Turn of the request that waits")
    requests: int = Field(0, ge=0, description="Number of requests of the episode")
    done: bool = Field(False, description="Whether the episode is over")
    total: float = Field(0.0, description="Sum of the rewards so far")


class AttuneClient(EnvClient[AttuneAction, AttuneObservation, AttuneState]):
    """One session with a server over a WebSocket; synchronous code uses `AttuneClient(base_url=url).sync()`.

    `reset(…)` takes `seed`, `episode_id`, `conversation_id` or `index` (see `AttuneEnvironment.reset`);
    `step(…)` takes an AttuneAction or the text itself. Both return a `StepResult` with `observation`,
    `reward` and `done`. A model's reply never raises an error: lone surrogates are replaced, and a reply that
    is too long to be read is truncated, but remains too long, so that it still earns 0.
    """

    def _step_payload(self, action: AttuneAction | str) -> dict[str, Any]:
        if isinstance(action, AttuneAction):
            text = action.message
        elif isinstance(action, str):
            text = action
        else:
            raise TypeError(f"step expects an AttuneAction or a text, got {show(action)}")
        return {"message": sound(text[: MAX_CHARS + 1])}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[AttuneObservation]:
        told = {"done": payload.get("done", False), "reward": payload.get("reward")}
        observation = AttuneObservation(**payload.get("observation", {}) | told)
        return StepResult(observation=observation, **told)

    def _parse_state(self, payload: dict[str, Any]) -> AttuneState:
        return AttuneState(**payload)
