"""The command before and after its work: closed streams, and Ctrl-C where it becomes another error."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import PATIENCE
from tests.command import ATTUNE, loaded_by

CLOSED = (">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-")


@pytest.mark.skipif(shutil.which("sh") is None, reason="sh closes the streams")
@pytest.mark.parametrize("line", ["--version", "view sample-01", "data stats sample"])
def test_a_closed_stream_is_no_error(line: str, tmp_path: Path) -> None:
    commands = " && ".join(f"{ATTUNE} {line} {closed}" for closed in CLOSED)
    done = subprocess.run(["sh", "-c", commands], capture_output=True, encoding="utf-8", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "rror" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_stream_that_takes_nothing_is_a_sentence(tmp_path: Path) -> None:
    done = subprocess.run(["sh", "-c", f"{ATTUNE} data stats sample >/dev/full"], capture_output=True)
    assert (done.returncode, done.stderr) == (1, b"error: No space left on device\n")


@pytest.mark.parametrize("becomes", ["raise", "raise ImportError('broken') from error", "raise OSError('x')"])
def test_ctrl_c_that_an_import_turns_into_another_error_is_still_ctrl_c(becomes: str, tmp_path: Path) -> None:
    command = f"""
        import os, signal, sys
        from attune_data import starting

        class Found:
            def main(self):
                try:
                    os.kill(os.getpid(), signal.SIGINT)
                    while True: pass
                except KeyboardInterrupt as error:
                    {becomes}

        sys.modules["attune_env.cli"] = Found()
        starting.main()
    """
    lines = "\n".join(line[8:] for line in command.splitlines())
    done = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, encoding="utf-8", cwd=tmp_path, timeout=PATIENCE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), env={**os.environ},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")


def test_nothing_slow_is_imported_before_ctrl_c_is_watched() -> None:
    assert not {"email", "numpy", "typer"} & loaded_by("import attune_data.starting")


def test_the_end_of_a_run_imports_no_scipy() -> None:
    """It would take longer than stopping may."""
    ends = "import attune_env.cli.run, attune_env.running.served, attune_env.cli.watching as watching\n"
    ends += "from types import SimpleNamespace\nprint(watching.rates(SimpleNamespace("
    ends += "error_rate=0.01, parse_rate=None)), file=__import__('sys').stderr)"
    assert not {"scipy", "pandas", "matplotlib", "datasets"} & loaded_by(ends)
