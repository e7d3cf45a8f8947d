"""Reads replies: answers the benchmark's yes/no questions about them, with probabilities and evidence.

`reader(name)` gives a reader, `reader(…).read(Exchange(message, reply, history))` a `Reading`, and
`read_message(message)` the feelings that a message shows and the details it tells.
"""

from attune_episodes.reading.endpoint import EndpointReader
from attune_episodes.reading.exchange import Exchange
from attune_episodes.reading.message import MessageReading, read_message
from attune_episodes.reading.readers import READERS, reader
from attune_episodes.reading.reading import Claim, Reader, Reading, Span
from attune_episodes.reading.strict import strict

__all__ = [
    "READERS",
    "Claim",
    "EndpointReader",
    "Exchange",
    "MessageReading",
    "Reader",
    "Reading",
    "Span",
    "read_message",
    "reader",
    "strict",
]
