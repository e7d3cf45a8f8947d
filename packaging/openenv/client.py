"""The client of a session, where OpenEnv looks for it."""

from attune_episodes.openenv_env import AttuneClient

__all__ = ["AttuneClient"]
