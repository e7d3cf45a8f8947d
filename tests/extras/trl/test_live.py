"""Live conversations through TRL: the same replies earn the same, and two real steps of GRPO."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from trl import GRPOConfig, GRPOTrainer

from attune_data.errors import SettingsError
from attune_data.simulate import Simulation
from attune_episodes.live import LiveEpisode
from attune_episodes.trainers import live_rollouts, reward_functions, training_dataset
from tests.episodes.live.roads import check_road
from tests.extras.trl import tiny

WORLD = Simulation(4, level="plain")


def test_it_pays_what_the_live_episode_pays() -> None:
    check_road("trl")


def test_two_steps_of_grpo_play_live_episodes_and_log_their_totals(tmp_path: Any) -> None:
    ours: Any = live_rollouts(WORLD, 4)
    rollout, batches = ours["rollout_func"], []

    def kept(prompts: Any, trainer: Any) -> Any:
        batches.append(rollout(prompts, trainer))
        return batches[-1]

    trainer = GRPOTrainer(
        model=tiny.model(),
        args=GRPOConfig(**tiny.sampling(tmp_path)),
        processing_class=tiny.tokenizer(),
        **(ours | {"rollout_func": kept}),
    )
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert len(batches) == len(logged) == 2
    words = tiny.tokenizer()
    for made, entry in zip(batches, logged, strict=True):
        totals = []
        for index, episode in enumerate(made["episode"]):
            again = LiveEpisode(WORLD, episode.index)
            assert episode.done
            for turn in episode.turns:
                again.say(turn.reply)
            assert abs(again.total - episode.total) <= 1e-12
            totals.append(episode.total)
            ids, mask = made["completion_ids"][index], made["env_mask"][index]
            assert len(ids) == len(mask)
            told = words.decode(made["prompt_ids"][index] + ids, skip_special_tokens=True)
            for before, after in pairwise([0, *(told.find(turn.message) for turn in episode.turns)]):
                assert after >= before
        mean = math.fsum(totals) / len(totals)
        assert entry["rewards/live_return/mean"] == pytest.approx(mean, abs=1e-6)
        assert "attune/fit" in entry
        assert 0 <= entry["attune/lost"] < 1
    assert tiny.changed(tiny.model(), trainer.model)


def test_rows_to_reply_to_train_by_the_reward_function(tmp_path: Any) -> None:
    rows = training_dataset("simulated", world_seed=4, level="plain", number=2, stages=["respond"])
    functions = reward_functions("live", rows)
    trainer = GRPOTrainer(
        model=tiny.model(),
        args=GRPOConfig(**tiny.sampling(tmp_path, reward_weights=[f.weight for f in functions])),
        processing_class=tiny.tokenizer(),
        train_dataset=rows,
        reward_funcs=functions,
    )
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "reward" in entry]
    # TRL keeps rewards in single precision
    live = [entry["attune/live"] for entry in logged]
    assert [entry["reward"] for entry in logged] == pytest.approx(live, abs=1e-6)


def test_other_people_than_simulated_ones_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"no known state.*Simulation\("):
        live_rollouts(tiny.short(), 1)  # type: ignore[arg-type]
