"""Ctrl-C and SIGTERM: what is in flight, what is kept, what is said; also before a command has begun."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from attune_data import load
from tests import PATIENCE
from tests.command import ATTUNE, attune, data_folder, loaded_by, read
from tests.endpoint import answers_of, serve
from tests.running.playing import CALLS
from tests.running.test_journal import journal_calls

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(("signals", "code"), [
    ([signal.SIGINT], 130), ([signal.SIGTERM], 143), ([signal.SIGINT] * 2, 130),
])  # fmt: skip
def test_a_run_that_is_told_to_stop_finishes_what_is_in_flight_and_says_how_to_go_on(
    tmp_path: Path, signals: list[signal.Signals], code: int
) -> None:
    data, out = data_folder(tmp_path / "data", [f"c-{n}" for n in range(6)]), tmp_path / "out"
    with serve(answers_of(load(data), "always-no"), latency=0.4) as server:
        line = f"run custom m {data} --base-url {server.url} -o {out} --concurrency"
        process = subprocess.Popen(
            [ATTUNE, *line.split(), "3", "--api-key", "sk-secret-secret"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip
        until = time.monotonic() + PATIENCE
        while not journal_calls(out) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        for number in signals:
            process.send_signal(number)
            time.sleep(0.1)
        said, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == code, err
        assert "stopping; " in err
        assert f"stopped; every answer is kept. Continue with: attune run custom m {data}" in err
        assert "sk-secret" not in said + err
        assert "Traceback" not in err
        assert read(out / "_run_custom_m.json")["runs"][0]["stopped"] == "stopped"
        if len(signals) == 1:  # the second one drops what is in flight
            assert len(journal_calls(out)) == len(server.calls)  # nothing that was asked is lost
            assert attune(f"{line} 54", cwd=tmp_path).stdout.startswith("wrote ")
            assert len(server.calls) == 6 * CALLS


@pytest.mark.parametrize(("module", "says"), [("typer", "stopped\n"), ("pydantic", "")])
def test_ctrl_c_while_modules_are_imported_first_and_inside_a_command(
    module: str, says: str, tmp_path: Path
) -> None:
    """One line, exit code 130, and no traceback."""
    interrupt = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(600)\n"
    (tmp_path / f"{module}.py").write_text(interrupt)
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    # a job in the background of a shell is started with Ctrl-C ignored; this process is none
    done = subprocess.run(
        [sys.executable, "-m", "attune_env", "run", "builtin", "empty", "sample"],
        capture_output=True, encoding="utf-8", cwd=tmp_path, env={**os.environ, "PYTHONPATH": path},
        timeout=PATIENCE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", says)


def test_the_installed_command_starts_there() -> None:
    """An entry point whose module is heavy cannot catch what comes while it loads."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert scripts == {"attune": "attune_data.starting:main"}
    loaded = loaded_by("import attune_data.starting")
    assert not {"pydantic", "typer", "asyncio", "gymnasium", "numpy"} & loaded
