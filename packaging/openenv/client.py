"""The client of a session, under the names by which OpenEnv's AutoEnv and AutoAction look for it."""

from attune_episodes.frameworks.openenv import AttuneAction, AttuneClient, AttuneObservation

AttuneEnv = AttuneClient

__all__ = ["AttuneAction", "AttuneClient", "AttuneEnv", "AttuneObservation"]
