"""Whole conversations in one growing chat: the rows, what each request adds, and what is earned."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from attune_data import BenchmarkTrainingError, DataError, SettingsError
from attune_episodes import Episode, Request, Settings, builtin_policy, plan, rollout
from attune_episodes.trainers import conversation_rows
from attune_episodes.trainers.conversations import GrowingChat, fresh_messages
from attune_rewards import RewardSpec
from tests.episodes.players import example
from tests.trainers.batches import SAMPLE, bare


def roles(messages: list[dict[str, str]]) -> str:
    return "".join(message["role"][0] for message in messages)


def test_what_is_fresh_after_a_reply_in_a_thread() -> None:
    requests = {request.id.removeprefix("sample-01/"): request for request in plan(SAMPLE[0])}
    draft, assess, hp, prefer = (requests[f"1/{s}"] for s in ("draft", "assess", "assess_hp", "prefer"))
    # the thread goes on: only the new message; the placeholder of the answer in sight is not repeated
    assert fresh_messages(draft, assess) == [dict(assess.messages[-1])]
    # asked beside the thread: the same
    assert fresh_messages(hp, prefer) == [dict(prefer.messages[-1])]
    assert fresh_messages(prefer, requests["2/draft"]) == [dict(requests["2/draft"].messages[-1])]
    # nobody was asked for the draft of turn 2: its message and its placeholder come along
    assert fresh_messages(prefer, requests["2/assess"]) == requests["2/assess"].chat()[-3:]
    assert roles(fresh_messages(requests["1/assess"], requests["2/assess"])) == "uau"


@pytest.mark.parametrize("prompts", ["full", "compact"])
@pytest.mark.parametrize(
    "stages", [("draft", "assess", "assess_hp", "prefer", "reflect"), ("prefer", "reflect")]
)
def test_a_growing_chat_holds_every_message_once(prompts: str, stages: Any) -> None:
    settings = Settings(prompts=prompts, stages=stages)
    for about in SAMPLE[:8]:
        requests: tuple[Request, ...] = plan(about, settings)
        chat = requests[0].chat()
        for before, request in pairwise(requests):
            chat += [{"role": "assistant", "content": "answer"}, *fresh_messages(before, request)]
        assert roles(chat).replace("s", "", 1) == "ua" * (len(chat) // 2 - 1) + "u"
        shown = [message["content"] for message in chat if message["role"] != "assistant"]
        assert len(shown) == len(set(shown))
        assert {m["content"] for r in requests for m in r.messages if m["role"] != "assistant"} == set(shown)


TERMINAL = RewardSpec.weighted("some", {"pairwise": 1, "q1": 1}).terminal()


@pytest.mark.parametrize("reward", ["skill", RewardSpec.preset("composite").terminal(), TERMINAL])
def test_a_row_plays_to_the_return_of_the_episode(reward: Any) -> None:
    about = SAMPLE[1]
    player = builtin_policy("lexicon", SAMPLE).for_conversation(about)
    row = conversation_rows([about], Settings(prompts="compact"), reward)[0]
    chat = GrowingChat.of_row(row["task"])
    assert chat.opening() == row["prompt"]
    rewards = []
    while not chat.done:
        reward_, score, following = chat.submit(str(player.reply(chat.episode.request)))
        assert score.value is not None
        rewards.append(reward_)
        assert bool(following) != chat.done
    assert len(rewards) == chat.length < len(chat.episode.requests)
    asked = Settings(prompts="compact")
    assert sum(rewards) == pytest.approx(rollout(about, player, asked, reward).total, abs=1e-12)


def test_conversations_without_anything_scored_are_left_out() -> None:
    rows = conversation_rows([bare(), SAMPLE[1]])
    assert (rows["id"][:], rows["reward"][:]) == (["sample-02"], ["skill"])
    assert "reward skill, provenance own." in rows.info.description
    with pytest.raises(DataError, match="no annotation that reward 'skill' scores"):
        conversation_rows([bare()])


def test_conversations_pass_the_guard_and_the_checks_of_rows() -> None:
    unmarked = example().model_copy(update={"provenance": None})
    with pytest.raises(BenchmarkTrainingError, match="may not be trained on"):
        conversation_rows([unmarked])
    rows = conversation_rows([unmarked], allow_benchmark_training=True)
    assert rows["provenance"][:] == ["benchmark"]
    assert "Made with allow_benchmark_training=True: AttuneBench's authors forbid" in rows.info.description
    with pytest.raises(SettingsError, match="scores nothing in the stages draft"):
        conversation_rows(SAMPLE, Settings(stages=("draft",)))
    for given in (SAMPLE[0], "sample", iter(SAMPLE)):
        with pytest.raises(TypeError, match="conversations must be a sequence, got "):
            conversation_rows(given)  # type: ignore[arg-type]  # the slip under test
    for task in (None, "{", "{}", "[]"):
        with pytest.raises(DataError, match="that conversation_rows wrote"):
            GrowingChat.of_row(task)


def test_the_episode_is_an_episode_of_the_engine() -> None:
    chat = GrowingChat(Episode(example(), Settings(), "composite"))
    # draft and assess_hp carry no weight
    assert (chat.length, len(chat.episode.requests)) == (3, 5)
