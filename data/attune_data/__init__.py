"""Conversations: schema, codebook, affect space, loading, the bundled sample.

The public names load on first use, so that the command line reacts to Ctrl-C before anything heavy is loaded.
"""

from attune_data.lazy import lazy_names

TYPE_CHECKING = False  # not from typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from attune_data.errors import AttuneError, DataError, Problem, SettingsError, UnknownNameError
    from attune_data.files.conversations import Conversations
    from attune_data.format.fingerprint import fingerprint
    from attune_data.format.schema import Conversation, Turn
    from attune_data.source.guard import BenchmarkTrainingError, for_training
    from attune_data.source.load import SAMPLE, load
    from attune_data.version import __version__

_HOME = {
    **dict.fromkeys(
        ["AttuneError", "DataError", "Problem", "SettingsError", "UnknownNameError"], "attune_data.errors"
    ),
    **dict.fromkeys(["BenchmarkTrainingError", "for_training"], "attune_data.source.guard"),
    **dict.fromkeys(["SAMPLE", "load"], "attune_data.source.load"),
    "Conversations": "attune_data.files.conversations",
    **dict.fromkeys(["Conversation", "Turn"], "attune_data.format.schema"),
    "__version__": "attune_data.version",
    "fingerprint": "attune_data.format.fingerprint",
}
"""Public name -> the module that defines it."""

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

__getattr__, __dir__ = lazy_names(__name__, _HOME)
