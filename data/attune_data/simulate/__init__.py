"""Simulated participants: an endless, seeded world of people, conversations and annotations.

Read person, story, messages, acts, replies, constructs, choices, afterwards; `turn` puts them together,
`stream` numbers the conversations. The texts are in `text/`.
"""

from attune_data.simulate.stream import LEVELS, Level, Simulation, simulate

__all__ = ["LEVELS", "Level", "Simulation", "simulate"]
