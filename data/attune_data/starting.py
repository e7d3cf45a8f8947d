"""Start the command `attune`; Ctrl-C works even before anything heavy is imported.

It is in the lowest layer, because importing `attune_env` imports Gymnasium.
"""

from __future__ import annotations

import os
import signal
from importlib import import_module
from types import FrameType
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line.

    Ctrl-C during the imports ends the process at once; as a KeyboardInterrupt in the middle of an import, it
    would show a traceback or get lost.
    """
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raises:  # it may be ignored already, as in a background job
        signal.signal(signal.SIGINT, _leave)
    command_line = import_module("attune_env.cli").main
    if raises:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    raise SystemExit(command_line())


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"stopped\n")
    os._exit(130)
