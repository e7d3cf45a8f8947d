"""Calls and retries by themselves, against a real endpoint."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from attune_episodes.verifiers_env.chat import CallFailedError, Chat, Reply, read_reply
from tests.endpoint import serve

HELLO = [{"role": "user", "content": "Hello"}]


def ask(url: str, retries: int = 2, times: int = 1) -> list[Reply]:
    async def run() -> list[Reply]:
        async with aiohttp.ClientSession() as session:
            made = Chat(session, f"{url}/chat/completions", "m", retries, 0.0)
            return [await made.ask(HELLO, f"call-{i}") for i in range(times)]

    return asyncio.run(run())


def test_a_call_gives_the_reply_and_says_how_many_it_took() -> None:
    with serve(lambda messages: "Hi.", faults=["503,first=1"]) as server:
        assert ask(server.url) == [Reply("Hi.", "stop", False, 2)]
    assert [call.headers["idempotency-key"] for call in server.calls] == ["call-0"] * 2


def test_an_endpoint_that_says_at_once_is_asked_at_once() -> None:
    async def run(url: str) -> Reply:
        async with asyncio.timeout(10), aiohttp.ClientSession() as session:
            return await Chat(session, f"{url}/chat/completions", "m", 1, 60.0).ask(HELLO, "call")

    with serve(lambda messages: "Hi.", faults=["429,first=1,retry_after=0"]) as server:
        assert asyncio.run(run(server.url)).calls == 2


@pytest.mark.parametrize(
    "fault", ["drop", "reset", "html,status=200", "truncated", "no_choices", "599", "425"]
)
def test_a_call_gives_up_after_its_retries_and_says_what_happened(fault: str) -> None:
    with serve(lambda messages: "Hi.", faults=[fault]) as server, pytest.raises(CallFailedError) as failed:
        ask(server.url, retries=2)
    assert failed.value.calls == len(server.calls) == 3
    assert str(failed.value)


def test_nobody_listening_is_a_failure_that_says_so() -> None:
    with serve(lambda messages: "Hi.") as server:
        url = server.url
    with pytest.raises(CallFailedError, match="ClientConnectorError"):
        ask(url, retries=1)


@pytest.mark.parametrize(
    ("message", "text", "refused"),
    [
        ({"content": "Yes."}, "Yes.", False),
        ({"content": None}, "", False),
        ({}, "", False),
        ({"content": 5}, "", False),
        ({"content": [{"type": "text", "text": "Ye"}, {"type": "text", "text": "s."}]}, "Yes.", False),
        ({"content": [{"type": "image_url"}, "x", {"text": None}]}, "", False),
        ({"content": None, "refusal": "No."}, "No.", True),
        ({"content": "Yes.", "refusal": "No."}, "Yes.", True),
        ({"content": "Yes.", "refusal": ""}, "Yes.", False),
    ],
)
def test_the_text_of_a_message_is_found_in_every_form(message: Any, text: str, refused: bool) -> None:
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    assert read_reply(body, 1) == Reply(text, "stop", refused, 1)


@pytest.mark.parametrize("body", [None, [], {}, {"choices": None}, {"choices": []}, {"choices": [3]},
                                  {"choices": [{"message": None}]}])  # fmt: skip
def test_an_answer_without_a_message_is_no_reply(body: Any) -> None:
    with pytest.raises(ValueError, match="without a valid choice"):
        read_reply(body, 1)
