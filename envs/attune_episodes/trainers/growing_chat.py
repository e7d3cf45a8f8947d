"""Requests in one growing chat: what each adds to it, once the request before it has its reply.

Such a chat is not the protocol: earlier replies, and what is asked beside the thread, stay in sight.
"""

from __future__ import annotations

from attune_episodes.request import Request

Chat = list[dict[str, str]]


def fresh_messages(before: Request, request: Request) -> Chat:
    """The messages of a request that are not in sight yet, once the request before it has its reply.

    The placeholder that stands for that reply is left out. Where a stage in between was not asked, its
    message and the placeholder of its answer come along.
    """
    old, new = request_pairs(before), request_pairs(request)
    same = 0
    while same < min(len(old), len(new) - 1) and old[same] == new[same]:
        same += 1
    if same == len(old) and new[same][0] == "assistant":
        same += 1  # the thread goes on: this placeholder stands for the reply, which is in sight
    return [{"role": role, "content": content} for role, content in new[same:]]


def request_pairs(request: Request) -> list[tuple[str, str]]:
    """(role, content) of each message."""
    return [(message.role, message.content) for message in request.messages]
