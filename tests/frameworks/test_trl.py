"""The environment of TRL's `environment_factory`, driven as the trainer drives it; TRL is not needed."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from attune_data import BenchmarkTrainingError, Conversations, load
from attune_data.errors import SettingsError
from attune_episodes import Settings, builtin_policy, rollout
from attune_episodes.frameworks.trl import (
    ASKED,
    HOW,
    ConversationEnvironment,
    EnvironmentFactory,
    conversation_environment,
    log_scores,
)
from attune_episodes.play.episode import EpisodeOverError
from attune_episodes.protocol.request import Request

SAMPLE = load("sample")
LEXICON = builtin_policy("lexicon", SAMPLE)


@pytest.fixture
def environment() -> EnvironmentFactory:
    return conversation_environment("sample", number=4, generations=3)


def play(played: ConversationEnvironment, row: dict[str, Any], answers: int) -> list[str]:
    """The texts that the model is shown; it answers so many questions."""
    shown = [played.reset(**row)]
    for _ in range(answers):
        shown.append(played.answer(json.loads(LEXICON.reply(played.episode.request))))
    return shown


@pytest.mark.parametrize("reward", ["composite", "skill"])
@pytest.mark.parametrize("left", [0, 3])
def test_a_conversation_earns_what_rollout_gives_and_silence_on_what_is_left(reward: str, left: int) -> None:
    environment = conversation_environment("sample", reward=reward)
    row, played = environment.train_dataset[0], environment()
    played.reset(**row)
    answers = len(played.episode.requests) - left
    shown = play(played, row, answers)
    asked = [request.messages[-1].content for request in played.episode.requests]
    assert shown[0] == f"{played.episode.requests[0].messages[0].content}\n\n{HOW}\n\n{asked[0]}"
    assert shown[1:] == [*asked[1 : answers + 1], "The conversation is over."][:answers]
    replies = Replies({request.id: LEXICON.reply(request) for request in played.episode.requests[:answers]})
    expected = rollout(SAMPLE[0], replies, ASKED, reward)
    assert abs(played.get_reward() - expected.total) <= 1e-12
    assert played.get_reward() == played.episode.total  # it is not paid twice
    with pytest.raises(EpisodeOverError, match="The conversation is over"):
        played.answer({})


class Replies:
    """A policy that repeats replies, and says nothing where it has none."""

    name = "replies"

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def reply(self, request: Request) -> str:
        return self.texts.get(request.id, "")


def test_text_and_worse_are_read_as_replies(environment: EnvironmentFactory) -> None:
    played = environment()
    played.reset("sample-01")
    sent: tuple[Any, ...] = (LEXICON.reply(played.episode.request), "no JSON", None, ["A"])
    for reply in sent:
        played.answer(reply)
    assert [step.status for step in played.episode.steps] == [
        "ok", "unparsed:no_json", "unparsed:not_an_object", "unparsed:not_an_object",
    ]  # fmt: skip


def test_rollouts_of_a_group_share_a_conversation_without_a_data_set(environment: EnvironmentFactory) -> None:
    pool = [environment() for _ in range(6)]

    def step() -> list[str]:
        for played in pool:
            played.reset(prompt=[{"role": "user", "content": ""}])  # the row that TRL then makes
        return [played.episode.conversation.conversation_id for played in pool]

    first, second = step(), step()
    groups = [names[i : i + 3] for names in (first, second) for i in (0, 3)]
    assert all(len(set(group)) == 1 for group in groups)
    assert {group[0] for group in groups} == {one.conversation_id for one in SAMPLE[:4]}


def test_a_reset_without_an_id_is_refused_where_a_group_could_not_share(
    environment: EnvironmentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match=r"generations=args\.num_generations"):
        conversation_environment("sample")().reset()
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(SettingsError, match=r"train_dataset=environment\.train_dataset"):
        environment().reset()
    environment().reset("sample-01")


def test_the_data_set_names_each_scored_conversation_once() -> None:
    unscored = SAMPLE[1].model_copy(update={"turns": (), "post_panas": None})
    rows = conversation_environment("written").train_dataset
    assert rows["conversation_id"][:2] == [one.conversation_id for one in load("written:train")[:2]]
    assert "reward skill, provenance" in rows.info.description
    some = Conversations([SAMPLE[0], unscored])
    asked = Settings(prompts="compact", stages=("prefer",))
    assert conversation_environment(some, settings=asked).train_dataset["conversation_id"] == ["sample-01"]


def test_it_travels_to_another_process(environment: EnvironmentFactory) -> None:
    there = pickle.loads(pickle.dumps(environment))
    assert there().reset("sample-02") == environment().reset("sample-02")
    assert there().reset() == environment().reset()


def test_only_what_may_be_trained_on_is_played() -> None:
    unmarked = Conversations([SAMPLE[0].model_copy(update={"provenance": None})])
    with pytest.raises(BenchmarkTrainingError):
        conversation_environment(unmarked)
    with pytest.raises(TypeError, match="training"):
        conversation_environment(unmarked, training=False)
    marked = conversation_environment(unmarked, allow_benchmark_training=True).train_dataset
    assert marked["provenance"] == ["benchmark"]
    assert "forbid training" in marked.info.description


def test_prompts_that_are_a_thread_are_refused() -> None:
    with pytest.raises(SettingsError, match='Settings\\(prompts="compact"\\)'):
        conversation_environment("sample", settings=Settings())


def test_scores_are_logged_and_other_environments_left_alone(environment: EnvironmentFactory) -> None:
    played, logged = environment(), dict[str, float]()
    play(played, {"conversation_id": "sample-01"}, 2)
    assert log_scores([played, object()], logged.__setitem__, completions=[]) == [0.0, None]
    assert logged["attune/parse_rate"] == 2 / len(played.episode.requests)
    assert logged["attune/emotion_f1"] > 0
