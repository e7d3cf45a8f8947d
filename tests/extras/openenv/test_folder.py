"""The folder that `make openenv` makes, through OpenEnv's commands validate, build and push; its server.

There is no Docker here: a program of that name keeps what it is given to build from, and what it is told.
"""

from __future__ import annotations

import base64
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml  # type: ignore[import-untyped]
from packaging.requirements import Requirement

from attune_data import load
from attune_episodes.frameworks.openenv import AttuneClient
from attune_rewards.reward.spec import RewardSpec
from tests import PATIENCE
from tests.extras.openenv.serving import served
from tools.openenv_folder import BESIDE

ROOT = Path(__file__).resolve().parents[3]
OPENENV = Path(sys.executable).with_name("openenv")
DOCKER = """#!/bin/sh
for context; do :; done
cp -r "$context" "$KEPT/context"
printf '%s\\n' "$*" > "$KEPT/command"
"""


def openenv(*arguments: str | Path, **environment: str) -> str:
    """The output of a command, which must succeed."""
    done = subprocess.run(
        [OPENENV, *arguments],
        capture_output=True, encoding="utf-8", timeout=PATIENCE, env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def files(place: Path) -> dict[str, bytes]:
    """Path -> contents, as pushed."""
    found = {path.relative_to(place).as_posix(): path for path in place.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if "__pycache__" not in name}


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    lines = [line for line in dockerfile.splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def test_openenv_validates_the_folder(folder: Path) -> None:
    """Without building the image, where the release builds one; `test_grades.py` runs what needs it."""
    skip = ("--skip-build",) if find_spec("openenv.validation") else ()
    told = openenv("validate", folder, *skip)
    assert "FAIL" not in told
    assert ("Verdict" in told) or ("Ready for multi-mode deployment" in told)


def test_the_declared_range_is_that_of_the_reward_which_is_served(folder: Path) -> None:
    manifest = yaml.safe_load((folder / "openenv.yaml").read_text(encoding="utf-8"))
    low, high = manifest["validation"]["reward"]["range"]
    baselines = RewardSpec.preset("skill").baselines.values()
    worst = min(-baseline / (1 - baseline) for baseline in baselines)
    assert low <= worst < low + 0.1
    assert high == 1
    assert manifest["version"] == tomllib.loads((folder / "pyproject.toml").read_text())["project"]["version"]


def test_the_image_is_built_from_the_folder_alone(folder: Path, tmp_path: Path) -> None:
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(DOCKER, encoding="utf-8")
    docker.chmod(0o755)
    path = f"{docker.parent}{os.pathsep}{os.environ['PATH']}"
    openenv("build", folder, "-t", "attune-env", PATH=path, KEPT=str(tmp_path))
    context = tmp_path / "context"
    assert files(context) == files(folder)
    command = shlex.split((tmp_path / "command").read_text(encoding="utf-8"))
    dockerfile = command[command.index("-f") + 1]
    assert Path(dockerfile).parent == Path(command[-1])  # so it is the context's own
    steps = instructions((context / "Dockerfile").read_text(encoding="utf-8"))
    sources = [source for name, rest in steps if name == "COPY" for source in rest.split()[:-1]]
    assert sources == ["."]
    assert ("RUN", "pip install --no-cache-dir .") in steps
    assert not any(path.is_symlink() for path in context.rglob("*"))
    project = tomllib.loads((context / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for requirement in map(
        Requirement, project["dependencies"]
    ):  # from an index, never from beside the folder
        assert requirement.url is None
        assert requirement.specifier.contains(version(requirement.name), prereleases=True)
    for name in (project["readme"], *project["license-files"]):
        assert (context / name).is_file()


AUTO = """
import sys
from openenv import AutoAction, AutoEnv
with AutoEnv.from_env("attune-env", base_url=sys.argv[1]).sync() as env:
    env.reset(seed=0)
    print(env.step(AutoAction.from_env("attune_env")(message="?")).observation.status)
"""


@pytest.mark.slow
def test_pip_installs_the_four_floors_and_the_server_and_autoenv_finds_the_client(
    folder: Path, tmp_path: Path
) -> None:
    """A wheel of the folder alone, as the image and a Space's users install it."""
    context = shutil.copytree(folder, tmp_path / "context")
    made = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", ".", "--wheel-dir", tmp_path)
    subprocess.run(made, cwd=context, check=True, timeout=PATIENCE)
    (wheel,) = tmp_path.glob("openenv_attune_env-*.whl")
    shutil.unpack_archive(wheel, tmp_path / "held", "zip")
    held = files(tmp_path / "held")
    floors = ("attune_env/", "attune_data/", "attune_rewards/", "attune_episodes/")
    expected = {name for name in files(context) if name.startswith(floors)}
    expected |= {f"attune_env/{name}" for name in files(context) if name.split("/")[0] in BESIDE}
    assert {name for name in held if name.startswith(floors)} == expected
    cache = dict.fromkeys(("XDG_CACHE_HOME", "TMPDIR"), str(tmp_path))  # of the newest and the oldest OpenEnv
    environment = {**os.environ, **cache, "PYTHONPATH": str(tmp_path / "held")}
    with served() as url:
        done = subprocess.run(
            [sys.executable, "-c", AUTO, url],
            cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=PATIENCE, env=environment,
        )  # fmt: skip
    assert done.stdout == "ok\n", done.stderr


def test_its_server_starts_in_the_context_and_openenv_and_a_client_accept_it(
    folder: Path, tmp_path: Path
) -> None:
    context = shutil.copytree(folder, tmp_path / "env")
    steps = dict(instructions((context / "Dockerfile").read_text(encoding="utf-8")))
    interpreter, *rest = json.loads(steps["CMD"])
    assert interpreter == "python"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ATTUNE_")}
    where = [sys.executable, "-c", "import attune_episodes; print(attune_episodes.__file__)"]
    used = subprocess.run(where, cwd=context, capture_output=True, encoding="utf-8", check=True).stdout
    assert Path(used.strip()).is_relative_to(context)
    with subprocess.Popen(
        [sys.executable, *rest], cwd=context, env={**environment, "PORT": str(port)}, stderr=subprocess.PIPE
    ) as server:
        assert server.stderr is not None
        try:
            for line in server.stderr:
                if b"Uvicorn running" in line:
                    break
            threading.Thread(target=server.stderr.read, daemon=True).start()
            url = f"http://127.0.0.1:{port}"
            openenv("validate", "--url", url, "--timeout", "60")
            first = load("written:train")[0].conversation_id
            with AttuneClient(base_url=url).sync() as client:
                result = client.reset(conversation_id=first)
                while not result.done:
                    result = client.step("I would rather not say.")
                assert result.observation.total_name == "skill"
                assert -7.3 <= result.observation.total < 0
        finally:
            server.terminate()


class Hub(BaseHTTPRequestHandler):
    """A stand-in for the Hugging Face Hub: answers `openenv push` and keeps the commit's files."""

    pushed: ClassVar[dict[str, bytes]]

    def do_GET(self) -> None:
        self.answer({"name": "someone", "type": "user", "auth": {"accessToken": {"role": "write"}}})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.path.endswith("/repos/create"):
            self.answer({"url": f"{self.server_url}/spaces/someone/attune_env", "id": "1"})
        elif "/preupload/" in self.path:
            asked = json.loads(body)["files"]
            self.answer({"files": [{"path": f["path"], "uploadMode": "regular", "shouldIgnore": False}
                                   for f in asked]})  # fmt: skip
        elif "/commit/" in self.path:
            for line in body.splitlines():
                entry = json.loads(line)
                if entry["key"] == "file":
                    self.pushed[entry["value"]["path"]] = base64.b64decode(entry["value"]["content"])
            self.answer({"success": True, "commitOid": "0" * 40, "commitUrl": f"{self.server_url}/c/0",
                         "hookOutput": ""})  # fmt: skip
        else:
            self.answer({})

    @property
    def server_url(self) -> str:
        return f"http://{self.headers['Host']}"

    def answer(self, what: Any) -> None:
        data = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def hub() -> Iterator[tuple[str, dict[str, bytes]]]:
    class Kept(Hub):
        pushed: ClassVar[dict[str, bytes]] = {}

    server = ThreadingHTTPServer(("127.0.0.1", 0), Kept)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", Kept.pushed
    finally:
        server.shutdown()
        thread.join(PATIENCE)
        server.server_close()


def test_a_space_gets_the_folder_as_it_is(
    folder: Path, hub: tuple[str, dict[str, bytes]], tmp_path: Path
) -> None:
    """Its card says what a Space is, and neither it nor the Dockerfile is changed for a web interface."""
    url, pushed = hub
    openenv("push", folder, "--private", HF_ENDPOINT=url, HF_TOKEN="hf_x", HF_HOME=str(tmp_path))
    assert pushed == files(folder)
    _, front, _ = pushed["README.md"].decode().split("---\n", 2)
    card = yaml.safe_load(front)
    assert (card["sdk"], card["app_port"], card["tags"]) == ("docker", 8000, ["openenv"])
    assert "base_path" not in card
