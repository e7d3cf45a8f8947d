"""The messages on the wire: a reply, observation, reward and the state of an episode. No annotations."""

from __future__ import annotations

from typing import Annotated, Any

from openenv.core.env_server import Action, Observation, State
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from attune_episodes.parsing import sound


def _sound(value: Any) -> Any:
    return sound(value) if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_sound)]
"""A text in which halves of characters (lone surrogates) are replaced, as everywhere replies are read."""


class ChatMessage(BaseModel):
    """A chat message."""

    role: str
    """system, user or assistant"""
    content: str


class AttuneAction(Action):
    """The reply to the request that waits."""

    message: Text = Field(description="The reply: a model's text, whatever it is")


class AttuneObservation(Observation):
    """The request that waits for a reply, and what the reply before it earned.

    `reward` is what the last step paid (None after `reset`), `done` whether the episode is over. Nothing
    depends on `metadata`.
    """

    model_config = ConfigDict(extra="ignore")  # a newer server may say more

    conversation_id: str = Field("", description="The conversation that is played")
    request_id: str | None = Field(None, description="Id of the request that waits; null after the last")
    stage: str | None = Field(None, description="draft, assess, assess_hp, prefer or reflect")
    turn: int | None = Field(None, description="Turn number of the request; null in reflect")
    messages: list[ChatMessage] = Field(default_factory=list, description="The prompt, as chat messages")
    answer_schema: dict[str, Any] | None = Field(None, description="JSON schema of the answer")
    answered: int = Field(0, ge=0, description="Requests answered so far")
    requests: int = Field(0, ge=0, description="Requests of the episode")
    scored: str | None = Field(None, description="Id of the request that was just answered")
    parts: dict[str, float] = Field(default_factory=dict, description="Part of the reward -> score in [0, 1]")
    value: float | None = Field(
        None, description="Weighted mean of the parts; null where nothing in the request is scored"
    )
    weight: float = Field(0.0, description="Share of the request in the episode's total")
    reason: str | None = Field(None, description="ok, unparsed:<code>, or not_scored")
    status: str | None = Field(None, description="Whether the reply was read: ok or unparsed:<code>")
    total: float = Field(0.0, description="What was earned so far")
    total_name: str | None = Field(
        None, description="What the total is, such as composite_strict; null before the end"
    )


class AttuneState(State):
    """Where an episode stands. `episode_id` is the client's or made up, `step_count` the steps taken."""

    conversation_id: str | None = Field(None, description="The conversation that is played")
    stage: str | None = Field(None, description="Stage of the request that waits")
    turn: int | None = Field(None, description="Turn of the request that waits")
    requests: int = Field(0, ge=0, description="Requests of the episode")
    done: bool = Field(False, description="Whether the episode is over")
    total: float = Field(0.0, description="What was earned so far")
