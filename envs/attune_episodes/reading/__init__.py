"""Reads replies: answers the benchmark's yes/no questions about them from their words.

`reader(name)` gives a reader, and `reader(…).read(Exchange(message, reply, history))` its answers.
"""

from attune_episodes.reading.endpoint import EndpointReader
from attune_episodes.reading.exchange import Exchange
from attune_episodes.reading.readers import READERS, Reader, reader

__all__ = ["READERS", "EndpointReader", "Exchange", "Reader", "reader"]
