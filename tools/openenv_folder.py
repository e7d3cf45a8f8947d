"""Make the folder that OpenEnv builds and pushes: `python -m tools.openenv_folder FOLDER` (`make openenv`).

OpenEnv's command line takes the folder itself for the build context, so it holds all that the image needs:
the server, the three lower floors, and the base requirements with the extra `openenv`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

from tools.pages import ROOT

TEMPLATE: Final = ROOT / "packaging" / "openenv"
FLOORS: Final = ("data/attune_data", "rewards/attune_rewards", "envs/attune_episodes")
WITHOUT: Final = shutil.ignore_patterns("__pycache__")


def pyproject() -> str:
    """The folder's pyproject.toml."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [*ours["dependencies"], *ours["optional-dependencies"]["openenv"]]
    packages = ["server", *(Path(floor).name for floor in FLOORS)]
    return f"""\
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "openenv-attune-env"
version = {json.dumps(ours["version"])}
description = "attune-env as an OpenEnv environment."
readme = "README.md"
requires-python = {json.dumps(ours["requires-python"])}
license = "MIT"
license-files = ["LICENSE", "attune_data/sample/LICENSE"]
dependencies = {json.dumps(needs)}

[project.scripts]
server = "server.app:main"

[tool.hatch.build.targets.wheel]
packages = {json.dumps(packages)}
"""


def make_openenv_folder(folder: Path) -> None:
    """Write the folder, replacing what an earlier call left there."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(TEMPLATE, folder, ignore=WITHOUT)
    for floor in FLOORS:
        shutil.copytree(ROOT / floor, folder / Path(floor).name, ignore=WITHOUT)
    shutil.copy(ROOT / "LICENSE", folder)
    (folder / "pyproject.toml").write_text(pyproject(), encoding="utf-8")


def lock(folder: Path) -> None:
    """Write the folder's uv.lock, which `openenv validate` of OpenEnv below 0.10 and `uv run server` want."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        sys.exit(f"uv is not installed, so {folder} has no uv.lock: pip install uv")
    subprocess.run([uv, "lock", "--quiet", "--project", folder], check=True)


if __name__ == "__main__":
    make_openenv_folder(Path(sys.argv[1]))
    lock(Path(sys.argv[1]))
