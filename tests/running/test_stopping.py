"""Ctrl-C and SIGTERM: what is in flight, what is kept, what is said."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import PATIENCE
from tests.endpoint import EndpointProcess, endpoint_process
from tests.front.command import ATTUNE, attune, data_folder
from tests.running.test_journal import journal_calls


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EndpointProcess, Path]]:
    data = data_folder(tmp_path_factory.mktemp("stopping") / "data", [f"c-{n}" for n in range(6)])
    with endpoint_process("--data", data, "--latency-ms", "400", "--policy", "always-no") as server:
        yield server, data


def start(server: EndpointProcess, data: Path, out: Path) -> tuple[subprocess.Popen[str], list[str]]:
    """A run that has had its first answers."""
    command = [
        str(ATTUNE), "run", "custom", "m", str(data), "--base-url", server.url, "-o", str(out),
        "--concurrency", "3", "--api-key", "sk-secret-secret",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    until = time.monotonic() + PATIENCE
    while not journal_calls(out) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    return process, command[1:]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_told_to_stop_finishes_what_is_in_flight_and_says_how_to_go_on(
    tmp_path: Path, slow: tuple[EndpointProcess, Path], number: signal.Signals, code: int
) -> None:
    server, data = slow
    before = server.facts()["calls"]
    process, command = start(server, data, tmp_path / "out")
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, err
    served = server.facts()["calls"] - before
    assert len(journal_calls(tmp_path / "out")) == served  # nothing that was asked is lost
    assert "stopping; " in err
    assert f"stopped; every answer is kept. Go on with: attune run custom m {data}" in err
    assert "sk-secret" not in out + err
    assert "Traceback" not in err
    (run,) = json.loads((tmp_path / "out" / "_run_custom_m.json").read_text())["runs"]
    assert run["stopped"] == "stopped"
    again = attune(*command, "--concurrency", "54", cwd=tmp_path)
    assert again.stdout.startswith("wrote ")
    assert server.facts()["calls"] - before == 6 * 9


@pytest.mark.slow
def test_a_second_ctrl_c_drops_what_is_in_flight(tmp_path: Path, slow: tuple[EndpointProcess, Path]) -> None:
    server, data = slow
    process, _ = start(server, data, tmp_path / "out")
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "Go on with" in err
