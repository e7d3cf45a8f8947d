"""The lock of a journal: one run at a time, and the system drops it with the process, however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from attune_data.errors import DataError, Problem, SettingsError


def lock(file: int, path: Path) -> None:
    """Locks an open file for this process; SettingsError where another has it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, 2**40, os.SEEK_SET)  # a place beyond all lines: readers are not kept out
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        raise SettingsError(
            f"another run of this model writes to {path.parent} (it holds {path.name}); "
            "wait until it ends, or choose another -o"
        ) from None
    except OSError as error:
        raise DataError(
            Problem(str(path), "", f"a file that cannot be locked ({error.strerror})",
                    "a folder on a disk with file locks", "choose another -o")
        ) from error  # fmt: skip
