"""What a conversation is: schema, codebook, affect space, loading, the bundled sample."""

from attune_data.errors import AttuneError, DataError, Problem, SettingsError, UnknownNameError
from attune_data.guard import BenchmarkTrainingError, for_training
from attune_data.loading import SAMPLE, Conversations, fingerprint, load
from attune_data.schema import Conversation, Turn
from attune_data.version import __version__

__all__ = [
    "SAMPLE",
    "AttuneError",
    "BenchmarkTrainingError",
    "Conversation",
    "Conversations",
    "DataError",
    "Problem",
    "SettingsError",
    "Turn",
    "UnknownNameError",
    "__version__",
    "fingerprint",
    "for_training",
    "load",
]
