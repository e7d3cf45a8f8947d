"""Answers of the server: a book from exact messages to a policy's replies, or any function."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from attune_data import Conversation
from attune_episodes import Request, Settings, builtin_policy, plan
from attune_episodes.play.policy import prepared

Messages = Sequence[Mapping[str, Any]]
Answer = str | Mapping[str, Any]
"""A text, or the fields of the assistant's message, such as `{"content": …, "reasoning_content": …}`."""
Answers = Callable[[Messages], Answer | None]
"""From messages to an answer; None for messages that nobody should send, which get HTTP 400."""
Change = Callable[[Request, str], str]
"""Makes another reply of a policy's: for noise, or for replies that do not parse."""


def key_of(messages: Messages) -> str:
    """The messages as one text: equal exactly where they are."""
    return json.dumps(messages, ensure_ascii=False, sort_keys=True)


@dataclass
class Book:
    """Every request of some plans with its reply: exact messages -> (ids of the requests, reply)."""

    pages: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)

    def __call__(self, messages: Messages) -> str | None:
        page = self.pages.get(key_of(messages))
        return None if page is None else page[1]

    def request_id(self, messages: Messages) -> str | None:
        """Which request asks with these messages: `conversation/turn/stage`."""
        page = self.pages.get(key_of(messages))
        return None if page is None else page[0][0]

    def add(self, request: Request, reply: str) -> None:
        """Enters a request; ValueError where other requests with its messages have another reply.

        Two people may open with the same words: drafts are not scored, so there the first reply stays.
        """
        key = key_of(request.chat())
        ids, known = self.pages.get(key, ((), reply))
        if known != reply and request.stage != "draft":
            raise ValueError(f"{request.id} and {ids[0]} ask the same and differ in their reply")
        self.pages[key] = (ids if request.id in ids else (*ids, request.id), known)


def answers_of(
    conversations: Sequence[Conversation],
    policy: str = "lexicon",
    settings: Settings | Sequence[Settings] | None = None,
    *,
    change: Change | None = None,
) -> Book:
    """A built-in policy's replies to every request of the conversations' plans, under all these settings."""
    book = Book()
    for asked in [settings or Settings()] if isinstance(settings, Settings | None) else settings:
        player = builtin_policy(policy, conversations, asked)
        for conversation in conversations:
            ready = prepared(player, conversation)
            for request in plan(conversation, asked):
                reply = ready.reply(request)
                assert isinstance(reply, str)  # built-in policies answer at once, with text
                book.add(request, change(request, reply) if change else reply)
    return book


def first_of(*sources: Answers) -> Answers:
    """The answer of the first source that has one: a book for the plans, a function for a judge."""

    def answer(messages: Messages) -> Answer | None:
        return next((found for source in sources if (found := source(messages)) is not None), None)

    return answer
