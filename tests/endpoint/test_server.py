from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from openai import OpenAI

from attune_data import Conversations, load
from attune_episodes import Request, Settings, Unparsed, builtin_policy, parse, plan, rollout
from tests import PATIENCE
from tests.endpoint import Server, answers_of, endpoint_process, serve
from tests.endpoint.faults import Fault

SAMPLE = Conversations(load("sample")[:2], source="sample")
FIRST = plan(SAMPLE[0])
BOOK = answers_of(SAMPLE, "lexicon")


def ask(server: Server, request: Request = FIRST[0], **more: Any) -> httpx.Response:
    body = {"model": "fake", "messages": request.chat(), **more}
    return httpx.post(f"{server.url}/chat/completions", json=body, timeout=PATIENCE)


def content(response: httpx.Response) -> str:
    assert response.status_code == 200, response.text
    text: str = response.json()["choices"][0]["message"]["content"]
    return text


@pytest.fixture(scope="module")
def good() -> Iterator[Server]:
    with serve(BOOK) as server:
        yield server


def test_a_policy_played_over_http_earns_what_it_earns_at_home(good: Server) -> None:
    client = OpenAI(base_url=good.url, api_key="any", max_retries=0)

    def over_http(messages: list[Any]) -> str:
        done = client.chat.completions.create(model="fake", messages=messages)
        return done.choices[0].message.content or ""

    at_home = rollout(SAMPLE[1], builtin_policy("lexicon", SAMPLE))
    assert rollout(SAMPLE[1], over_http).total == at_home.total > 0
    mine = [call for call in good.calls if (call.request or "").startswith(SAMPLE[1].conversation_id)]
    assert [call.request for call in mine] == [request.id for request in plan(SAMPLE[1])]
    assert all(call.headers["authorization"] == "Bearer any" and call.status == 200 for call in mine)


def test_two_answers_to_the_same_messages_are_told_when_the_book_is_made() -> None:
    twin = SAMPLE[0].model_copy(update={"conversation_id": "twin"})
    pair = Conversations([SAMPLE[0], twin], source="test")
    assert len(answers_of(pair, "lexicon", Settings(labels="official"))) == len(FIRST)
    with pytest.raises(ValueError, match=r"twin/1/assess and sample-01/1/assess ask the same"):
        answers_of(pair, "lexicon", change=lambda request, reply: reply + request.conversation_id)


def statuses(faults: list[str], asked: list[Request]) -> list[int]:
    with serve(BOOK, faults) as server:
        for request in asked:
            ask(server, request)
        return [call.status for call in server.calls]


def test_the_first_attempts_of_chosen_calls_fail() -> None:
    draft, assess = FIRST[:2]
    asked = [draft, assess, assess, assess, draft]
    assert statuses(["503,of=*/assess,first=2"], asked) == [200, 503, 503, 200, 200]
    assert statuses(["429,first=1", "408,after=1,first=1"], [draft, draft, draft]) == [429, 408, 200]


def test_garbage_comes_first_and_a_good_reply_on_asking_again() -> None:
    with serve(BOOK, ["garbage,first=1,of=*/assess"]) as server:
        first, second = (content(ask(server, FIRST[1])) for _ in range(2))
    assert isinstance(parse(FIRST[1], first), Unparsed)
    assert not isinstance(parse(FIRST[1], second), Unparsed)


def test_keys_models_and_structured_outputs_are_checked_where_asked() -> None:
    with serve(BOOK, key="right", model="fake", structured=False) as server:
        url, body = f"{server.url}/chat/completions", {"model": "fake", "messages": FIRST[0].chat()}
        good = {"Authorization": "Bearer right"}
        assert httpx.post(url, json=body, headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert httpx.post(url, json=body, timeout=PATIENCE).status_code == 401
        other = httpx.post(url, json=body | {"model": "other"}, headers=good)
        assert (other.status_code, other.json()["error"]["code"]) == (404, "model_not_found")
        refused = httpx.post(url, json=body | {"response_format": {"type": "json_object"}}, headers=good)
        assert refused.status_code == 400
        assert "response_format" in refused.json()["error"]["message"]
        assert httpx.post(url, json=body, headers=good).status_code == 200
        models = httpx.get(f"{server.url}/models", headers=good).json()["data"]
        assert [model["id"] for model in models] == ["fake"]
        assert httpx.get(f"{server.url}/models").status_code == 401
        assert server.unknown == []
        # calls turned away are no attempts, and their messages were not looked up
        assert [call.attempt for call in server.calls] == [0, 0, 0, 0, 1]
    with serve(BOOK) as server:
        assert ask(server, response_format={"type": "json_object"}).status_code == 200


def test_a_stream_gives_the_same_in_pieces(good: Server) -> None:
    client = OpenAI(base_url=good.url, api_key="any", max_retries=0)
    messages: list[Any] = FIRST[1].chat()
    options: Any = {"include_usage": True}
    events = list(
        client.chat.completions.create(model="fake", messages=messages, stream=True, stream_options=options)
    )
    pieces = [event.choices[0].delta.content for event in events if event.choices]
    assert len([piece for piece in pieces if piece]) == 2
    assert "".join(piece or "" for piece in pieces) == BOOK(messages)
    assert events[-2].choices[0].finish_reason == "stop"
    whole = client.chat.completions.create(model="fake", messages=messages)
    assert events[-1].usage == whole.usage
    with serve(BOOK, ["truncated,first=1", "refusal"]) as server:
        assert "[DONE]" not in ask(server, FIRST[1], stream=True).text
        assert "I can't help with that." in (text := ask(server, FIRST[1], stream=True).text)
        assert text.endswith("data: [DONE]\n\n")


def test_usage_counts_tokens_and_costs() -> None:
    def answer(_: Any) -> str:
        return "12345678"

    with serve(answer, price=(1.0, 10.0)) as server:
        body = {"model": "fake", "messages": [{"role": "user", "content": "123456789"}]}
        usage = httpx.post(f"{server.url}/chat/completions", json=body, timeout=PATIENCE).json()["usage"]
    # 9 characters are 3 tokens, 8 are 2: (3 * 1 + 2 * 10) / 1e6 dollars
    expected = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    assert usage == expected | {"cost": pytest.approx(23e-6)}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("503", Fault("status", 503)),
        ("429,retry_after=Wed, 21 Oct", None),
        ("429,retry_after=0,first=2,of=c 1/*", Fault("status", 429, retry_after="0", first=2, of="c 1/*")),
        ("hang,seconds=0.5,every=3", Fault("hang", seconds=0.5, every=3)),
        ("explode", None),
        ("reset,kind=hang", None),
        ("reset,first=two", None),
    ],
)
def test_a_fault_is_read_from_its_text_or_refused(text: str, fault: Fault | None) -> None:
    if fault is not None:
        assert Fault.read(text) == fault
    else:
        with pytest.raises(ValueError, match=r"no fault named|has no|invalid literal"):
            Fault.read(text)


@pytest.mark.slow
def test_a_process_serves_counts_and_is_stopped_by_its_id() -> None:
    options = (
        "--data",
        "sample",
        "--number",
        "1",
        "--policy",
        "oracle",
        "--fail",
        "503,first=1,of=*/1/draft",
    )
    with endpoint_process(*options) as process:
        url = f"{process.url}/chat/completions"
        body = {"model": "fake", "messages": FIRST[0].chat()}
        assert [httpx.post(url, json=body, timeout=PATIENCE).status_code for _ in range(2)] == [503, 200]
        facts = process.facts()
        assert (facts["pid"], facts["calls"], facts["statuses"]) == (process.pid, 2, {"200": 1, "503": 1})
        assert facts["cpu_seconds"] > 0
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
    host, port = process.url.split("/")[2].split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=5)
