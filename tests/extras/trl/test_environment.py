"""Whole conversations as tool calls: a real step of GRPOTrainer, with the environment's data and reward."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from trl import GRPOConfig, GRPOTrainer

from attune_data import Conversations
from attune_episodes import Settings
from attune_episodes.frameworks.trl import conversation_environment, log_scores
from attune_episodes.play.task import Task, replay
from tests.extras.trl import tiny

ASKED = Settings(prompts="compact", stages=("prefer",))


def test_a_step_of_grpo_plays_the_conversations_of_the_environment(tmp_path: Path) -> None:
    data = Conversations(tiny.short()[:3])
    environment = conversation_environment(data, settings=ASKED, reward="composite", generations=2)
    given = {"max_steps": 1, "per_device_train_batch_size": 4, "num_generations": 2}
    given |= {"max_completion_length": 4000, "max_tool_calling_iterations": 2}
    trainer = GRPOTrainer(
        model=tiny.model(calls=True),
        reward_funcs=log_scores,
        args=GRPOConfig(**tiny.sampling(tmp_path, **given)),
        environment_factory=environment,
        processing_class=tiny.tokenizer(),
    )
    assert [tool.__name__ for tool in trainer.tools] == ["answer"]
    trainer.train()
    episodes = [played.episode for played in trainer.environments]
    names = [one.conversation.conversation_id for one in episodes]
    assert names[0] == names[1] != names[2] == names[3]
    totals = [
        replay(
            Task(one.conversation, ASKED, one.spec), {step.request.id: step.reply for step in one.steps}
        ).total
        for one in episodes
    ]
    (logged,) = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert logged["rewards/ConversationEnvironment/mean"] == pytest.approx(math.fsum(totals) / 4, abs=1e-6)
    assert logged["reward"] == pytest.approx(math.fsum(totals) / 4, abs=1e-6)
    assert logged["tools/call_frequency"] > 0 == logged["tools/failure_frequency"]
    assert 0 < logged["attune/parse_rate"] < 1
    assert max(totals) > 0
