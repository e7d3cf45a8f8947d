"""The client of a session, where OpenEnv looks for it."""

from attune_episodes.frameworks.openenv import AttuneClient

__all__ = ["AttuneClient"]
