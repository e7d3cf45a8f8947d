"""Live episodes as tool calls: a real step of GRPOTrainer with scripted people."""

from __future__ import annotations

from pathlib import Path

import pytest
from trl import GRPOConfig, GRPOTrainer

from attune_episodes.frameworks.trl_live import LiveEnvironments
from attune_episodes.people.cards import plan
from tests.extras.trl import tiny
from tests.people.scripted import Script


def test_a_step_of_grpo_talks_with_people(tmp_path: Path) -> None:
    people = LiveEnvironments(plan(3, 11), person=Script().ask)
    given = {"max_steps": 1, "per_device_train_batch_size": 2, "num_generations": 2}
    given |= {"max_completion_length": 512, "max_tool_calling_iterations": 1}
    trainer = GRPOTrainer(
        model=tiny.model(calls=True),
        args=GRPOConfig(**tiny.sampling(tmp_path, **given)),
        train_dataset=people.train_dataset,
        environment_factory=people,
        processing_class=tiny.tokenizer(),
    )
    assert [tool.__name__ for tool in trainer.tools] == ["answer"]
    trainer.train()
    episodes = [played.episode for played in trainer.environments]
    assert all(episode.done for episode in episodes)
    assert any(turn.reply for episode in episodes for turn in episode.turns)
    (logged,) = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert logged["reward"] == pytest.approx(sum(one.total for one in episodes) / 2, abs=1e-6)
