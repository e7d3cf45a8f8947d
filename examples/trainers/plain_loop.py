"""A policy-gradient loop without any framework: rows, sampled replies, rewards by `score_row`.

The "model" is the smallest there is: a distribution over 21 answers, one of the 20 feelings or none, whatever
the prompt says. So it learns the best that a model can earn without reading. `skill` measures from there: on
participants never trained on, its reward rises to about 0 and cannot rise further.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from attune_data.format.affect import EMOTIONS
from attune_env import RewardSpec, load, split
from attune_episodes.training import score_row, training_dataset

GROUP = 8  # replies to a prompt
ANSWERS = [json.dumps({"emotions": []})] + [
    json.dumps({"emotions": [{"emotion": name, "intensity": 4}]}) for name in EMOTIONS
]
SKILL = RewardSpec.preset("skill")
FEELINGS = RewardSpec.preset("emotion").measured_from(
    {name: SKILL.baselines[name] for name in ("emotion_f1", "emotion_va")}, SKILL.reference
)


def main(steps: int = 400) -> int:
    """Train on some participants of the written corpus, and print the mean reward on others on the way."""
    rows, others = (
        training_dataset(part, stages=["assess"], prompts="compact", reward=FEELINGS)
        for part in split(load("written:train"), {"learn": 0.5, "test": 0.5}).values()
    )
    earned = np.array([[score_row(row, answer).value for answer in ANSWERS] for row in others])
    draw = np.random.default_rng(0)
    logits = np.zeros(len(ANSWERS))

    def chances() -> np.ndarray:
        weights = np.exp(logits - logits.max())
        return np.asarray(weights / weights.sum())

    for step in range(steps):
        if step % 100 == 0:
            print(f"step {step}: held-out reward {(earned @ chances()).mean():.2f}")
        row = rows[step % len(rows)]
        chosen = draw.choice(len(ANSWERS), size=GROUP, p=chances())
        rewards = np.array([score_row(row, ANSWERS[choice]).value for choice in chosen])
        for choice, advantage in zip(chosen, rewards - rewards.mean(), strict=True):
            logits += 0.1 * advantage * (np.eye(len(ANSWERS))[choice] - chances())
    print(f"step {steps}: held-out reward {(earned @ chances()).mean():.2f}")
    best = ANSWERS[chances().argmax()]
    print(
        f"It reads nothing, so one answer must fit everybody; in {chances().max():.0%} of all cases: {best}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
