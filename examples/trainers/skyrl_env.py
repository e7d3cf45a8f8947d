"""SkyRL-gym: one request, and a whole conversation, stepped as SkyRL's generator steps them.

Needs `pip install 'attune-env[skyrl]'`. For a training run, call `register_environments()` in the process
that makes the environments (with Ray: in the remote entry point), and write the rows with `to_parquet`.
"""

from __future__ import annotations

import sys
from typing import Any

import skyrl_gym

from attune_env import load
from attune_episodes.trainers import conversation_rows, to_skyrl, training_dataset
from attune_episodes.trainers.skyrl import register_environments


def my_model(chat: list[dict[str, str]]) -> str:
    """Call your sampler here."""
    return '{"emotions": [{"emotion": "Upset", "intensity": 4}], "picks": {"1": "A"}}'


def play(row: dict[str, Any]) -> None:
    """Plays a row to its end and prints what it earned."""
    env = skyrl_gym.make(row["env_class"], env_config={}, extras=row)
    chat, _ = env.init(row["prompt"])
    done = False
    while not done:
        answer = my_model(chat)
        step = env.step(answer)
        chat = [*chat, {"role": "assistant", "content": answer}, *step["observations"]]
        done = step["done"]
    metrics = env.get_metrics()
    print(f"{row['env_class']}: {len(chat)} messages, return {metrics['return']:.3f}, "
          f"parse rate {metrics['parse_rate']:.2f}")  # fmt: skip


def main() -> int:
    """One of each."""
    register_environments()
    play(to_skyrl(training_dataset("sample"))[0])
    play(to_skyrl(conversation_rows(load("sample"), reward="composite"))[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
