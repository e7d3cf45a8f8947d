"""Whole episodes over the WebSocket: the same prompts and rewards as `rollout`, and no annotation."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterator
from threading import Lock
from typing import Any

import httpx
import pytest

from attune_data import BenchmarkTrainingError, Conversation, Conversations, load
from attune_data.errors import AttuneError, SettingsError, UnknownNameError
from attune_data.extras import UntestedVersionWarning
from attune_data.source.order import Order
from attune_data.source.source import Source
from attune_episodes import BUILTIN, Rollout, Settings, builtin_policy, plan, rollout
from attune_episodes.frameworks import openenv
from attune_episodes.frameworks.openenv import AttuneAction, AttuneClient, AttuneObservation, attune_app
from attune_episodes.frameworks.openenv.env import AttuneEnvironment
from attune_episodes.play.policy import prepared
from attune_rewards import RewardSpec
from tests.extras.openenv.serving import served, wire
from tests.protocol.leaks import answered_otherwise, unanswered

DATA = load("sample")
SCORES = ("parts", "value", "weight", "reason", "total")
"""What an observation tells of replies already given."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served() as found:
        yield found


def environment(
    data: Any = "sample", settings: Settings | None = None, **selection: Any
) -> AttuneEnvironment:
    order = Order.of(data, **{"sampling": "sequential"} | selection)
    return AttuneEnvironment(order, settings or Settings(), RewardSpec.preset("composite"), Lock())


def replies_of(name: str, about: Conversation) -> list[str]:
    player = prepared(builtin_policy(name, DATA), about)
    replies = [player.reply(request) for request in plan(about)]
    assert all(isinstance(reply, str) for reply in replies)
    return [str(reply) for reply in replies]


def assert_same(seen: list[AttuneObservation], expected: Rollout) -> None:
    """What a client saw after each step is what the rollout's steps say."""
    assert len(seen) == len(expected.steps)
    for shown, step in zip(seen, expected.steps, strict=True):
        assert shown.reward == pytest.approx(step.reward, abs=1e-12)
        assert shown.parts == pytest.approx(dict(step.score.parts), abs=1e-12)
        assert (shown.scored, shown.status, shown.reason) == (step.request.id, step.status, step.score.reason)
        assert shown.value == pytest.approx(step.score.value, abs=1e-12)
    assert seen[-1].total == pytest.approx(expected.total, abs=1e-12)
    assert seen[-1].total_name == expected.total_name
    assert [shown.done for shown in seen] == [False] * (len(seen) - 1) + [True]


def test_eight_clients_at_once_get_the_rewards_of_rollout(url: str) -> None:
    """Eight policies on eight conversations, step by step in turn."""
    names = [*BUILTIN[:7], "oracle"]
    said = [replies_of(name, about) for name, about in zip(names, DATA, strict=False)]

    async def play(client: AttuneClient, about: Conversation, replies: list[str]) -> list[AttuneObservation]:
        async with client:
            shown = (await client.reset(conversation_id=about.conversation_id)).observation
            seen: list[AttuneObservation] = []
            for reply, request in zip(replies, plan(about), strict=True):
                assert shown.request_id == request.id
                assert [message.model_dump() for message in shown.messages] == request.chat()
                assert shown.answer_schema == request.schema
                assert (await client.state()).step_count == len(seen) == shown.answered
                result = await client.step(AttuneAction(message=reply))
                shown = result.observation
                assert (result.reward, result.done) == (shown.reward, shown.done)
                seen.append(shown)
            assert (await client.state()).done
            return seen

    async def all_of_them() -> list[list[AttuneObservation]]:
        clients = [AttuneClient(base_url=url) for _ in names]
        played = zip(clients, DATA, said, strict=False)
        return await asyncio.gather(*(play(*one) for one in played))

    for name, about, seen in zip(names, DATA, asyncio.run(all_of_them()), strict=False):
        assert_same(seen, rollout(about, builtin_policy(name, DATA)))


@pytest.mark.parametrize(
    "reply",
    ["", "no", "{", '{"draft": "héllo 😀 مرحبا"}', "a\ud800b", "\x00", "x" * 1_500_000, "😀" * 1_100_000],
    ids=["empty", "prose", "broken", "unicode", "half a character", "null", "long", "long emoji"],
)
def test_a_reply_is_never_an_error(url: str, reply: str) -> None:
    about = DATA[0]
    with AttuneClient(base_url=url).sync() as client:
        client.reset(conversation_id=about.conversation_id)
        steps = [client.step(reply).observation for _ in range(2)]
    direct = rollout(about, lambda messages: reply).steps
    assert [shown.status for shown in steps] == [step.status for step in direct[:2]]
    assert steps[1].reward == direct[1].reward == 0.0


# --- the truth stays -----------------------------------------------------------------------------


def received(about: Conversation, replies: list[str]) -> list[str]:
    """Everything, as text, that a client gets who asks for all there is to ask."""
    place = {"conversation_id": about.conversation_id}
    texts = []
    with served(Conversations([about])) as found, wire(found) as session:
        for message in (
            {"type": "state"},
            {"type": "reset", "data": {"conversation_id": "nobody"}},
            {"type": "reset", "data": {"seed": 4, "episode_id": "e"}},
            {"type": "reset", "data": {"index": 0, "episode_id": "e"}},
            *({"type": "step", "data": {"message": reply}} for reply in replies),
            {"type": "step", "data": {"message": "one too many"}},
            {"type": "state"},
            {"type": "mcp", "data": {}},
            {"type": "reset", "data": {**place, "episode_id": "e"}},
        ):
            session.send(message)
            texts.append(session.text())
        with httpx.Client(base_url=found) as http:
            for path in ("/health", "/metadata", "/schema", "/state", "/openapi.json", "/attune_env/splits"):
                texts.append(http.get(path).text)
            texts.append(http.post("/reset", json=place).text)
            texts.append(http.post("/step", json={"action": {"message": "x"}}).text)
    return texts


@pytest.mark.parametrize("number", range(3))
def test_nothing_a_client_receives_depends_on_the_annotations(number: int) -> None:
    """A twin with the same messages and other answers: with replies that earn nothing, byte for byte."""
    about = DATA[number]
    garbage = ["?"] * len(plan(about))
    mine = received(about, garbage)
    assert len(mine) > len(garbage) + 10
    assert received(answered_otherwise(about), garbage) == mine


def test_where_replies_earn_something_only_the_scores_depend_on_them() -> None:
    about = DATA[1]
    replies = replies_of("prior", about)
    first, other, none = (
        [_without_scores(text) for text in received(twin, replies)]
        for twin in (about, answered_otherwise(about), unanswered(about))
    )
    assert first == other == none
    assert received(about, replies) != received(answered_otherwise(about), replies)  # which is the reward


def _without_scores(text: str) -> Any:
    """A message of the server without reward, scores and what the total is called."""
    said = json.loads(text)
    data = said.get("data", said)
    if "reward" in data:
        data["reward"] = None
        for name in (*SCORES, "total_name"):
            data["observation"].pop(name)
    data.pop("total", None)
    return said


# --- which conversation --------------------------------------------------------------------------


def test_conversations_that_nobody_names_are_shared_out_over_the_sessions() -> None:
    one = environment()
    sessions = [one, AttuneEnvironment(one._order, one._settings, one._spec, one._lock)]
    played = [sessions[i % 2].reset().conversation_id for i in range(22)]
    assert played == [one.conversation_id for one in [*DATA, *DATA[:2]]]


def test_a_seed_draws_the_same_conversation_in_every_session_and_moves_no_order() -> None:
    one, other = environment(), environment()
    drawn = [one.reset(seed=seed).conversation_id for seed in range(40)]
    assert [other.reset(seed=seed).conversation_id for seed in reversed(range(40))] == drawn[::-1]
    assert len(set(drawn)) > 10
    assert one.reset().conversation_id == DATA[0].conversation_id
    assert one.reset(seed=1, index=5).conversation_id == DATA[5].conversation_id


def test_an_endless_mixture_is_served_by_order_index_seed_and_id() -> None:
    mixed = "3*written+sample"
    env = environment(mixed)
    first = [one.conversation_id for one in load("written:train")[:2]]
    assert [env.reset().conversation_id for _ in range(3)] == [*first, "sample-01"]
    assert env.reset(index=900).conversation_id == Source(mixed, training=True)[900].conversation_id
    assert env.reset(conversation_id="sample-07").conversation_id == "sample-07"
    assert env.reset(seed=8).conversation_id == environment(mixed).reset(seed=8).conversation_id


def test_a_shard_draws_and_serves_its_own() -> None:
    env = environment(shard=(1, 2))
    ids = {one.conversation_id for one in DATA[1::2]}
    assert {env.reset(seed=seed).conversation_id for seed in range(100)} == ids
    assert {env.reset().conversation_id for _ in range(10)} == ids


@pytest.mark.parametrize(("arguments", "told"), [
    ({"seed": -1}, "from 0"),
    ({"seed": True}, "seed is true"),
    ({"seed": 2**64}, "below 2"),
    ({"seed": "1"}, "whole number"),
    ({"index": -1}, "from 0"),
    ({"index": 20}, "has 20 conversations"),
    ({"index": 1.0}, "whole number"),
    ({"conversation_id": 7}, "must be a text"),
    ({"conversation_id": "x" * 256}, "at most 255"),
    ({"conversation_id": "sample-1"}, "did you mean 'sample-"),
    ({"conversation_id": "sample-01", "index": 0}, "not both"),
    ({"episode_id": "x" * 256}, "at most 255"),
    ({"episode_id": 1}, "text"),
])  # fmt: skip
def test_a_bad_reset_is_told_and_the_episode_goes_on(arguments: dict[str, Any], told: str) -> None:
    env = environment()
    env.reset(index=3)
    env.step(AttuneAction(message="x"))
    with pytest.raises(AttuneError, match=told):
        env.reset(**arguments)
    assert env.step(AttuneAction(message="x")).answered == 2


def test_a_step_needs_an_episode_that_goes_on() -> None:
    env = environment(settings=Settings(stages=("reflect",)))
    assert env.state.model_dump() == environment().state.model_dump()
    with pytest.raises(AttuneError, match="reset first"):
        env.step(AttuneAction(message="x"))
    first = env.reset(episode_id="münchen 😀")
    assert (first.reward, first.done, first.scored, first.parts) == (None, False, None, {})
    last = env.step(AttuneAction(message="x"))
    assert (last.done, last.total_name, last.messages, last.request_id) == (
        True,
        "composite_partial",
        [],
        None,
    )
    with pytest.raises(AttuneError, match="is over after 1 replies: reset"):
        env.step(AttuneAction(message="x"))
    assert (env.state.episode_id, env.state.step_count, env.state.done) == ("münchen 😀", 1, True)


# --- what is served ------------------------------------------------------------------------------


def test_training_refuses_benchmark_records_and_evaluation_serves_them() -> None:
    unmarked = Conversations([DATA[0].model_copy(update={"provenance": None})])
    attune_app(unmarked, training=False)
    with pytest.raises(BenchmarkTrainingError):
        attune_app(unmarked)
    with pytest.raises(BenchmarkTrainingError):
        attune_app(unmarked, training=True)
    attune_app("sample")


@pytest.mark.parametrize(("arguments", "error"), [
    ({"data": "no/such/place"}, AttuneError),
    ({"reward": "composit"}, UnknownNameError),
    ({"allowed_hosts": "env.example.org"}, TypeError),
    ({"sampling": "random"}, UnknownNameError),
    ({"data": Order.of(), "training": True}, SettingsError),
])  # fmt: skip
def test_what_cannot_be_served_is_told_at_once(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        attune_app(**arguments)


def test_another_version_of_openenv_is_warned_of_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UntestedVersionWarning)
        assert openenv.__getattr__("AttuneClient") is AttuneClient  # the installed one was tested
    monkeypatch.setattr(openenv, "TESTED", ("9.7", "9.8"))
    with pytest.warns(UntestedVersionWarning, match=r"openenv 0\..* is installed.*9\.7"):
        assert openenv.__getattr__("AttuneClient") is AttuneClient
