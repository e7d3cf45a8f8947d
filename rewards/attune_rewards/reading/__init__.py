"""Reads replies: answers the benchmark's yes/no questions about them from their words.

`reader(name)` gives a reader, and `reader(…).read(Exchange(message, reply, history))` its answers. Nothing
imports this until a draft is to be read.
"""

from attune_rewards.reading.exchange import Exchange
from attune_rewards.reading.readers import READERS, Reader, reader

__all__ = ["READERS", "Exchange", "Reader", "reader"]
