"""Play conversations with SkyRL's generator on Ray: skyrl_workers.py TOKENIZER [CONVERSATIONS] [WORKERS].

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

from attune_env import Simulation
from attune_episodes.trainers import conversation_rows, to_skyrl
from attune_episodes.trainers.skyrl import register_environments


class Answers:
    """Stands for SkyRL's inference engine, which needs GPUs: each conversation's replies in order."""

    def __init__(self, words: Any, rows: Any) -> None:
        self.words, self.left = words, {f"{row['id']}_0": iter(row["replies"]) for row in rows}

    async def generate(self, asked: Any, model: str | None = None) -> dict[str, Any]:
        """The next reply of each session, as text and as token ids."""
        said = [next(self.left[session]) for session in asked["session_ids"]]
        ids = self.words([text + self.words.eos_token for text in said])["input_ids"]
        return {"responses": said, "response_ids": ids, "stop_reasons": ["stop"] * len(said)}

    async def finish_session(self, session: str) -> None:
        """Keep nothing of a session."""


def replied(number: int) -> Any:
    """A row per conversation, with the replies to its requests."""
    asked = replied_rows(number, seed=1)
    rows = conversation_rows([Simulation(1)[index] for index in range(number)], reward="composite")
    replies = [[one["reply"] for one in asked if one["conversation_id"] == name] for name in rows["id"]]
    return to_skyrl(rows).add_column("id", rows["id"]).add_column("replies", replies)


def played(rows: Any, folder: str) -> list[list[float]]:
    """Each conversation's rewards, token by token, from one generator."""
    register_environments()
    words, sizes = AutoTokenizer.from_pretrained(folder), GeneratorConfig(max_input_length=10**6)
    generator = SkyRLGymGenerator(sizes, SkyRLGymConfig(), Answers(words, rows), words)
    given = [dict(row, uid=row["id"], env_extras=row) for row in rows]
    asked, _ = prepare_generator_input(given, 1, None, "", "train", 0)
    return list(asyncio.run(generator.generate(asked))["rewards"])


if __name__ == "__main__":
    number, workers = map(int, [*sys.argv[2:], "4", "2"][:2])
    task, rows = ray.remote(num_cpus=1)(played), replied(number)
    done = ray.get([task.remote(rows.shard(workers, part), sys.argv[1]) for part in range(workers)])
    print(sum(sum(rewards) for part in done for rewards in part))
