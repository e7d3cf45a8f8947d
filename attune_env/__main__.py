"""The command `attune` and `python -m attune_env`: answers to Ctrl-C before anything else is imported."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn


def main() -> NoReturn:
    """Runs the command line.

    Ctrl-C during its imports ends the process at once: raised as KeyboardInterrupt in the middle of an
    import, it comes out as a traceback or gets lost.
    """
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raises:  # it may be ignored, as in a background job
        signal.signal(signal.SIGINT, _leave)
    from attune_env.cli import main as command_line

    if raises:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command_line()


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"stopped\n")
    os._exit(130)


if __name__ == "__main__":
    main()
