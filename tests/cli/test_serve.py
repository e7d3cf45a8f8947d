"""`attune serve openenv` without OpenEnv: what it says. With it, it is tested in `tests/extras/openenv`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from attune_env.cli import main
from attune_episodes.openenv_env.guard import Guard, Limits
from tests import PATIENCE
from tests.command import loaded_by
from tests.data.builders import folder, record
from tests.front.command import Done, attune


def without_openenv(cwd: Path, code: str) -> Done:
    """Runs code in a process in which OpenEnv cannot be imported, be it installed or not."""
    hidden = "import sys; sys.modules['openenv'] = sys.modules['fastapi'] = None; "
    return subprocess.run(
        [sys.executable, "-c", hidden + code],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        timeout=PATIENCE,
    )


def test_help_lists_what_can_be_served_and_loads_nothing(tmp_path: Path) -> None:
    assert "openenv" in attune("serve", "--help", cwd=tmp_path).stdout
    shown = attune("serve", "openenv", "--help", cwd=tmp_path).stdout
    for option in ("--data", "--host", "--port", "--training", "--max-sessions", "attune-env[openenv]"):
        assert option in shown


def test_the_package_loads_without_openenv_and_loads_none_of_it() -> None:
    loaded = loaded_by("import attune_episodes.openenv_env as e; dir(e); e.Limits(sessions=2)")
    assert loaded & {"openenv", "fastapi", "uvicorn", "gymnasium"} == set()


@pytest.mark.parametrize(("address", "bound", "host", "welcome"), [
    ("192.0.2.7", "", "192.0.2.7:8000", True),
    ("192.0.2.7", "0.0.0.0", "0.0.0.0:8000", True),
    ("192.0.2.7", "gpu.example.org", "gpu.example.org:8000", True),
    ("192.0.2.7", "gpu.example.org", "gpu", False),
    ("192.0.2.7", "192.0.2.7", "192.0.2.8", False),
    ("2001:db8::7", "2001:db8::7", "[2001:DB8:0::7]:8000", True),
    ("fe80::7%eth0", "fe80::7%eth0", "[fe80::7%25eth0]", True),
    ("/run/attune.socket", "", "localhost", True),
    ("/run/attune.socket", "", "/run/attune.socket", False),
])  # fmt: skip
def test_an_address_that_is_served_on_is_a_host_too(
    address: str, bound: str, host: str, welcome: bool
) -> None:
    scope = {"server": (address, 8000), "headers": [(b"host", host.encode())]}
    found = Guard(None, Limits(), bound=bound).refusal(scope)  # type: ignore[arg-type]  # nothing is served
    assert (found is None) == welcome, found


def test_without_the_extra_the_command_gives_the_line_that_installs_it(tmp_path: Path) -> None:
    run = "sys.argv = ['attune', 'serve', 'openenv']; from attune_env.cli import main; main()"
    done = without_openenv(tmp_path, run)
    assert (done.returncode, done.stdout) == (1, "")
    assert "error: the extra 'openenv' is not installed" in done.stderr
    assert 'pip install "attune-env[openenv]"' in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["attune_app", "AttuneClient", "AttuneAction"])
def test_without_the_extra_every_name_says_so(tmp_path: Path, name: str) -> None:
    done = without_openenv(tmp_path, f"from attune_episodes.openenv_env import {name}")
    assert done.returncode == 1
    assert "MissingExtraError: the extra 'openenv' is not installed" in done.stderr


@pytest.mark.parametrize(("options", "code", "told"), [
    (["--port", "65536"], 2, "--port"),
    (["--port", "web"], 2, "--port"),
    (["--seed", "-1"], 2, "--seed"),
    (["--max-sessions", "0"], 2, "max-sessions"),
    (["--idle-seconds", "0"], 2, "idle_seconds is 0.0; it must be a finite number above 0"),
    (["--session-seconds", "nan"], 2, "session_seconds is nan"),
    (["--allowed-host", "http://a.b"], 2, 'allowed host "http://a.b": expected a name or an address'),
    (["--allowed-host", "a.b", "--allowed-host", "a.b:80"], 2, 'allowed host "a.b:80"'),
    (["--allowed-host", ""], 2, 'allowed host ""'),
    (["--reward", "composit"], 2, "did you mean 'composite'"),
    (["--stages", "asses"], 2, "did you mean 'assess'"),
    (["--mode", "verbos"], 2, "did you mean 'verbose'"),
    (["--level", "clear"], 2, 'level and world_seed describe data="simulated"'),
    (["--data", "simulated", "--where", "turns>2"], 2, "where"),
    (["--data", "nowhere"], 1, "nowhere"),
    (["--data", "unmarked", "--training"], 1, "may not be trained on"),
    (["--training", "--stages", "draft"], 2, "scores nothing in the stages draft"),
    (["--training", "--stages", "assess", "--reward", "preference"], 2, "'preference' scores nothing"),
    (["--prompts", "nowhere"], 2, "nowhere"),
    (["elsewhere"], 2, "elsewhere"),
])  # fmt: skip
def test_bad_arguments_are_told_before_anything_is_served(
    tmp_path: Path,
    options: list[str],
    code: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder(tmp_path / "unmarked", {1: record()})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["attune", "serve", "openenv", *options])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (code, "")
    assert told in said.err
