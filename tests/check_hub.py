"""Whether the built wheel is what the Environments Hub and `vf-eval` want; run by `check_release.py`.

`check_hub(venv, wheel, work)`: metadata, then an evaluation in an environment that holds nothing but the
wheel, from a folder without the sources, against a model that answers as a built-in policy would.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from email.parser import BytesParser
from pathlib import Path
from typing import Any, Final

from attune_env import builtin_policy, load, plan, rollout
from tests.documents import LINK
from tests.endpoint import endpoint_process

ROOT: Final = Path(__file__).resolve().parent.parent
POLICY: Final = "lexicon"
EPISODES: Final = 2
KEY: Final = "a-key-that-nobody-has"


def check_hub(venv: Path, wheel: Path, work: Path) -> None:
    """Stops with what is wrong.

    Args:
        venv: an environment in which the wheel, and what it requires, is installed.
        wheel: the wheel.
        work: an empty folder outside the sources to run in.
    """
    check_metadata(wheel)
    check_episodes(venv, work)
    print(f"{wheel.name}: vf-eval attune-env plays {EPISODES} episodes, rewards as at home")


def check_episodes(venv: Path, work: Path) -> None:
    """Stops unless `vf-eval attune-env` in the environment asks and rewards as `rollout` does here."""
    with endpoint_process("--data", "sample", "--number", EPISODES, "--policy", POLICY) as model:
        episodes = _evaluate(venv, work, model.url)
        facts = model.facts()
    sample = load("sample")
    policy = builtin_policy(POLICY, sample)
    wanted = {c.conversation_id: rollout(c, policy).total for c in sample[:EPISODES]}
    earned = {}
    for episode in episodes:
        (trace,) = episode["traces"]
        assert episode["ok"], episode["errors"]
        assert trace["ok"], trace["errors"]
        earned[trace["task"]["data"]["id"]] = sum(
            reward["score"] * reward["weight"] for reward in trace["rewards"].values()
        )
    assert earned.keys() == wanted.keys(), (earned, wanted)
    for name, reward in wanted.items():
        assert abs(earned[name] - reward) < 1e-12, (name, earned[name], reward)
    # every request of the plans once, and nothing else
    asked = {request.id: 1 for c in sample[:EPISODES] for request in plan(c)}
    assert facts["requests"] == asked, set(facts["requests"].items()) ^ set(asked.items())
    assert facts["statuses"] == {"200": len(asked)}, facts["statuses"]


def check_metadata(wheel: Path) -> None:
    """What a package index and the Hub show: name, description, licence, keywords, tags, README."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    data = _metadata(wheel)
    held = BytesParser().parsebytes(data)
    assert held["Name"] == project["name"] == "attune-env", held["Name"]
    assert held["Summary"] == project["description"], held["Summary"]
    assert held["License-Expression"] == project["license"] == "MIT", held["License-Expression"]
    assert sorted(held["Keywords"].split(",")) == sorted(project["keywords"]), held["Keywords"]
    # the Hub reads tags from pyproject.toml, where the push is made: no field of a wheel holds them
    tags = project["tags"]
    assert tags, "no tags"
    assert all(isinstance(tag, str) and tag == tag.lower() for tag in tags), tags
    assert held["Description-Content-Type"] == "text/markdown", held["Description-Content-Type"]
    shown, readme = description(data), (ROOT / "README.md").read_text(encoding="utf-8")
    assert LINK.findall(readme), "the README has no relative links: nothing is rendered"
    assert not LINK.findall(shown), f"relative links lead nowhere on an index: {LINK.findall(shown)[:5]}"
    assert shown.strip().splitlines()[0] == readme.splitlines()[0], shown[:200]
    pinned = [line for line in held.get_all("Requires-Dist", []) if line.startswith("verifiers")]
    assert pinned == ["verifiers<0.4.2,>=0.4"], pinned


def description(metadata: bytes) -> str:
    """The README in a distribution's metadata (`METADATA`, `PKG-INFO`)."""
    # the parser takes bytes for ASCII; the body is UTF-8, as all of the file
    return metadata.decode("utf-8").partition("\n\n")[2]


def _metadata(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as packed:
        (name,) = [name for name in packed.namelist() if name.endswith(".dist-info/METADATA")]
        return packed.read(name)


def _evaluate(venv: Path, work: Path, url: str) -> list[dict[str, Any]]:
    """The episodes of `vf-eval attune-env`, as it writes them down."""
    out = work / "vf-eval"
    command = [
        venv.absolute() / "bin" / "vf-eval", "attune-env", "-m", "fake", "-n", EPISODES,
        "--client.base-url", url, "--client.api-key-var", "ATTUNE_CHECK_KEY",
        "--no-push", "--no-rich", "-o", out,
    ]  # fmt: skip
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        list(map(str, command)), cwd=work, env=clean | {"ATTUNE_CHECK_KEY": KEY},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"vf-eval failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    found = sorted(out.glob("*/traces.jsonl"))
    assert len(found) == 1, f"vf-eval wrote {found}"
    text = found[0].read_text(encoding="utf-8")
    assert KEY not in text + done.stdout + done.stderr, "the key is in what vf-eval wrote"
    return [json.loads(line) for line in text.splitlines()]
