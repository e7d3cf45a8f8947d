"""Make the folder that is pushed to the Environments Hub: `python -m tools.hub_folder FOLDER` (`make hub`).

It is attune-env itself: the same four packages, command and entry points, so that nothing is lost whichever
is installed last. verifiers and datasets are requirements of it, since the Hub's own command installs no
extra, and its README is a card generated from what the packages define.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from attune_episodes.frameworks.verifiers.arguments import (
    AttuneHarnessConfig,
    AttuneTaskConfig,
    AttuneTasksetConfig,
)
from tools.pages import ROOT

PACKAGES = ("attune_env", "envs/attune_episodes", "rewards/attune_rewards", "data/attune_data")
UNCONDITIONAL = ("verifiers", "train")
"""The extras whose requirements the environment always has."""
COPIED = (
    "name", "version", "description", "requires-python", "license", "tags", "scripts", "entry-points",
    "optional-dependencies",
)  # fmt: skip
"""Fields copied unchanged from our project table to its own."""
ARGUMENTS = {
    "env.taskset": AttuneTasksetConfig,
    "env.taskset.task.draft-judge": AttuneTaskConfig.model_fields["draft_judge"].annotation,
    "env.agent.harness": AttuneHarnessConfig,
}
"""Prefix of the flags -> the configuration that they set."""

RELATIVE_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)[^)\s]+\)")

USE = """
## Use

```console
vf-eval attune-env -m MODEL -n 3
vf-eval attune-env -m MODEL -n 3 --env.taskset.data written --env.taskset.training true \\
  --env.taskset.granularity request --env.taskset.reward skill
```

The first line evaluates on three of the bundled conversations. The second asks single requests about the
written corpus, with the reward meant for training. To evaluate or train on your own conversations:
`--env.taskset.data FOLDER`.
"""


def project(folder: Path) -> dict[str, Any]:
    """The project table of a folder's pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def section(file: str, heading: str) -> str:
    """A second-level section of a Markdown file."""
    text = (ROOT / file).read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, f"{file} has no section {heading!r}"
    return found[0].strip()


def arguments() -> Iterator[str]:
    """Lines of a table: each flag with its default and what it means."""
    yield "| flag | default | meaning |"
    yield "|---|---|---|"
    for prefix, config in ARGUMENTS.items():
        assert isinstance(config, type)
        assert issubclass(config, BaseModel)
        own = [name for name in config.model_fields if name in config.__annotations__]
        for name in own:
            field = config.model_fields[name]
            default = field.get_default(call_default_factory=True)
            if name == "id" or isinstance(default, BaseModel):
                continue
            shown = "" if default is None else f"`{json.dumps(default)}`"
            meaning = " ".join((field.description or "").split()).replace("|", "\\|")
            yield f"| `--{prefix}.{name.replace('_', '-')}` | {shown} | {meaning} |"


def card() -> str:
    """The README of the environment; a relative link, which leads nowhere on the Hub, becomes its text."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    opening = text[: text.index("\n![")].replace("# attune-env\n", "", 1).strip()
    baselines = section("README.md", "What a score is worth").partition("Four more things")[0]
    parts = ["# attune-env", opening, USE.strip(), section("docs/index.md", "Datasheet")]
    parts += ["## Arguments", "\n".join(arguments()), baselines.strip(), "## Licence"]
    parts.append("Code MIT; the bundled conversations and the wording of the questions CC BY 4.0.")
    return RELATIVE_LINK.sub(r"\1", "\n\n".join(parts)) + "\n"


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
    (folder / "README.md").write_text(card(), encoding="utf-8")
    (folder / "pyproject.toml").write_text(pyproject(), encoding="utf-8")


if __name__ == "__main__":
    make_hub_folder(Path(sys.argv[1]))
