"""Make the folder that is pushed to the Environments Hub: `python -m tools.hub_folder FOLDER` (`make hub`).

It is attune-env itself: the same packages, command and entry points, so that nothing is lost whichever
is installed last. verifiers and datasets are requirements of it, since the Hub's own command installs no
extra. Its README is a generated card (`tools.hub_card`), and `outputs` holds example rollouts
(`tools.hub_outputs`).
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.hub_card import card, project
from tools.hub_outputs import about, write_outputs
from tools.pages import ROOT

PACKAGES = (
    "attune_env", "envs/attune_live", "envs/attune_episodes", "rewards/attune_rewards", "data/attune_data",
)  # fmt: skip
UNCONDITIONAL = ("verifiers", "train")
"""The extras whose requirements the environment always has."""
COPIED = (
    "name", "version", "description", "requires-python", "license", "tags", "scripts", "entry-points",
    "optional-dependencies",
)  # fmt: skip
"""Fields copied unchanged from our project table to its own."""


def pyproject() -> str:
    """The environment's own pyproject.toml."""
    ours = project(ROOT)
    extras = ours["optional-dependencies"]
    needs = [*ours["dependencies"], *(need for extra in UNCONDITIONAL for need in extras[extra])]
    table = {name: ours[name] for name in COPIED} | {
        "readme": "README.md",
        "license-files": ["attune_env/LICENSE", "attune_data/sample/LICENSE"],
        "dependencies": needs,
    }
    build = {"requires": ["hatchling>=1.27"], "build-backend": "hatchling.build"}
    wheel = {"packages": [Path(package).name for package in PACKAGES]}
    tables = {"build-system": build, "project": table, "tool.hatch.build.targets.wheel": wheel}
    return "\n".join(line for name, one in tables.items() for line in toml(name, one))


def toml(name: str, table: dict[str, Any]) -> Iterator[str]:
    """Lines of a table of texts, lists of texts and tables of these; TOML writes both as JSON does."""
    inner = {key: value for key, value in table.items() if isinstance(value, dict)}
    yield f"[{name}]"
    yield from (
        f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items() if key not in inner
    )
    yield ""
    for key, value in inner.items():
        yield from toml(f"{name}.{key}", value)


def make_hub_folder(folder: Path) -> None:
    """Write the folder, replacing what an earlier call left there."""
    shutil.rmtree(folder, ignore_errors=True)
    without = shutil.ignore_patterns("__pycache__")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / Path(package).name, ignore=without)
    (folder / "pyproject.toml").write_text(pyproject(), encoding="utf-8")
    (folder / "README.md").write_text(card(about(write_outputs(folder))), encoding="utf-8")


if __name__ == "__main__":
    make_hub_folder(Path(sys.argv[1]))
