"""`rollout`, `rollout_async`, `rollout_batch`: what plays, in which order, how many at a time."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable

import pytest

from attune_data import Conversation, load
from attune_episodes import (
    Episode,
    Request,
    Rollout,
    Settings,
    builtin_policy,
    render,
    rollout,
    rollout_async,
    rollout_batch,
)
from attune_rewards import Assess, Draft, Prediction, Prefer, Reflect, RewardSpec
from attune_rewards.predictions import AssessHP
from tests.episodes.players import example

ONE = example()
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
        replies: dict[str, Prediction] = {
            "draft": Draft("hm"),
            "assess": Assess(),
            "assess_hp": AssessHP(),
            "prefer": Prefer({0: "A", 1: "A"}),
            "reflect": Reflect(),
        }
        return replies[request.stage]


class Awaiting(Typed):
    name = "awaiting"

    async def later(self, request: Request) -> Prediction:
        await asyncio.sleep(0)
        return Typed().reply(request)

    def reply(self, request: Request) -> Awaitable[Prediction]:  # type: ignore[override]  # async this time
        return self.later(request)


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


def test_a_function_gets_fresh_plain_messages() -> None:
    seen: list[Chat] = []

    def meddler(messages: Chat) -> str:
        seen.append([dict(m) for m in messages])
        messages[0]["content"] = "changed"
        messages.clear()
        return ""

    rollout(ONE, meddler)
    again = list(seen)
    seen.clear()
    rollout(ONE, meddler)
    assert seen == again
    assert all(m.keys() == {"role", "content"} for messages in seen for m in messages)
    assert all(messages[-1]["role"] == "user" for messages in seen)


def test_a_policy_is_prepared_once_an_episode() -> None:
    policy = PerConversation()
    conversations = list(load("sample"))[:3]
    rollout_batch(conversations, policy)
    assert sorted(policy.seen) == [c.conversation_id for c in conversations]


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


def test_facts_reach_the_record() -> None:
    played = rollout(
        ONE, first_side, em_model="lab/model", facts={"source_file": "conversation_7.json", "api_cost": 0.5}
    )
    assert [played.result[key] for key in ("em_model", "source_file", "api_cost")] == [
        "lab/model", "conversation_7.json", 0.5,
    ]  # fmt: skip


def test_parts_are_means_over_the_requests_where_they_are_scored() -> None:
    played = rollout(ONE, first_side, OFFICIAL)
    assert played.parts == {
        "emotion_f1": 0.0, "emotion_va": 0.0, "binary_om": 0.0, "binary_hp": 0.0, "pairwise": 0.5,
        "panas_pa": 0.0, "q2": 0.0, "branch_perceiving": 0.0,
    }  # fmt: skip
    # picks say nothing that assess, assess_hp or reflect ask; the draft takes any text
    assert played.parse_rate == 2 / 5


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


def test_a_batch_of_nothing_is_empty() -> None:
    assert rollout_batch([], first_side) == []


@pytest.mark.parametrize("concurrency", [0, -1])
def test_a_senseless_concurrency_is_refused(concurrency: int) -> None:
    with pytest.raises(ValueError, match=f"concurrency is {concurrency}; it must be at least 1"):
        rollout_batch([ONE], first_side, concurrency=concurrency)


def test_rollouts_may_run_in_several_threads() -> None:
    conversation = load("sample")[1]
    policy = builtin_policy("copy", [conversation])
    want = rollout(conversation, policy).total
    totals: list[float] = []
    threads = [
        threading.Thread(target=lambda: totals.append(rollout(conversation, policy).total)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert totals == [want] * 4


def test_text_and_typed_answers_of_one_policy_leave_the_same_record() -> None:
    class Written(Typed):
        def reply(self, request: Request) -> str:  # type: ignore[override]  # the same, as text
            return render(request, Typed().reply(request))

    typed, written = (
        rollout(ONE, policy, facts={"run_timestamp": "t"}).result for policy in (Typed(), Written())
    )
    assert typed == written
