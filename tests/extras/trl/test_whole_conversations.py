"""Whole conversations through TRL's rollout function: two real steps of GRPO."""

from __future__ import annotations

import math
import warnings
from itertools import pairwise
from typing import Any

import pytest
from trl import GRPOConfig, GRPOTrainer

from attune_data.errors import SettingsError
from attune_data.extras import UntestedVersionWarning
from attune_episodes import Episode
from attune_episodes.trainers import conversation_rollouts, trl
from attune_rewards import RewardSpec
from tests.extras.trl import tiny
from tests.trainers.batches import bare

REWARD = "composite"


class Played:
    """A rollout function that keeps the contexts it generated from and what it returned."""

    def __init__(self, rollout: Any) -> None:
        self.rollout = rollout
        self.batches: list[tuple[list[list[list[int]]], dict[str, Any]]] = []

    def __call__(self, prompts: Any, trainer: Any) -> Any:
        generate, contexts = trl.generate, []

        def kept(trainer: Any, prompts: list[list[int]]) -> Any:
            contexts.append([list(ids) for ids in prompts])
            return generate(trainer, prompts)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(trl, "generate", kept)
            made = self.rollout(prompts, trainer)
        self.batches.append((contexts, made))
        return made


def trainer_of(ours: Any, folder: Any, **given: Any) -> Any:
    return GRPOTrainer(
        model=tiny.model(),
        args=GRPOConfig(**tiny.sampling(folder, **given)),
        processing_class=tiny.tokenizer(),
        **ours,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Played]:
    """A trainer after two steps over two conversations of two turns, and what was played."""
    brief = [about.model_copy(update={"turns": about.turns[:2]}) for about in tiny.short()[:2]]
    ours: Any = conversation_rollouts(brief, tiny.FULL, REWARD)
    ours["rollout_func"] = played = Played(ours["rollout_func"])
    trainer = trainer_of(ours, tmp_path_factory.mktemp("whole"))
    trainer.train()
    return trainer, played


def test_the_reward_is_the_return_of_the_episode_and_its_parts_are_logged(
    trained: tuple[Any, Played],
) -> None:
    trainer, played = trained
    assert trainer.state.global_step == 2
    logged = [entry for entry in trainer.state.log_history if "reward" in entry]
    for (_, made), entry in zip(played.batches, logged, strict=True):
        for episode in made["episode"]:
            again = Episode(episode.conversation, tiny.FULL, REWARD)
            for step in episode.steps:
                again.submit(step.reply)
            assert abs(again.total - episode.total) <= 1e-12
        mean = math.fsum(episode.total for episode in made["episode"]) / len(made["episode"])
        assert entry["rewards/conversation_return/mean"] == pytest.approx(mean, abs=1e-6)
        assert entry["reward"] == pytest.approx(mean, abs=1e-6)
        assert mean > 0
        steps = [s for episode in made["episode"] for s in episode.steps if s.score.value is not None]
        read = sum(s.status == "ok" for s in steps) / len(steps)
        assert entry["attune/parse_rate"] == pytest.approx(read, abs=1e-6)
        of_part = [s.score.parts["pairwise"] for s in steps if "pairwise" in s.score.parts]
        assert entry["attune/pairwise"] == pytest.approx(math.fsum(of_part) / len(of_part), abs=1e-6)
    assert any(entry["frac_reward_zero_std"] < 1 for entry in logged)
    assert tiny.changed(tiny.model(), trainer.model)


def test_one_sequence_is_the_whole_chat_with_the_replies_in_place(trained: tuple[Any, Played]) -> None:
    words, whole = tiny.tokenizer(), 0
    for contexts, made in trained[1].batches:
        for index, episode in enumerate(made["episode"]):
            ids, mask = made["completion_ids"][index], made["env_mask"][index]
            assert len(ids) == len(mask)
            own = words.decode(
                [t for t, mine in zip(ids, mask, strict=True) if mine], skip_special_tokens=True
            )
            assert own == "".join(step.reply for step in episode.steps)
            # turn 1: assess, prefer; turn 2: its draft, asked of nobody, comes along
            one, two, three, four = (step.request.chat() for step in episode.steps)
            said = [{"role": "assistant", "content": step.reply} for step in episode.steps]
            chat = [*one, said[0], two[-1], said[1], *three[-3:], said[2], four[-1], said[3]]
            text = words.apply_chat_template(chat, tokenize=False).removesuffix("\n")
            cut_off = ids[-1] != words.eos_token_id
            told = words.decode(made["prompt_ids"][index] + ids)
            assert told == (text.removesuffix("<|im_end|>") if cut_off else text)
            whole += 1
            for before, after in pairwise(call[index] for call in contexts):
                assert after[: len(before)] == before
                assert len(after) > len(before)
    assert whole == 16


def test_log_probabilities_of_a_backend_stay_with_their_tokens(
    trained: tuple[Any, Played], monkeypatch: pytest.MonkeyPatch
) -> None:
    generate = trl.generate

    def with_logprobs(trainer: Any, prompts: list[list[int]]) -> Any:
        replies, _ = generate(trainer, prompts)
        return replies, [[-float(token) for token in reply] for reply in replies]

    monkeypatch.setattr(trl, "generate", with_logprobs)
    trainer, played = trained
    made = played.rollout([trainer.train_dataset[0]["prompt"]], trainer)
    (ids,), (mask,) = made["completion_ids"], made["env_mask"]
    assert made["logprobs"] == [[-float(token) * mine for token, mine in zip(ids, mask, strict=True)]]
    assert {*mask} == {0, 1}


def test_the_log_probabilities_of_vllm_are_taken() -> None:
    class Backend:
        def generate(self, *, prompts: Any, images: Any, num_generations: int) -> Any:
            assert (images, num_generations) == (None, 1)
            return prompts, [[7, 8] for _ in prompts], [[[-0.5], [-1.5]] for _ in prompts], None

    class Trainer:
        use_vllm, vllm_generation = True, Backend()

    assert trl.generate(Trainer, [[1], [2, 3]]) == ([[7, 8]] * 2, [[-0.5, -1.5]] * 2)


@pytest.mark.parametrize("fault", ["processes", "template"])
def test_a_trainer_that_cannot_be_used_is_refused_before_the_first_step(fault: str, tmp_path: Any) -> None:
    ours: Any = conversation_rollouts(tiny.short()[:1], tiny.ASKED)
    trainer = trainer_of(ours, tmp_path, per_device_train_batch_size=4)
    if fault == "processes":

        class Two:
            num_processes = 2

        class Trainer:
            accelerator = Two

        with pytest.raises(SettingsError, match="2 processes; whole conversations need a single one"):
            ours["rollout_func"]([], Trainer)
        return
    trainer.chat_template = tiny.tokenizer().chat_template.replace(
        "message.content", "message.content ~ (messages | length)"
    )
    with pytest.raises(SettingsError, match="renders a message the same"):
        trainer.train()
    assert trainer.state.global_step == 0


def test_a_reward_may_have_parts_of_your_own_and_pay_at_the_end() -> None:
    own = RewardSpec.preset(REWARD).with_part("brief", "draft", lambda truth, turn, said: 1.0, 0.5).terminal()
    ours = conversation_rollouts([*tiny.short()[:2], bare()], reward=own)
    assert len(ours["train_dataset"]) == 3  # the draft is scored everywhere


def test_another_version_of_trl_is_warned_of_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        conversation_rollouts(tiny.short()[:1])  # the installed one is one that was tested
    monkeypatch.setattr(trl, "TESTED", ("9.7", "9.8"))
    with pytest.warns(UntestedVersionWarning, match=r"trl 1\..* is installed.*9\.7"):
        conversation_rollouts(tiny.short()[:1])
