"""Prime's own command, from its own venv, against a server on loopback that plays the Hub's API."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from attune_episodes.frameworks.verifiers import rollouts_from
from tests.documents import LINK, ROOT
from tools.check_release import check_episodes, environment

PRIME = "prime>=0.18,<0.19"
Json = dict[str, Any]


class Hub(BaseHTTPRequestHandler):
    """Answers as the Hub does, and keeps what it is given."""

    told: ClassVar[dict[str, Json]]
    """Kind ("wheels", "versions", "hosted-evaluations") -> what was announced."""
    uploads: ClassVar[dict[str, bytes]]

    def do_GET(self) -> None:
        self._answer({"data": {"id": "env-1", "owner": {"name": "somebody"}, "name": "attune-env"}})

    def do_POST(self) -> None:
        given = self._body()
        last = self.path.rpartition("/")[2]
        if last == "traces":
            self.uploads[last] = given
            self._answer({"upload_id": "0" * 64, "status": "committed"})
            return
        body = json.loads(given or b"{}")
        if last == "hosted-evaluations":
            self.told[last] = body
            self._answer({"evaluation_id": "evaluation-1"})
            return
        upload = f"http://{self.headers['Host']}/upload/{last}"
        answers: dict[str, Json] = {
            "resolve": {"id": "env-1", "owner": {"name": "somebody"}, "created": True},
            "wheels": {"wheel_id": "wheel-1", "upload_url": upload},
            "versions": {"version_id": "version-1", "upload_url": upload},
            "finalize": {"success": True},
        }
        if last in ("wheels", "versions"):
            self.told[last] = body
        self._answer({"data": answers[last]})

    def do_PUT(self) -> None:
        self.uploads[self.path.rpartition("/")[2]] = self._body()
        self._answer({})

    def log_message(self, *_: Any) -> None:
        """Prints nothing."""

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _answer(self, body: Json) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


@contextmanager
def hub() -> Iterator[tuple[str, type[Hub]]]:
    """The server's URL and what it is given."""

    class Keeping(Hub):
        told: ClassVar[dict[str, Json]] = {}
        uploads: ClassVar[dict[str, bytes]] = {}

    with ThreadingHTTPServer(("127.0.0.1", 0), Keeping) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", Keeping
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def prime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prime's command; its requirements would not go with ours."""
    venv = tmp_path_factory.mktemp("prime")
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip = (str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run([*pip, PRIME], check=True)
    return venv / "bin" / "prime"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub") / "attune-env"
    subprocess.run([sys.executable, "-m", "tools.hub_folder", folder], cwd=ROOT, check=True)
    return folder


def told_by(prime: Path, *arguments: str, folder: Path, home: Path) -> tuple[str, type[Hub]]:
    """What Prime's command prints in a folder, and what the Hub is given."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PRIME", "PYTHON", "VIRTUAL_ENV"))}
    with hub() as (url, given):
        env = clean | {
            "HOME": str(home), "PRIME_API_KEY": "a-key-that-nobody-has", "PRIME_BASE_URL": url,
            "PRIME_TRACES_URL": url, "PRIME_DISABLE_VERSION_CHECK": "1", "NO_COLOR": "1",
        }  # fmt: skip
        done = subprocess.run(
            [prime, *arguments], cwd=folder, env=env, stdin=subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", timeout=600,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout, given


def push(prime: Path, folder: Path, home: Path, *options: str) -> type[Hub]:
    """What the Hub is given by `prime env push` in a folder."""
    said, given = told_by(prime, "env", "push", *options, folder=folder, home=home)
    assert "Successfully pushed somebody/attune-env" in said
    return given


def test_a_push_has_version_licence_tags_and_a_readme_without_dead_links(
    prime: Path, made: Path, tmp_path: Path
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    given = push(prime, made, tmp_path)
    for told in given.told.values():
        assert told["semantic_version"] == project["version"]
        assert told["runtime_hint"] == "VERIFIERS_V1"
        shown = told["metadata"]
        assert (shown["description"], shown["license"]) == (project["description"], "MIT")
        assert shown["tags"] == project["tags"]
    assert given.told["wheels"]["filename"] == f"attune_env-{project['version']}-py3-none-any.whl"
    name = given.told["versions"]["filename"]
    assert re.fullmatch(rf"attune-env-{re.escape(project['version'])}-[0-9a-f]{{8}}\.tar\.gz", name)
    with tarfile.open(fileobj=BytesIO(given.uploads["versions"])) as archive:
        archive.extractall(tmp_path / "pulled", filter="data")
    pulled = tmp_path / "pulled"
    assert not (pulled / "outputs").exists()  # docs/releasing.md says how they get there
    assert (pulled / "attune_env" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    readme = (pulled / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# attune-env")
    assert LINK.findall(readme) == []
    # what `prime env install` does with a private environment: a wheel from the archive alone
    built = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path / "built"), str(pulled)]
    subprocess.run(built, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = (tmp_path / "built").iterdir()
    assert wheel.name == given.told["wheels"]["filename"]
    # with what pip selects; `check_extras` runs verifiers' own tests with the oldest and the newest release
    check_episodes(environment(tmp_path / "venv", wheel), tmp_path / "play")


def test_a_push_can_raise_the_version(prime: Path, made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "attune-env"
    shutil.copytree(made, folder)
    given = push(prime, folder, tmp_path, "--auto-bump")
    old = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    major, minor, patch = old.split(".")
    assert {told["semantic_version"] for told in given.told.values()} == {f"{major}.{minor}.{int(patch) + 1}"}


def test_the_cards_commands_are_those_of_prime_and_verifiers(prime: Path, made: Path, tmp_path: Path) -> None:
    card = (made / "README.md").read_text(encoding="utf-8").replace("\\\n", " ")
    commands = [shlex.split(line) for line in card.splitlines() if re.match("(prime eval|vf-eval) ", line)]
    by_name = {name: [c[1:] for c in commands if c[0] == name] for name in ("prime", "vf-eval")}
    (hosted,) = by_name["prime"]
    _, given = told_by(prime, *hosted, folder=tmp_path, home=tmp_path)
    assert given.told["hosted-evaluations"]["eval_config"]["num_examples"] == 3
    assert len(by_name["vf-eval"]) == 2
    for arguments in by_name["vf-eval"]:
        command = [str(Path(sys.executable).with_name("vf-eval")), *arguments, "--dry-run"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_example_outputs_are_what_the_review_asks_for_and_can_be_uploaded(
    prime: Path, made: Path, tmp_path: Path
) -> None:
    (run,) = (made / "outputs").iterdir()
    played = [one.total for one in rollouts_from(run)]
    assert len(played) == 15
    card = (made / "README.md").read_text(encoding="utf-8")
    assert f"outputs/{run.name}" in card
    assert {f"{total:.3f}" for total in played} <= set(re.findall(r"0\.\d{3}", card))
    everything = "".join(file.read_text("utf-8") for file in run.rglob("*") if file.is_file())
    assert str(ROOT) not in everything
    assert str(made) not in everything
    traces = str(run / "traces.jsonl")
    _, given = told_by(prime, "traces", "upload", "--episodes", traces, folder=tmp_path, home=tmp_path)
    assert given.uploads["traces"]
