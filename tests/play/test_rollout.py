"""`rollout`, `rollout_async`, `rollout_batch`: what plays, in which order, how many at a time."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from collections.abc import Awaitable, Callable
from types import SimpleNamespace

import pytest

from attune_data import Conversation, load
from attune_data.format.memo import KEPT
from attune_episodes import (
    Episode,
    Request,
    Rollout,
    Settings,
    builtin_policy,
    plan,
    rollout,
    rollout_async,
    rollout_batch,
)
from attune_episodes.play.policy import as_policy
from attune_rewards import Prediction, Prefer, RewardSpec
from tests.play.players import PREDICTION_CLASSES, example

ONE = example()
SAMPLE = load("sample")
PAYS = 0.245 / 2  # "A" in both comparisons: the second is right, pairwise weighs .245
Chat = list[dict[str, str]]


def first_side(messages: Chat) -> str:
    """Picks A everywhere in the official order, says nothing else."""
    return json.dumps({"picks": {"1": "A", "2": "A"}})


async def first_side_async(messages: Chat) -> str:
    await asyncio.sleep(0)
    return first_side(messages)


class Callable_:
    def __call__(self, messages: Chat) -> str:
        return first_side(messages)


class Typed:
    """A policy that answers with typed predictions."""

    name = "typed"

    def reply(self, request: Request) -> Prediction:
        return Prefer({0: "A", 1: "A"}) if request.stage == "prefer" else PREDICTION_CLASSES[request.stage]


class Awaiting(Typed):
    name = "awaiting"

    def reply(self, request: Request) -> Awaitable[Prediction]:  # type: ignore[override]  # async this time
        async def later() -> Prediction:
            await asyncio.sleep(0)
            return Typed().reply(request)

        return later()


class PerConversation:
    """Plays only what it was prepared for."""

    name = "prepared"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def for_conversation(self, conversation: Conversation) -> Typed:
        self.seen.append(conversation.conversation_id)
        return Typed()

    def reply(self, request: Request) -> str:
        raise AssertionError("the prepared policy replies, not this one")


OFFICIAL = Settings(labels="official")


@pytest.mark.parametrize(("policy", "name"), [
    (first_side, "first_side"),
    (first_side_async, "first_side_async"),
    (lambda messages: first_side(messages), "<lambda>"),
    (Callable_(), "Callable_"),
    (Typed(), "typed"),
    (Awaiting(), "awaiting"),
    (PerConversation(), "prepared"),
])  # fmt: skip
def test_whatever_answers_can_play(policy: Callable[[Chat], str], name: str) -> None:
    played = rollout(ONE, policy, OFFICIAL)
    assert played.policy == name
    assert played.total == pytest.approx(PAYS, abs=1e-12)
    assert (played.total_name, played.conversation) == ("composite_strict", ONE)
    assert [step.request.stage for step in played.steps] == [
        "draft", "assess", "assess_hp", "prefer", "reflect",
    ]  # fmt: skip
    assert played.result["em_model"] == f"policy/{name}"


def test_the_rollout_is_the_episode_played_by_hand() -> None:
    conversation = load("sample")[0]
    policy = builtin_policy("longest", [conversation])
    asked, spec = Settings(seed=3), RewardSpec.preset("preference")
    episode = Episode(conversation, asked, spec)
    while not episode.done:
        reply = policy.reply(episode.request)
        assert isinstance(reply, str)
        episode.submit(reply)
    played = rollout(conversation, policy, asked, spec, facts={"run_timestamp": "t"})
    assert played.steps == tuple(episode.steps)
    assert (played.total, played.total_name) == (episode.total, "preference")
    assert played.result == episode.result("policy/longest", {"run_timestamp": "t"})


def test_a_running_event_loop_is_no_obstacle() -> None:
    async def notebook() -> tuple[Rollout, Rollout, list[Rollout]]:
        awaited = await rollout_async(ONE, first_side_async, OFFICIAL)
        return awaited, rollout(ONE, first_side_async, OFFICIAL), rollout_batch([ONE], first_side, OFFICIAL)

    awaited, nested, (batched,) = asyncio.run(notebook())
    assert awaited.total == nested.total == batched.total == pytest.approx(PAYS, abs=1e-12)


def test_a_batch_keeps_the_order_whoever_ends_first() -> None:
    conversations = load("sample")[:6]
    lengths = {c.turns[0].user_message: len(c.turns) for c in conversations}
    ended: list[str] = []

    async def slow_on_long(messages: Chat) -> str:
        text = next(message["content"] for message in messages if message["role"] == "user")
        for _ in range(next(50 // n for said, n in lengths.items() if said in text)):
            await asyncio.sleep(0)
        return ""

    batch = rollout_batch(
        conversations, slow_on_long, on_done=lambda r: ended.append(r.conversation.conversation_id)
    )
    wanted = [c.conversation_id for c in conversations]
    assert [played.conversation.conversation_id for played in batch] == wanted
    assert sorted(ended) == wanted
    assert [p.total for p in batch] == [rollout(c, lambda messages: "").total for c in conversations]


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_at_most_so_many_calls_at_a_time(concurrency: int) -> None:
    running, most = 0, 0

    async def counted(messages: Chat) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(3):
            await asyncio.sleep(0)
        running -= 1
        return ""

    rollout_batch(load("sample")[:5], counted, Settings(stages=("draft",)), concurrency=concurrency)
    assert most == concurrency


@pytest.mark.parametrize("thing", [None, 42, "oracle", SimpleNamespace(name="nobody"), ["a"]])
def test_what_cannot_answer_is_refused_saying_what_can(thing: object) -> None:
    with pytest.raises(TypeError, match=r"is not a policy: give an object with .*reply\(request\)"):
        as_policy(thing)


@pytest.mark.parametrize("reply", [{"picks": {}}, b"{}", 3])
def test_a_reply_that_is_neither_text_nor_prediction_is_a_type_error(reply: object) -> None:
    with pytest.raises(TypeError, match=type(reply).__name__):
        rollout(ONE, lambda messages: reply)  # type: ignore[arg-type, return-value]  # the slip under test


def test_new_specs_and_seeds_do_not_grow_what_is_kept() -> None:
    about = load("sample")[0]
    for seed in range(3 * KEPT):
        episode = Episode(about, Settings(seed=seed), RewardSpec.weighted("own", {"q2": 1.0 + seed}))
        episode.submit("draft")
    kept = {kind: len(values) for kind, values in about.memo.items()}
    assert kept == {"truth": 1, "plans": KEPT, "rewards": KEPT}


def test_what_was_used_still_pickles_and_compares() -> None:
    about, asked = load("sample")[0], Settings(seed=2)
    played = rollout(about, builtin_policy("longest", SAMPLE), asked)
    for thing in (about, asked, plan(about, asked), played.steps, RewardSpec.preset("composite")):
        assert pickle.loads(pickle.dumps(thing)) == thing
    assert copy.deepcopy(asked) == asked
    assert hash(pickle.loads(pickle.dumps(asked))) == hash(asked)


def test_a_kept_plan_cannot_be_changed_from_outside() -> None:
    about = load("sample")[0]
    request = plan(about)[1]
    request.schema["required"].clear()
    request.chat()[0]["content"] = "changed"
    with pytest.raises(TypeError):
        request.messages[0]["content"] = "changed"  # type: ignore[index]  # the slip under test
    again = plan(about)[1]
    assert again.schema["required"]
    assert again.messages == plan(load("sample")[0])[1].messages


def test_an_error_of_a_policy_names_the_request() -> None:
    def broken(messages: list[dict[str, str]]) -> str:
        raise RuntimeError("rate limit")

    with pytest.raises(RuntimeError, match="rate limit") as caught:
        rollout_batch(SAMPLE[:2], broken)
    assert caught.value.__notes__ == ["while 'broken' answered sample-01/1/draft"]


@pytest.mark.parametrize("wrong", [SAMPLE, "sample", None])
def test_an_episode_is_of_one_conversation(wrong: object) -> None:
    with pytest.raises(TypeError, match="one Conversation"):
        Episode(wrong)  # type: ignore[arg-type]  # the slip under test
