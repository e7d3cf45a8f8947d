"""The command line in this process: what a person types, what both streams say, how it exits."""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
from pathlib import Path
from unittest.mock import patch

from attune_env.cli import main


def attune_here(line: str | list[str | Path], cwd: Path, code: int = 0) -> tuple[str, str]:
    """Runs `attune …` in a folder, without a new process; returns both streams."""
    words = shlex.split(line) if isinstance(line, str) else list(map(str, line))
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        patch.object(sys, "argv", ["attune", *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            found = ended.code
    assert found == code, (found, out.getvalue(), err.getvalue())
    return out.getvalue(), err.getvalue()
