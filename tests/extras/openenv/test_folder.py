"""The folder `packaging/openenv`: OpenEnv's own validation, offline and of the running server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests import PATIENCE

openenv_cli = pytest.importorskip("openenv.cli._validation")

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "packaging" / "openenv"


def test_openenv_takes_the_folder(tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "attune_env")
    (folder / "uv.lock").touch()  # made by `uv lock`, and not kept
    assert openenv_cli.validate_multi_mode_deployment(folder) == (True, [])
    assert all(openenv_cli.get_deployment_modes(folder).values())


def test_the_dockerfile_copies_what_exists_and_runs_the_server_that_openenv_accepts() -> None:
    lines = (FOLDER / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [line.split()[1] for line in lines if line.startswith("COPY")]
    assert all((ROOT / name).is_dir() for name in copied)
    assert lines[-1] == 'CMD ["python", "-m", "server.app"]'
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ATTUNE_")}
    with subprocess.Popen(
        [sys.executable, "-m", "server.app"], cwd=FOLDER, env={**environment, "PORT": str(port)}
    ) as server:
        try:
            until = time.monotonic() + PATIENCE
            while server.poll() is None and time.monotonic() < until:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.1)
            report = openenv_cli.validate_running_environment(f"http://127.0.0.1:{port}", timeout_s=60)
        finally:
            server.terminate()
    assert report["passed"], report
