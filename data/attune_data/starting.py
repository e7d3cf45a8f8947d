"""Start the command `attune`; Ctrl-C and closed streams do no harm even before anything heavy is imported.

It is in the lowest layer, because importing `attune_env` imports Gymnasium.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module

TYPE_CHECKING = False  # not from typing, whose import takes longer than everything here
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line.

    Ctrl-C during the imports ends the process at once, and so it does once the command is over; as a
    KeyboardInterrupt in the middle of an import or at exit, it would show a traceback or get lost.
    """
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raises:  # it may be ignored already, as in a background job
        signal.signal(signal.SIGINT, _leave)
    _open_streams()
    command_line = import_module("attune_env.cli").main
    try:
        if raises:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        raise SystemExit(command_line())
    except BaseException as error:
        if raises:
            signal.signal(signal.SIGINT, _leave)
        if _interrupted(error):
            _leave()
        raise


def _leave(number: int = signal.SIGINT, frame: FrameType | None = None) -> NoReturn:
    os.write(2, b"stopped\n")
    os._exit(130)


def _interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error; modules that it interrupts turn it into errors of their own."""
    while error is not None and not isinstance(error, SystemExit):
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _open_streams() -> None:
    """Connect standard streams that the shell closed (`>&-`) to nothing.

    Otherwise the next file that is opened would take the place of standard output.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))
