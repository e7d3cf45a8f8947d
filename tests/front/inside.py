"""Moved to `tests.command`."""

from tests.command import attune_here as attune_here
