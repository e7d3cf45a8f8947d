"""Make the folder that OpenEnv builds and pushes: `python -m tools.openenv_folder FOLDER` (`make openenv`).

OpenEnv's command line takes the folder itself for the build context, so it holds all that the image needs:
the server, the four floors, and the base requirements with the extra `openenv`. Installed, it is the
distribution `openenv-attune-env` with the module `attune_env.client`, where OpenEnv's AutoEnv looks for the
client. `validation/` holds what OpenEnv's validator plays.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

from attune_data import load
from attune_data.format.schema import Conversation
from attune_env.audit.attacks import EXPLOITS, ExploitPolicy
from attune_episodes import builtin_policy, plan
from attune_episodes.play.policy import prepared
from attune_episodes.policies.base import BuiltinPolicy
from attune_rewards.reward.spec import RewardSpec
from tools.pages import ROOT

TEMPLATE: Final = ROOT / "packaging" / "openenv"
FLOORS: Final = ("attune_env", "envs/attune_episodes", "rewards/attune_rewards", "data/attune_data")
BESIDE: Final = ("client.py", "models.py", "openenv.yaml", "server")
"""What the package `attune_env` has beside its own in an installed folder."""
SERVED: Final = "written:train"
"""What the server plays unless told otherwise."""
CANARIES: Final = ("empty", "always-yes", "odd-values", "injected", "parrot")
"""Policies that may never earn more than nothing: silence, and attacks that change what the prior says."""
WITHOUT: Final = shutil.ignore_patterns("__pycache__")


def pyproject() -> str:
    """The folder's pyproject.toml."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [*ours["dependencies"], *ours["optional-dependencies"]["openenv"]]
    packages = [Path(floor).name for floor in FLOORS]
    beside = "".join(f'"{name}" = "attune_env/{name}"\n' for name in BESIDE)
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
server = "attune_env.server.app:main"

[tool.hatch.build.targets.wheel]
packages = {json.dumps(packages)}

[tool.hatch.build.targets.wheel.force-include]
{beside}"""


def trajectory(policy: BuiltinPolicy, about: Conversation) -> dict[str, Any]:
    """A policy's replies to every request of a conversation, in the format of OpenEnv's runtime plans."""
    player = prepared(policy, about)
    return {
        "plan_schema_version": "1",
        "reset": {
            "episode_id": policy.name,
            "seed": 0,
            "options": {"conversation_id": about.conversation_id},
        },
        "actions": [{"message": player.reply(request)} for request in plan(about)],
    }


def canaries() -> dict[str, Any]:
    """Policy -> a trajectory that earns no more than the floor."""
    conversations = load(SERVED)
    about, prior = conversations[0], builtin_policy("prior", conversations)
    policies = (
        ExploitPolicy(name, prior) if name in EXPLOITS else builtin_policy(name, conversations)
        for name in CANARIES
    )
    return {policy.name: trajectory(policy, about) for policy in policies}


def lowest() -> float:
    """What an answer that is wrong in everything earns at worst under the reward `skill`, rounded down."""
    baselines = RewardSpec.preset("skill").baselines.values()
    return math.floor(10 * min(-baseline / (1 - baseline) for baseline in baselines)) / 10


def make_openenv_folder(folder: Path) -> None:
    """Write the folder, replacing what an earlier call left there."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(TEMPLATE, folder, ignore=WITHOUT)
    for floor in FLOORS:
        shutil.copytree(ROOT / floor, folder / Path(floor).name, ignore=WITHOUT)
    shutil.copy(ROOT / "LICENSE", folder)
    manifest = folder / "openenv.yaml"
    text = manifest.read_text(encoding="utf-8").replace("LOWEST", f"{lowest()}")
    manifest.write_text(text, encoding="utf-8")
    (folder / "pyproject.toml").write_text(pyproject(), encoding="utf-8")
    played = canaries()
    for name, content in (("runtime", played["always-yes"]), ("canaries", played)):
        (folder / "validation" / f"{name}.json").write_text(json.dumps(content, indent=1), encoding="utf-8")


def lock(folder: Path) -> None:
    """Write the folder's uv.lock, which `openenv validate` of OpenEnv below 0.10 and `uv run server` want."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        sys.exit(f"uv is not installed, so {folder} has no uv.lock: pip install uv")
    subprocess.run([uv, "lock", "--quiet", "--project", folder], check=True)


if __name__ == "__main__":
    make_openenv_folder(Path(sys.argv[1]))
    lock(Path(sys.argv[1]))
