"""Playing a conversation: an episode step by step, and whole rollouts with a policy.

`task`, `asking` and `logs` are for other programs that play: what they get, how they ask, what they recorded.
"""
