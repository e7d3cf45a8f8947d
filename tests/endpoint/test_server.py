from __future__ import annotations

from typing import Any

import pytest
from openai import OpenAI

from attune_data import Conversations, load
from attune_episodes import Settings, builtin_policy, plan, rollout
from tests.endpoint import answers_of, serve

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
