"""`attune serve openenv` without OpenEnv: what it says. With it, it is tested in `tests/extras/openenv`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from attune_data.extras import MissingExtraError
from attune_episodes.frameworks import openenv
from tests.command import attune_here, loaded_by
from tests.data.builders import folder, record


def test_the_package_loads_without_openenv_and_loads_none_of_it() -> None:
    loaded = loaded_by("import attune_episodes.frameworks.openenv as e; dir(e)")
    assert loaded & {"openenv", "fastapi", "uvicorn", "gymnasium"} == set()


def test_without_the_extra_command_and_names_give_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("attune_app", "AttuneClient", "AttuneAction")
    for name in ("openenv", "fastapi"):  # be they installed or not
        monkeypatch.setitem(sys.modules, name, None)
    for module in ("app", "models"):
        monkeypatch.delitem(sys.modules, f"{openenv.__name__}.{module}", raising=False)
    for name in names:
        monkeypatch.delitem(vars(openenv), name, raising=False)
        with pytest.raises(MissingExtraError, match=r'in the clone, pip install "\.\[openenv\]"'):
            getattr(openenv, name)
    out, err = attune_here("serve openenv", tmp_path, 1)
    assert out == ""
    assert "the extra 'openenv' is not installed" in err


@pytest.mark.parametrize(("options", "code", "told"), [
    (["--port", "65536"], 2, "--port"),
    (["--port", "web"], 2, "--port"),
    (["--seed", "-1"], 2, "--seed"),
    (["--max-sessions", "0"], 2, "max-sessions"),
    (["--idle-seconds", "0"], 2, "idle-seconds"),
    (["--allowed-host", "http://a.b"], 2, 'allowed host "http://a.b": expected a name or an address'),
    (["--allowed-host", "a.b", "--allowed-host", "a.b:80"], 2, 'allowed host "a.b:80"'),
    (["--allowed-host", ""], 2, 'allowed host ""'),
    (["--reward", "composit"], 2, "did you mean 'composite'"),
    (["--stages", "asses"], 2, "did you mean 'assess'"),
    (["--mode", "verbos"], 2, "did you mean 'verbose'"),
    (["--data", "written+sample", "--where", "turns>2"], 2, "where"),
    (["--data", "nowhere"], 1, "nowhere"),
    (["--data", "unmarked", "--training"], 1, "may not be trained on"),
    (["--training", "--stages", "draft"], 2, "scores nothing in the stages draft"),
    (["--training", "--stages", "assess", "--reward", "preference"], 2, "'preference' scores nothing"),
    (["--prompts", "nowhere"], 2, "nowhere"),
    (["elsewhere"], 2, "elsewhere"),
])  # fmt: skip
def test_bad_arguments_are_told_before_anything_is_served(
    tmp_path: Path, options: list[str], code: int, told: str
) -> None:
    folder(tmp_path / "unmarked", {1: record()})
    out, err = attune_here(["serve", "openenv", *options], tmp_path, code)
    assert out == ""
    assert told in err
