"""attune-env: AttuneBench as a Gym-style environment and a reward library."""

from attune_data.version import __version__

__all__ = ["__version__"]
