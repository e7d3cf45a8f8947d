"""Action and observation, where OpenEnv looks for them."""

from attune_episodes.frameworks.openenv import AttuneAction, AttuneObservation

__all__ = ["AttuneAction", "AttuneObservation"]
