"""`Policy`: anything that answers requests, as `rollout` plays it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

from attune_data.format.schema import Conversation
from attune_episodes.protocol.request import Request
from attune_rewards.predictions import Prediction

Reply = str | Prediction
"""A model's text, or a typed prediction of the request's stage."""
ChatFunction = Callable[[list[dict[str, str]]], str | Awaitable[str]]
"""Any model call, sync or async, that maps chat messages to text."""


@runtime_checkable
class Policy(Protocol):
    """Anything that answers requests one at a time.

    A policy that needs more than the requests (the oracle, a prior fitted out of fold) also has
    `for_conversation(conversation) -> Policy`, which `rollout` calls once before each episode.
    """

    @property
    def name(self) -> str:
        """Short name for tables and files."""

    def reply(self, request: Request) -> Reply | Awaitable[Reply]:
        """The answer to one request."""


class FunctionPolicy:
    """A policy that wraps a function from messages to text."""

    def __init__(self, function: ChatFunction, name: str | None = None) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))

    def reply(self, request: Request) -> str | Awaitable[str]:
        """Call the function with new copies of the messages."""
        return self.function(request.chat())


def as_policy(policy: object) -> Policy:
    """Return a policy unchanged, or wrap a function from messages to text; TypeError for anything else."""
    if isinstance(policy, type):
        raise TypeError(f"{policy.__name__} is a class: give an instance, {policy.__name__}(…)")
    if isinstance(policy, Policy):
        return policy
    if hasattr(policy, "reply"):
        raise TypeError(f"{policy!r} has a reply method but no name: give it one for tables and files")
    if callable(policy):
        return FunctionPolicy(policy)
    raise TypeError(
        f"{policy!r} is not a policy: give an object with reply(request), or a function from messages to text"
    )


def prepared(policy: Policy, conversation: Conversation) -> Policy:
    """The policy to use for this conversation."""
    prepare: Callable[[Conversation], Policy] | None = getattr(policy, "for_conversation", None)
    return policy if prepare is None else prepare(conversation)
