"""Your own reward: the Composite plus the accuracy of the feelings' intensities.

Run it to check the reward against its contract, then audit it:

    python examples/custom_reward.py
    attune rewards audit --spec examples/custom_reward.py --data written
"""

from attune_env import RewardSpec
from attune_env.testing import check_reward
from attune_rewards import Assess, Prediction
from attune_rewards.metrics import emotion
from attune_rewards.truth import ConversationTruth, TurnTruth


def intensity(truth: ConversationTruth, turn: TurnTruth | None, said: Prediction) -> float:
    """F1 of the feelings, multiplied by how close their intensities are (1 − error/6)."""
    if turn is None or turn.tags is None:
        return 1.0  # nothing to be wrong about: whatever is said is right
    if not isinstance(said, Assess) or said.tags is None:
        return 0.0
    return emotion.f1_intensity(turn.tags, said.tags)


reward = RewardSpec.preset("composite").with_part("intensity", "assess", intensity, weight=0.1)

if __name__ == "__main__":
    check_reward(reward, empty_at_most=0.15)
    print(f"{reward.name}: {len(reward.parts)} parts, keeps the contract of a reward")
