"""Moved to `tests.command`."""

from tests.command import *  # noqa: F403
from tests.command import ATTUNE as ATTUNE
