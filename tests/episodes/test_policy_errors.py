"""What cannot play is refused helpfully, and a policy's own error comes through as it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from attune_data import load
from attune_episodes import Request, rollout, rollout_batch
from attune_episodes.policies.base import as_policy
from tests.episodes.players import example

ONE = example()
Chat = list[dict[str, str]]


class ModelDownError(Exception):
    pass


def broken(messages: Chat) -> str:
    raise ModelDownError("no route to 😢")


async def broken_async(messages: Chat) -> str:
    raise ModelDownError("no route to 😢")


@pytest.mark.parametrize("policy", [broken, broken_async])
def test_an_error_of_the_policy_is_raised_as_it_is(policy: Callable[[Chat], str]) -> None:
    with pytest.raises(ModelDownError, match="no route"):
        rollout(ONE, policy)
    with pytest.raises(ModelDownError, match="no route"):
        rollout_batch(load("sample")[:3], policy)


def test_an_error_in_a_batch_stops_the_others() -> None:
    calls = 0

    def third_fails(messages: Chat) -> str:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise ModelDownError("gone")
        return ""

    with pytest.raises(ModelDownError):
        rollout_batch(load("sample"), third_fails, concurrency=1)
    assert calls == 3


class ReplyOnly:
    def reply(self, request: Request) -> str:
        return ""


class Named(ReplyOnly):
    name = "somebody"


class NameOnly:
    name = "nobody"


@pytest.mark.parametrize("thing", [None, 42, "oracle", NameOnly(), ["a"]])
def test_what_cannot_answer_is_refused_saying_what_can(thing: object) -> None:
    with pytest.raises(TypeError, match=r"is no policy: give an object with .*reply\(request\)"):
        as_policy(thing)


def test_an_object_without_a_name_is_told_what_it_lacks() -> None:
    with pytest.raises(TypeError, match=r"\bname\b"):
        as_policy(ReplyOnly())


def test_a_class_in_place_of_an_object_is_refused() -> None:
    with pytest.raises(TypeError, match="Named is a class: give an object"):
        rollout(ONE, Named)  # type: ignore[arg-type]  # the slip under test


@pytest.mark.parametrize("reply", [{"picks": {}}, b"{}", 3])
def test_a_reply_that_is_neither_text_nor_prediction_is_a_type_error(reply: object) -> None:
    with pytest.raises(TypeError, match=type(reply).__name__):
        rollout(ONE, lambda messages: reply)  # type: ignore[arg-type, return-value]  # the slip under test
