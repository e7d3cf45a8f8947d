"""Action and observation, where OpenEnv looks for them."""

from attune_episodes.openenv_env import AttuneAction, AttuneObservation

__all__ = ["AttuneAction", "AttuneObservation"]
