"""Requests in one growing chat: which messages each adds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from attune_data import load
from attune_episodes import Request, Settings, plan
from attune_episodes.trainers.growing_chat import fresh_messages

SAMPLE = load("sample")


def roles(messages: list[dict[str, str]]) -> str:
    return "".join(message["role"][0] for message in messages)


def test_what_is_fresh_after_a_reply_in_a_thread() -> None:
    requests = {request.id.removeprefix("sample-01/"): request for request in plan(SAMPLE[0])}
    draft, assess, hp, prefer = (requests[f"1/{s}"] for s in ("draft", "assess", "assess_hp", "prefer"))
    # the thread goes on: only the new message; the placeholder of the answer in sight is not repeated
    assert fresh_messages(draft, assess) == [dict(assess.messages[-1])]
    assert fresh_messages(assess, hp) == [dict(hp.messages[-1])]
    # asked beside the thread: the same
    assert fresh_messages(hp, prefer) == [dict(prefer.messages[-1])]
    assert fresh_messages(prefer, requests["2/draft"]) == [dict(requests["2/draft"].messages[-1])]
    # nobody was asked for the draft of turn 2: its message and its placeholder come along
    fresh = fresh_messages(prefer, requests["2/assess"])
    assert roles(fresh) == "uau"
    assert fresh == [dict(message) for message in requests["2/assess"].messages[-3:]]
    assert roles(fresh_messages(requests["1/assess"], requests["2/assess"])) == "uau"


@pytest.mark.parametrize("prompts", ["full", "compact"])
@pytest.mark.parametrize(
    "stages", [("draft", "assess", "assess_hp", "prefer", "reflect"), ("prefer", "reflect")]
)
def test_a_shown_thread_holds_every_message_once(prompts: str, stages: Any) -> None:
    settings = Settings(prompts=prompts, stages=stages)
    for about in SAMPLE:
        requests: tuple[Request, ...] = plan(about, settings)
        chat = requests[0].chat()
        for number, (before, request) in enumerate(pairwise(requests)):
            chat += [{"role": "assistant", "content": f"answer {number}"}, *fresh_messages(before, request)]
        assert roles(chat).replace("s", "", 1) == "ua" * (len(chat) // 2 - 1) + "u"
        shown = [message["content"] for message in chat if message["role"] != "assistant"]
        assert len(shown) == len(set(shown))
        assert {m["content"] for r in requests for m in r.messages if m["role"] != "assistant"} == set(shown)
        if prompts == "compact":
            assert len(chat) == 2 * len(requests)
