"""Play people and check what was played; the mechanism is in `attune_episodes.people`."""
