"""Ctrl-C before a command has begun its work: one line, exit code 130, and no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests import PATIENCE
from tests.command import loaded_by

ROOT = Path(__file__).parents[2]
INTERRUPT = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(600)\n"


@pytest.mark.parametrize(("module", "says"), [("typer", "stopped\n"), ("pydantic", "")])
def test_ctrl_c_while_modules_are_imported_first_and_inside_a_command(
    module: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / f"{module}.py").write_text(INTERRUPT)
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "attune_env", "run", "builtin", "empty", "sample"],
        capture_output=True, encoding="utf-8", cwd=tmp_path, env={**os.environ, "PYTHONPATH": path},
        timeout=PATIENCE, preexec_fn=_listens,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", says)


def _listens() -> None:
    """A job in the background of a shell is started with Ctrl-C ignored; this process is none."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_the_installed_command_starts_there() -> None:
    """An entry point whose module is heavy cannot catch what comes while it loads."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert scripts == {"attune": "attune_data.starting:main"}
    loaded = loaded_by("import attune_data.starting")
    assert not {"pydantic", "typer", "asyncio", "gymnasium", "numpy"} & loaded
