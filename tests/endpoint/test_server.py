from __future__ import annotations

import os
import socket
from typing import Any

import httpx
import pytest
from openai import OpenAI

from attune_data import Conversations, load
from attune_episodes import Settings, builtin_policy, plan, rollout
from tests import PATIENCE
from tests.endpoint import answers_of, endpoint_process, serve
from tests.endpoint.faults import Fault

SAMPLE = Conversations(load("sample")[:2], source="sample")
FIRST = plan(SAMPLE[0])
BOOK = answers_of(SAMPLE, "lexicon")


def test_a_policy_played_over_http_earns_what_it_earns_at_home() -> None:
    at_home = rollout(SAMPLE[1], builtin_policy("lexicon", SAMPLE))
    with serve(BOOK) as server:
        client = OpenAI(base_url=server.url, api_key="any", max_retries=0)

        def over_http(messages: list[Any]) -> str:
            done = client.chat.completions.create(model="fake", messages=messages)
            return done.choices[0].message.content or ""

        assert rollout(SAMPLE[1], over_http).total == at_home.total > 0
    assert [call.request for call in server.calls] == [request.id for request in plan(SAMPLE[1])]
    assert all(call.headers["authorization"] == "Bearer any" and call.status == 200 for call in server.calls)


def test_two_answers_to_the_same_messages_are_told_when_the_book_is_made() -> None:
    twin = SAMPLE[0].model_copy(update={"conversation_id": "twin"})
    pair = Conversations([SAMPLE[0], twin], source="test")
    assert len(answers_of(pair, "lexicon", Settings(labels="official")).pages) == len(FIRST)
    with pytest.raises(ValueError, match=r"twin/1/assess and sample-01/1/assess ask the same"):
        answers_of(pair, "lexicon", change=lambda request, reply: reply + request.conversation_id)


@pytest.mark.parametrize(("text", "fault"), [
    ("503", Fault("status", 503)),
    ("429,retry_after=0,first=2,of=c 1/*", Fault("status", 429, retry_after="0", first=2, of="c 1/*")),
    ("hang,seconds=0.5,every=3", Fault("hang", seconds=0.5, every=3)),
    ("429,retry_after=Wed, 21 Oct", None), ("explode", None), ("reset,kind=hang", None),
    ("reset,first=two", None),
])  # fmt: skip
def test_a_fault_is_read_from_its_text_or_refused(text: str, fault: Fault | None) -> None:
    if fault is not None:
        assert Fault.read(text) == fault
        return
    with pytest.raises(ValueError, match=r"no fault named|has no|invalid literal"):
        Fault.read(text)


@pytest.mark.slow
def test_a_process_serves_counts_and_is_stopped_by_its_id() -> None:
    options = ("--number", "1", "--policy", "oracle", "--fail", "503,first=1,of=*/1/draft")
    with endpoint_process(*options) as process:
        url = f"{process.url}/chat/completions"
        body = {"model": "fake", "messages": FIRST[0].chat()}
        assert [httpx.post(url, json=body, timeout=PATIENCE).status_code for _ in range(2)] == [503, 200]
        facts = process.facts()
        assert (facts["pid"], facts["calls"], facts["statuses"]) == (process.pid, 2, {"200": 1, "503": 1})
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
    host, port = process.url.split("/")[2].split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=5)
