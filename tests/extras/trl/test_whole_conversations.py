"""Whole conversations through TRL's environment and rollout function: two real steps of GRPO each way."""

from __future__ import annotations

import json
import math
import warnings
from itertools import pairwise
from typing import Any

import pytest
from trl import GRPOConfig, GRPOTrainer

from attune_data.errors import SettingsError
from attune_data.extras import UntestedVersionWarning
from attune_data.guard import BenchmarkTrainingError
from attune_episodes import Episode, Settings
from attune_episodes.trainers import trl_generation, trl_rollout
from attune_episodes.trainers.trl_environment import ConversationEnvironment
from attune_episodes.trainers.trl_generation import check_version
from attune_episodes.trainers.trl_rollout import (
    THREADS,
    ConversationRollout,
    Thread,
    conversation_rollouts,
)
from attune_rewards import RewardSpec
from tests.extras.trl import tiny

REWARD = "composite"


class Played:
    """A rollout function that keeps what it was asked, what was generated and what it returned."""

    def __init__(self, rollout: Any) -> None:
        self.rollout = rollout
        self.batches: list[dict[str, Any]] = []

    def __call__(self, prompts: Any, trainer: Any) -> Any:
        generate, contexts = trl_generation.generate, []

        def kept(trainer: Any, prompts: list[list[int]]) -> Any:
            contexts.append([list(ids) for ids in prompts])
            return generate(trainer, prompts)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(trl_rollout, "generate", kept)
            made = self.rollout(prompts, trainer)
        self.batches.append(
            {
                "contexts": contexts,
                "made": made,
                "episodes": [one.episode for one in trainer.environments],
                "asked": [one.asked for one in trainer.environments],
                "trained": [one.trained for one in trainer.environments],
                "rewards": [one.get_reward() for one in trainer.environments],
            }
        )
        return made


def trained(thread: Thread, folder: Any, settings: Settings) -> tuple[Any, Played]:
    """A trainer after two steps over two conversations of two turns, and what was played."""
    brief = [about.model_copy(update={"turns": about.turns[:2]}) for about in tiny.short()[:2]]
    ours: Any = conversation_rollouts(brief, settings, REWARD, thread=thread)
    ours["rollout_func"] = played = Played(ours["rollout_func"])
    trainer = GRPOTrainer(
        model=tiny.model(),
        args=GRPOConfig(**tiny.sampling(folder)),
        processing_class=tiny.tokenizer(),
        **ours,
    )
    trainer.train()
    return trainer, played


@pytest.fixture(scope="module")
def elided(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Played]:
    return trained("elided", tmp_path_factory.mktemp("elided"), tiny.FULL)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Played]:
    return trained("shown", tmp_path_factory.mktemp("shown"), tiny.FULL)


@pytest.mark.parametrize("way", ["elided", "shown"])
def test_the_reward_is_the_return_of_the_episode(way: str, request: pytest.FixtureRequest) -> None:
    trainer, played = request.getfixturevalue(way)
    assert trainer.state.global_step == 2
    logged = [entry for entry in trainer.state.log_history if "reward" in entry]
    for batch, entry in zip(played.batches, logged, strict=True):
        for episode, reward in zip(batch["episodes"], batch["rewards"], strict=True):
            again = Episode(episode.conversation, tiny.FULL, REWARD)
            for step in episode.steps:
                again.submit(step.reply)
            assert abs(again.total - reward) <= 1e-12
        mean = math.fsum(batch["rewards"]) / len(batch["rewards"])
        assert entry["rewards/ConversationEnvironment/mean"] == pytest.approx(mean, abs=1e-6)
        assert entry["reward"] == pytest.approx(mean, abs=1e-6)
        assert mean > 0
    assert any(entry["frac_reward_zero_std"] < 1 for entry in logged)
    assert tiny.changed(tiny.model(), trainer.model)


@pytest.mark.parametrize("way", ["elided", "shown"])
def test_parts_and_parse_rate_are_logged(way: str, request: pytest.FixtureRequest) -> None:
    trainer, played = request.getfixturevalue(way)
    logged = [entry for entry in trainer.state.log_history if "reward" in entry]
    for batch, entry in zip(played.batches, logged, strict=True):
        steps = [s for episode in batch["episodes"] for s in episode.steps if s.score.value is not None]
        assert entry["attune/parse_rate"] == pytest.approx(
            sum(s.status == "ok" for s in steps) / len(steps), abs=1e-6
        )
        of_part = [s.score.parts["pairwise"] for s in steps if "pairwise" in s.score.parts]
        assert entry["attune/pairwise"] == pytest.approx(math.fsum(of_part) / len(of_part), abs=1e-6)
        assert entry["rewards/episode_parts/mean"] == 0


def test_elided_every_request_is_answered_under_its_own_prompt(elided: tuple[Any, Played]) -> None:
    for batch in elided[1].batches:
        wanted = sorted(tiny.prompt_ids(r.chat()) for asked in batch["asked"] for r in asked)
        assert sorted(ids for call in batch["contexts"] for ids in call) == wanted


def test_elided_the_trainer_learns_from_the_drawn_request_as_it_was_sampled(
    elided: tuple[Any, Played],
) -> None:
    words = tiny.tokenizer()
    for batch in elided[1].batches:
        made = batch["made"]
        assert "env_mask" not in made
        for index, episode in enumerate(batch["episodes"]):
            step = next(s for s in episode.steps if s.request.id == batch["trained"][index])
            assert step.score.value is not None
            assert made["prompt_ids"][index] == tiny.prompt_ids(step.request.chat())
            assert words.decode(made["completion_ids"][index], skip_special_tokens=True) == step.reply
        # four rollouts of a conversation take turns: no request of it comes twice
        assert len(set(batch["trained"])) == len(batch["trained"])


def test_shown_one_sequence_is_the_whole_chat_with_the_replies_in_place(shown: tuple[Any, Played]) -> None:
    words, whole = tiny.tokenizer(), 0
    for batch in shown[1].batches:
        made = batch["made"]
        for index, episode in enumerate(batch["episodes"]):
            ids, mask = made["completion_ids"][index], made["env_mask"][index]
            assert len(ids) == len(mask)
            own = words.decode(
                [t for t, mine in zip(ids, mask, strict=True) if mine], skip_special_tokens=True
            )
            assert own == "".join(step.reply for step in episode.steps)
            # turn 1: draft (asked of nobody here), assess, prefer; turn 2: the same, nothing elided between
            one, two, three, four = (step.request.chat() for step in episode.steps)
            said = [{"role": "assistant", "content": step.reply} for step in episode.steps]
            chat = [*one, said[0], two[-1], said[1], *three[-3:], said[2], four[-1], said[3]]
            assert [len(r) for r in (one, two, three, four)] == [4, 6, 8, 10]
            text = words.apply_chat_template(chat, tokenize=False).removesuffix("\n")
            cut_off = ids[-1] != words.eos_token_id
            told = words.decode(made["prompt_ids"][index] + ids)
            assert told == (text.removesuffix("<|im_end|>") if cut_off else text)
            whole += 1
    assert whole == 16


def test_shown_every_context_begins_with_the_one_before(shown: tuple[Any, Played]) -> None:
    for batch in shown[1].batches:
        for index in range(len(batch["episodes"])):
            mine = [call[index] for call in batch["contexts"] if len(call) == len(batch["episodes"])]
            for one, two in pairwise(mine):
                assert two[: len(one)] == one
                assert len(two) > len(one)


@pytest.mark.parametrize("way", THREADS)
def test_log_probabilities_of_a_backend_stay_with_their_tokens(
    way: Thread, elided: tuple[Any, Played], monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = elided[0]
    trainer.environments = trainer.environments[:1]
    trainer.environments[0].reset(**trainer.train_dataset[0])
    generate = trl_generation.generate

    def with_logprobs(trainer: Any, prompts: list[list[int]]) -> Any:
        replies, _ = generate(trainer, prompts)
        return replies, [[-float(token) for token in reply] for reply in replies]

    monkeypatch.setattr(trl_rollout, "generate", with_logprobs)
    made = ConversationRollout(way)([None], trainer)
    ids, logprobs = made["completion_ids"][0], made["logprobs"][0]
    mask = made.get("env_mask", [[1] * len(ids)])[0]
    assert logprobs == [-float(token) * mine for token, mine in zip(ids, mask, strict=True)]
    assert (0 in mask) == (way == "shown")


def trainer_with(ours: dict[str, Any], folder: Any, kind: Any = GRPOTrainer) -> Any:
    return kind(
        model=tiny.model(),
        args=GRPOConfig(**tiny.sampling(folder, per_device_train_batch_size=4)),
        processing_class=tiny.tokenizer(),
        **ours,
    )


def refused(trainer: Any, match: str) -> None:
    with pytest.raises(SettingsError, match=match):
        trainer.train()
    assert trainer.state.global_step == 0


def test_an_environment_without_the_rollout_function_is_told_before_the_first_step(tmp_path: Any) -> None:
    ours: Any = conversation_rollouts(tiny.short()[:1], tiny.ASKED)
    ours["rollout_func"] = None
    refused(trainer_with(ours, tmp_path), "rollout_func")


def test_a_rollout_function_without_the_environment_is_told_before_the_first_step(tmp_path: Any) -> None:
    ours: Any = conversation_rollouts(tiny.short()[:1], tiny.ASKED)
    del ours["environment_factory"]
    ours["reward_funcs"] = [lambda completions, **_: [0.0] * len(completions)]
    refused(trainer_with(ours, tmp_path), "environment_factory")


def test_vllm_gets_the_weights_once_and_its_log_probabilities_are_kept() -> None:
    class Backend:
        synced = 0

        def sync_weights(self) -> None:
            self.synced += 1

        def generate(self, *, prompts: Any, images: Any, num_generations: int) -> Any:
            assert (images, num_generations) == (None, 1)
            return prompts, [[7, 8] for _ in prompts], [[[-0.5], [-1.5]] for _ in prompts], None

    class Trainer:
        use_vllm, vllm_generation = True, Backend()

    trl_generation.sync_weights(Trainer)
    assert Trainer.vllm_generation.synced == 1
    made = trl_generation.generate(Trainer, [[1], [2, 3]])
    assert made == ([[7, 8]] * 2, [[-0.5, -1.5]] * 2)


def test_a_template_that_rewrites_earlier_messages_is_told_before_the_first_step(tmp_path: Any) -> None:
    ours: Any = conversation_rollouts(tiny.short()[:1], tiny.ASKED, thread="shown")
    trainer = trainer_with(ours, tmp_path)
    words = tiny.tokenizer()
    counted = words.chat_template.replace("message.content", "message.content ~ (messages | length)")
    trainer.chat_template = counted
    refused(trainer, "writes a message the same")


def test_another_version_of_trl_is_warned_of_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_version()  # the installed one is one that was tested
    monkeypatch.setattr(trl_generation, "TESTED", ("9.7", "9.8"))
    with pytest.warns(UntestedVersionWarning, match=r"trl 1\..* is installed.*9\.7.*may have changed"):
        check_version()


def test_parts_of_ones_own_and_terminal_rewards_are_paid(tmp_path: Any) -> None:
    spec = RewardSpec.preset("preference").with_part("brief", "assess", _brief, 1.0).terminal()
    ours: Any = conversation_rollouts(tiny.short()[:1], tiny.ASKED, spec)
    ours["rollout_func"] = played = Played(ours["rollout_func"])
    trainer = trainer_with(ours, tmp_path)
    trainer.train()
    brief = [
        step.score.parts["brief"]
        for batch in played.batches
        for episode in batch["episodes"]
        for step in episode.steps
        if step.request.stage == "assess"
    ]
    assert set(brief) == {0.0, 1.0}
    assert max(reward for batch in played.batches for reward in batch["rewards"]) > 0


def _brief(truth: Any, turn: Any, said: Any) -> float:
    return float(len(said.tags or ()) <= 1)


def test_benchmark_records_are_refused_at_the_call_and_in_a_row() -> None:
    unmarked = [about.model_copy(update={"provenance": None}) for about in tiny.short()[:1]]
    with pytest.raises(BenchmarkTrainingError):
        conversation_rollouts(unmarked)
    ours = conversation_rollouts(unmarked, allow_benchmark_training=True)
    row = ours["train_dataset"][0]
    assert row["provenance"] == json.loads(row["conversation"])["provenance"] == "benchmark"
    with pytest.raises(BenchmarkTrainingError):
        ConversationEnvironment().reset(**row)
    allowed = ours["environment_factory"]()
    allowed.reset(**row)
    assert allowed.episode.conversation.conversation_id == row["conversation_id"]
