"""Parquet files for verl, its reward function tried on them, and the options that name both.

Prints the command and does not run it: verl needs a GPU.
"""

from __future__ import annotations

import sys
from pathlib import Path

from attune_episodes.trainers import to_verl, training_dataset
from attune_episodes.trainers.verl import compute_score

OPTIONS = (
    "reward.custom_reward_function.path=pkg://attune_episodes.trainers.verl",
    "reward.custom_reward_function.name=compute_score",
    "algorithm.adv_estimator=grpo",
)


def main(folder: str, conversations: int = 20) -> int:
    """Writes train.parquet and val.parquet, of different people."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    files = {"train": target / "train.parquet", "val": target / "val.parquet"}
    for seed, path in enumerate(files.values(), 1):
        rows = to_verl(training_dataset(world_seed=seed, number=conversations, prompts="compact"))
        rows.to_parquet(path)
        print(f"{len(rows)} rows in {path}")
    first = rows[0]
    scored = compute_score(first["data_source"], "no JSON", first["reward_model"]["ground_truth"])
    print({name: value for name, value in scored.items() if value is not None})
    data = [f"data.{name}_files={path}" for name, path in files.items()]
    print(" \\\n  ".join(["python -m verl.trainer.main_ppo", *data, *OPTIONS]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "verl-data"))
