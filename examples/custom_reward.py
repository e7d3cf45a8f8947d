"""Your own reward: skill, plus picks weighted by a rule, plus drafts that name what the person felt.

Run it to check the reward against its contract, then audit it:

    python examples/custom_reward.py
    attune rewards audit --reward examples/custom_reward.py
"""

from attune_env import RewardSpec
from attune_env.testing import check_reward
from attune_rewards import Draft, Prefer
from attune_rewards.truth import ConversationTruth, TurnTruth

COUNTS = {"general": 3.0}
"""Comparison question -> what a right pick is worth; 1 for the others."""


def weighted_picks(truth: ConversationTruth, turn: TurnTruth, said: Prefer) -> float:
    """The share of right picks, among which the overall question counts three times."""
    worth = {index: COUNTS.get(turn.comparisons[index].question_id, 1.0) for index, _ in turn.winners}
    right = [worth[index] for index, winner in turn.winners if said.picks.get(index) == winner]
    return sum(right) / sum(worth.values())


def has_winners(truth: ConversationTruth, turn: TurnTruth) -> bool:
    """Whether any comparison of this turn has a winner."""
    return bool(turn.winners)


def names_the_feeling(truth: ConversationTruth, turn: TurnTruth, said: Draft) -> float:
    """The share of the person's feelings that the draft names."""
    felt, written = turn.tags or (), said.text.lower()
    return sum(tag.emotion.lower() in written for tag in felt) / len(felt)


def has_feelings(truth: ConversationTruth, turn: TurnTruth) -> bool:
    """Whether the person named a feeling in this turn."""
    return bool(turn.tags)


reward = (
    RewardSpec.preset("skill")
    .with_part("weighted_picks", "prefer", weighted_picks, weight=0.2, annotated=has_winners)
    .with_part("names_the_feeling", "draft", names_the_feeling, weight=0.1, annotated=has_feelings)
)

if __name__ == "__main__":
    check_reward(reward)
    print(f"{reward.name}: {len(reward.parts)} parts, keeps the contract of a reward")
