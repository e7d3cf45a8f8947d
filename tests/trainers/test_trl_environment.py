"""TRL's environment, its rows and the shape of its rollouts: what holds without TRL itself."""

from __future__ import annotations

import inspect
import json
import pickle
from collections import Counter
from functools import partial
from typing import Any

import pytest

from attune_data import Conversation, load
from attune_data.errors import DataError, SettingsError, UnknownNameError
from attune_data.guard import BenchmarkTrainingError
from attune_data.loading import fingerprint
from attune_env.testing import Outcome, check_env_contract
from attune_episodes import Episode, Policy, Settings, plan, to_dataset
from attune_episodes.policies.base import prepared
from attune_episodes.trainers import ConversationEnvironment, conversation_rollouts
from attune_episodes.trainers.trl_environment import NoEpisodeError, conversation_rows, episode_parts
from attune_episodes.trainers.trl_rollout import THREADS, drawn
from attune_rewards import RewardSpec
from tests.trainers.batches import bare

TWO = load("sample")[:2]


def begun(about: Conversation, settings: Settings | None = None, reward: Any = "composite") -> Any:
    """An environment with the episode of a conversation, through a row."""
    environment = ConversationEnvironment(settings, reward)
    assert environment.reset(**conversation_rows([about], settings, reward)[0]) is None  # type: ignore[func-returns-value]
    return environment


def play(policy: Policy, about: Conversation, preset: str) -> Outcome:
    environment, player = begun(about, reward=preset), prepared(policy, about)
    episode = environment.episode
    while not episode.done:
        episode.submit(player.reply(episode.request))
    steps = episode.steps
    record = episode.result("m/x", {"run_timestamp": "2026-01-01T00:00:00+00:00"})
    return Outcome(
        [step.reward for step in steps], environment.get_reward(), [step.status for step in steps], record
    )


def test_the_environment_keeps_the_contract() -> None:
    data = [about for about in load("sample") if len(about.turns) <= 4][:2]
    check_env_contract(play, data, policies=["oracle", "prior", "empty"], rewards=["composite", "skill"])


def test_a_row_brings_its_whole_conversation_and_shows_none_of_its_annotations() -> None:
    rows = conversation_rows(TWO, reward="composite")
    assert rows["conversation_id"] == [about.conversation_id for about in TWO]
    for row, about in zip(rows, TWO, strict=True):
        environment = ConversationEnvironment(reward="composite")
        environment.reset(**row)
        assert fingerprint(environment.episode.conversation) == fingerprint(about)
        first = next(request for request in plan(about) if request.stage == "assess")
        assert row["prompt"] == first.chat()
    assert "provenance own" in rows.info.description


@pytest.mark.parametrize("reward", ["composite", "preference", "skill", "holistic"])
def test_what_is_asked_is_what_has_a_row(reward: str) -> None:
    ids = [request.id for about in TWO for request in begun(about, reward=reward).asked]
    assert ids == to_dataset(TWO, reward=reward)["id"]


def test_trl_finds_no_tool_in_it() -> None:
    public = {
        name
        for name, _ in inspect.getmembers(ConversationEnvironment, predicate=inspect.isfunction)
        if not name.startswith("_")
    }
    assert public == {"reset", "get_reward"}


def test_an_environment_is_used_again_from_the_start() -> None:
    environment = begun(TWO[0])
    for _ in environment.episode.requests:
        environment.episode.submit("{}")
    first = environment.get_reward()
    environment.trained = "x"
    environment.reset(**conversation_rows([TWO[1]], reward="composite")[0])
    assert environment.episode.steps == []
    assert environment.trained is None
    assert environment.asked[0].conversation_id == TWO[1].conversation_id
    assert isinstance(first, float)


def test_a_reward_is_not_to_be_had_before_the_episode_is_over() -> None:
    with pytest.raises(NoEpisodeError, match="reset"):
        ConversationEnvironment().get_reward()
    assert "reset" in dict(inspect.getmembers(ConversationEnvironment()))  # looks at every member
    environment = begun(TWO[0])
    environment.episode.submit("{}")
    with pytest.raises(SettingsError, match=r'"sample-01" has 1 of 21 replies.*rollout_func'):
        environment.get_reward()


def test_parts_are_logged_over_scored_replies_only() -> None:
    one = begun(TWO[0], Settings(stages=("draft", "prefer")), "preference")
    while not one.episode.done:
        request = one.episode.request
        first = request.turn == 1 and request.stage == "prefer"
        one.episode.submit('{"picks": ["A", "A", "A", "A", "A", "A"]}' if first else "no")
    one.trained = "sample-01/1/prefer"
    logged: dict[str, float] = {}
    extra: dict[str, list[str]] = {}
    values = episode_parts(
        environments=[one], log_metric=logged.__setitem__, log_extra=extra.__setitem__, other=1
    )
    assert values == [0.0]
    scored = [step for step in one.episode.steps if step.request.stage == "prefer"]
    assert len(scored) == 5
    # one of five can be read; what it earned is shared by five
    assert logged == {
        "attune/parse_rate": pytest.approx(1 / 5),
        "attune/pairwise": pytest.approx(scored[0].score.parts["pairwise"] / 5),
    }
    assert scored[0].score.parts["pairwise"] > 0
    assert extra == {"attune_request": ["sample-01/1/prefer"]}


def test_each_request_is_drawn_as_often_as_the_others() -> None:
    environments = [begun(TWO[0], reward="preference") for _ in range(3)]
    assert len(environments[0].asked) == 5
    counts: Counter[str] = Counter()
    for step in range(500):
        ids = drawn(environments, 7, step)
        assert len(set(ids)) == 3  # rollouts of one conversation take turns
        counts.update(ids)
    # three of five places each time: Bin(500, 3/5), so 300 each, 5 standard deviations are 55
    assert set(counts) == {request.id for request in environments[0].asked}
    assert all(abs(count - 300) < 55 for count in counts.values())
    assert drawn(environments, 7, 3) == drawn(environments, 7, 3)
    assert any(drawn(environments, 8, step) != drawn(environments, 7, step) for step in range(9))


def test_what_trl_is_given_pickles() -> None:
    ours = conversation_rollouts(TWO, Settings(prompts="compact"), "emotion", thread="shown", seed=3)
    again = pickle.loads(
        pickle.dumps((ours["environment_factory"], ours["rollout_func"], ours["reward_funcs"]))
    )
    environment = again[0]()
    environment.reset(**ours["train_dataset"][0])
    assert {request.stage for request in environment.asked} == {"assess"}
    assert (again[1].thread, again[1].seed) == ("shown", 3)
    assert again[2] == [episode_parts]


def test_conversations_of_which_nothing_is_scored_make_no_row() -> None:
    empty = bare()
    assert conversation_rows([empty, TWO[1]])["conversation_id"] == ["sample-02"]
    with pytest.raises(DataError, match="reward 'skill' scores"):
        conversation_rows([empty])
    with pytest.raises(DataError, match="reward 'skill' scores"):
        ConversationEnvironment().reset(conversation=json.dumps(empty.to_record()))


def test_unicode_comes_through_the_row() -> None:
    texts = {"userMessage": "‮ שלום 🫠 é\u0000\u2028", "llmResponse": "x" * 200_000}
    about = TWO[0].model_copy(
        update={
            "turns": tuple(
                Conversation.model_validate(
                    {**TWO[0].to_record(), "turns": [{**TWO[0].to_record()["turns"][0], **texts}]}
                ).turns
            )
        }
    )
    turn = begun(about).episode.conversation.turns[0]
    assert (turn.user_message, turn.llm_response) == tuple(texts.values())


def test_benchmark_records_are_refused() -> None:
    unmarked = [about.model_copy(update={"provenance": None}) for about in TWO]
    with pytest.raises(BenchmarkTrainingError):
        conversation_rollouts(unmarked)
    row = conversation_rows(unmarked, allow_benchmark_training=True)[0]
    with pytest.raises(BenchmarkTrainingError):
        ConversationEnvironment().reset(**row)
    ConversationEnvironment(allow_benchmark_training=True).reset(**row)


def test_wrong_arguments_are_told_at_the_call() -> None:
    with pytest.raises(UnknownNameError, match="elided, shown"):
        conversation_rollouts(TWO, thread="hidden")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="seed is"):
        conversation_rollouts(TWO, seed=0.5)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="composite"):
        conversation_rollouts(TWO, reward="compsite")
    with pytest.raises(TypeError, match="RewardSpec"):
        conversation_rollouts(TWO, reward=None)  # type: ignore[arg-type]
    takes: list[Any] = [partial(conversation_rollouts, TWO), ConversationEnvironment]
    for take in takes:
        with pytest.raises(TypeError, match=r"settings are a Settings\(…\), got str"):
            take("full")
    for given in ("sample", TWO[0], iter(TWO)):
        with pytest.raises(TypeError, match="in a sequence"):
            conversation_rollouts(given)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="conversation_rollouts"):
        ConversationEnvironment().reset(prompt=[])
    with pytest.raises(DataError, match="row"):
        ConversationEnvironment().reset(conversation="{")
    assert THREADS == ("elided", "shown")


def test_a_trainer_without_environments_or_with_several_processes_is_refused() -> None:
    ours = conversation_rollouts(TWO)["rollout_func"]
    with pytest.raises(SettingsError, match="environment_factory"):
        ours([[]], object())

    class Processes:
        num_processes = 4

    class Trainer:
        environments = (begun(TWO[0]),)
        accelerator = Processes()

    with pytest.raises(SettingsError, match="4 processes"):
        ours([[]], Trainer())


def test_rewards_that_rows_cannot_carry_are_paid_here() -> None:
    spec = RewardSpec.preset("preference").with_part("spoke", "draft", lambda *_: 1.0, 3.0).terminal()
    environment = begun(TWO[0], reward=spec)
    assert {request.stage for request in environment.asked} == {"draft", "prefer"}
    again = Episode(TWO[0], reward=spec)
    for episode in (environment.episode, again):
        while not episode.done:
            episode.submit("Oh no.")
    # drafts weigh 3 of 4 and are paid in full; picks cannot be read
    assert environment.get_reward() == again.total == pytest.approx(0.75)
