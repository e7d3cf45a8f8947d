"""The folder `packaging/openenv`: OpenEnv's own validation, offline and of the running server."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "server.app"],
        cwd=FOLDER, env={**_environment(), "PORT": "0"}, stdout=subprocess.PIPE, encoding="utf-8",
    ) as server:  # fmt: skip
        assert server.stdout is not None
        url = server.stdout.readline().strip().replace("0.0.0.0", "127.0.0.1")
        try:
            report = openenv_cli.validate_running_environment(url, timeout_s=60)
        finally:
            server.terminate()
    assert report["passed"], report
    assert server.returncode == 0


def _environment() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if not name.startswith("ATTUNE_")}
