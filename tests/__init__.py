"""The tests of the whole project."""

from typing import Final

PATIENCE: Final = 600.0
"""Seconds that a test waits for another process or thread at most: no machine that works needs as long."""
