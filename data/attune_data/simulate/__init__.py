"""Simulated participants: an endless, seeded world of people, conversations and annotations.

One concept a file: levels (the dial), person, mood, story, messages, acts, replies, constructs, wishes,
choices, afterwards; `conversation` puts them together, `stream` numbers them. The texts lie in `text/`.
"""

from attune_data.simulate.levels import LEVELS, Level
from attune_data.simulate.stream import Simulation, simulate

__all__ = ["LEVELS", "Level", "Simulation", "simulate"]
