"""Base classes of the built-in policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attune_data.format.schema import Conversation
from attune_episodes.parsing import render
from attune_episodes.protocol.request import Request
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import Prediction


class BuiltinPolicy:
    """Base of the built-in policies, which reply with the JSON of their predictions.

    Those that depend on the conversation return a player from `for_conversation`.
    """

    __slots__ = ()

    name: str
    """Short name for tables and files."""

    def for_conversation(self, conversation: Conversation) -> BuiltinPolicy:
        """The policy to use for this conversation: itself, unless it depends on the conversation."""
        return self

    def prediction(self, request: Request) -> Prediction:
        """Answer one request."""
        raise TypeError(f"policy {self.name!r} needs a conversation: call for_conversation first")

    def reply(self, request: Request) -> str:
        """The answer to one request, as JSON."""
        return render(request, self.prediction(request))


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments from which `make(name, given)` in a policy's module makes it."""

    conversations: Sequence[Conversation]
    """Those it will play."""
    settings: Settings
    """How it will be asked."""
    seed: int = 0
    fit_on: Sequence[Conversation] | None = None
    """Fit on these instead of on `conversations` out of fold."""

    @property
    def fitting(self) -> Sequence[Conversation]:
        """The conversations to fit on."""
        return self.conversations if self.fit_on is None else self.fit_on


def participants(conversations: Sequence[Conversation]) -> Mapping[str, list[Conversation]]:
    """Participant -> their conversations."""
    owned: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        owned.setdefault(conversation.participant, []).append(conversation)
    return owned
