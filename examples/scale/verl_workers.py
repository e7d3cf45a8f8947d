"""Play and score rows with verl's own workers: verl_workers.py MODEL [CONVERSATIONS] [WORKERS].

MODEL holds a model's configuration and tokenizer. `Answers` stands for verl's servers, which need GPUs.
Needs attune-env[verl].
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import ray
from hydra import compose, initialize_config_module
from map_rows import replied_rows
from transformers import AutoTokenizer
from verl import DataProto
from verl.experimental.agent_loop import AgentLoopManager
from verl.experimental.reward_loop import RewardLoopManager
from verl.workers.rollout.replica import TokenOutput

from attune_episodes.training import to_verl

OPTIONS = (
    "actor_rollout_ref.rollout.name=vllm", "data.max_prompt_length=32768", "data.max_response_length=4096",
    "reward.custom_reward_function.path=pkg://attune_episodes.frameworks.verl",
    "reward.custom_reward_function.name=compute_score",
)  # fmt: skip


class Answers:
    """Stands for verl's `LLMServerClient`: looks the prompt up."""

    def __init__(self, folder: str, rows: Any) -> None:
        self.words = AutoTokenizer.from_pretrained(folder)
        shown = self.words.apply_chat_template(rows["prompt"][:], tokenize=False, add_generation_prompt=True)
        self.replies = dict(zip(shown, rows["reply"], strict=True))

    async def generate(self, request_id: str, *, prompt_ids: list[int], **others: Any) -> TokenOutput:
        """The reply to a prompt, as token ids."""
        reply = self.replies[self.words.decode(prompt_ids)] + self.words.eos_token
        return TokenOutput(token_ids=self.words(reply)["input_ids"])


def rewarded(rows: Any, folder: str, workers: int) -> list[float]:
    """Each row's reward, from so many Ray actors of verl's; their number divides that of the rows."""
    sizes = [f"{where}.num_workers={workers}" for where in ("reward", "actor_rollout_ref.rollout.agent")]
    with initialize_config_module("verl.trainer.config", version_base=None):
        config = compose("ppo_trainer", [f"actor_rollout_ref.model.path={folder}", *OPTIONS, *sizes])
    scorers = RewardLoopManager(config).reward_loop_worker_handles
    players = AgentLoopManager.create(config, Answers(folder, rows), reward_loop_worker_handles=scorers)
    columns = {name: np.array(column, dtype=object) for name, column in to_verl(rows).to_dict().items()}
    batch = DataProto.from_single_dict(columns | {"raw_prompt": columns.pop("prompt")})
    return [float(score) for score in players.generate_sequences(batch).non_tensor_batch["score"]]


if __name__ == "__main__":
    number, workers = map(int, [*sys.argv[2:], "4", "2"][:2])
    ray.init(num_cpus=2 * workers, include_dashboard=False)
    rows = replied_rows(number)
    print(sum(rewarded(rows.select(range(len(rows) // workers * workers)), sys.argv[1], workers)))
