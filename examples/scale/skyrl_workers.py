"""Play rows with SkyRL's generator on Ray: skyrl_workers.py TOKENIZER [CONVERSATIONS] [WORKERS].

Needs attune-env[skyrl].
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import ray
from map_rows import replied_rows
from skyrl.train.config import GeneratorConfig, SkyRLGymConfig
from skyrl.train.generators.skyrl_gym_generator import SkyRLGymGenerator
from skyrl.train.generators.utils import prepare_generator_input
from transformers import AutoTokenizer

from attune_episodes.frameworks.skyrl import register_environments
from attune_episodes.training import to_skyrl


class Answers:
    """Stands for SkyRL's inference engine, which needs GPUs: the reply of each session's row."""

    def __init__(self, words: Any, rows: Any) -> None:
        self.words, self.replies = words, {f"{row['id']}_0": row["reply"] for row in rows}

    async def generate(self, asked: Any, model: str | None = None) -> dict[str, Any]:
        """The replies of the sessions, as text and as token ids."""
        said = [self.replies[session] for session in asked["session_ids"]]
        ids = self.words([text + self.words.eos_token for text in said])["input_ids"]
        return {"responses": said, "response_ids": ids, "stop_reasons": ["stop"] * len(said)}

    async def finish_session(self, session: str) -> None:
        """Keep nothing of a session."""


def played(rows: Any, folder: str) -> dict[str, float]:
    """Reward by row id, from one generator."""
    register_environments()
    words, sizes = AutoTokenizer.from_pretrained(folder), GeneratorConfig(max_input_length=10**6)
    generator = SkyRLGymGenerator(sizes, SkyRLGymConfig(), Answers(words, rows), words)
    given = [
        dict(row, uid=name, env_extras=row) for row, name in zip(to_skyrl(rows), rows["id"], strict=True)
    ]
    asked, _ = prepare_generator_input(given, 1, None, "", "train", 0)
    rewards = asyncio.run(generator.generate(asked))["rewards"]
    return {name: sum(tokens) for name, tokens in zip(rows["id"], rewards, strict=True)}


if __name__ == "__main__":
    number, workers = map(int, [*sys.argv[2:], "4", "2"][:2])
    task, rows = ray.remote(num_cpus=1)(played), replied_rows(number)
    done = ray.get([task.remote(rows.shard(workers, part), sys.argv[1]) for part in range(workers)])
    print(sum(reward for part in done for reward in part.values()))
