"""Playing a conversation: an episode step by step, whole rollouts, and their result records."""
