"""Rehearse a release: build what would be uploaded into dist/, check it, install it and use it.

The wheel goes into an empty environment with the extra `all` and runs from another folder, alone and under
verifiers, and the README's blocks run on what is installed: an editable install can hide a missing file or
requirement.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from email.parser import BytesParser
from pathlib import Path

from attune_env import builtin_policy, load, plan, rollout
from tests.documents import LINK
from tests.endpoint import endpoint_process
from tools.pages import ROOT

DIST = ROOT / "dist"
PACKAGES = ("attune_env", "attune_live", "attune_episodes", "attune_rewards", "attune_data")
POLICY, EPISODES, KEY = "lexicon", 2, "a-key-that-nobody-has"
USE = """
import attune_env, attune_live, attune_episodes, attune_rewards, attune_data, json, sys
from attune_env import builtin_policy, load, rollout, training_dataset
sample = load("sample")
print(json.dumps({
    "files": [m.__file__ for m in (attune_env, attune_live, attune_episodes, attune_rewards, attune_data)],
    "conversations": len(sample),
    "oracle": rollout(sample[0], builtin_policy("oracle", sample)).total,
    "trained": training_dataset()[0]["provenance"],
}))
"""

README = """
import json
from pathlib import Path
from tests.documents import check_document
print(json.dumps(check_document(Path("README.md").resolve(), ".")))
"""
NEEDED = (
    *(f"{package}/py.typed" for package in PACKAGES), "attune_data/format/codebook/own.json",
    "attune_episodes/frameworks/lm_eval/attunebench.yaml", "attune_env/report/pages/assets/page.js",
    "attune_env/report/pages/assets/report.html", "attune_episodes/protocol/prompts/full/assess.md",
    "attune_episodes/protocol/prompts/full/judge.md",
)  # fmt: skip


def run(*command: str | Path, cwd: str | Path, **variables: str) -> str:
    """Runs a command and returns what it prints; shows its errors and stops if it fails."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")} | variables
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=clean, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def environment(folder: Path, *packages: str | Path) -> Path:
    """The Python of a new environment that holds the packages and what they require."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages, cwd=folder)
    return python


def main() -> None:
    """Build, inspect, install, run."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        shutil.rmtree(DIST, ignore_errors=True)
        run(sys.executable, "-m", "build", "--outdir", DIST, ROOT, cwd=work)
        (wheel,) = DIST.glob("*.whl")
        names = zipfile.ZipFile(wheel).namelist()
        assert set(NEEDED) <= set(names), f"not in the wheel: {set(NEEDED) - set(names)}"
        assert sum("sample/conversation_" in name for name in names) >= 16, "the sample is not in the wheel"
        stray = [n for n in names if n.split("/")[0] not in PACKAGES and ".dist-info/" not in n]
        assert not stray, f"the wheel holds what does not belong in it: {stray[:5]}"

        python = environment(work / "venv", f"{wheel}[all]")
        facts = json.loads(run(python, "-c", USE, cwd=work))
        assert all(str(work) in file for file in facts["files"]), facts
        assert facts["conversations"] >= 16, facts
        assert abs(facts["oracle"] - 1) < 1e-12, facts
        assert facts["trained"] == "played", facts
        printed = run(python.with_name("attune"), "demo", "--output", work / "demo", cwd=work)
        assert "builtin/oracle" in printed, printed
        assert (work / "demo" / "scores.json").is_file()
        assert (work / "demo" / "report" / "report.html").is_file()
        check_metadata(wheel)
        check_episodes(python, work / "hub")
        check_readme(python, work / "readme")
        twine = environment(work / "twine", "twine")  # whether package indexes take and render the metadata
        run(twine, "-m", "twine", "check", "--strict", *sorted(DIST.iterdir()), cwd=work)
        print(f"{wheel.name}: installs by itself, finds its data, runs")
    print("python -m twine upload", *(file.relative_to(ROOT) for file in sorted(DIST.iterdir())))


def check_readme(python: Path, copy: Path) -> None:
    """The README's blocks run on the installed package and print what they show."""
    (copy / "tests").mkdir(parents=True)
    for file in ("README.md", "tests/documents.py"):
        shutil.copy(ROOT / file, copy / file)
    problems = json.loads(run(python, "-c", README, cwd=copy))
    assert not problems, "\n".join(problems)


def check_metadata(wheel: Path) -> None:
    """Check what a package index and the Hub show: name, description, licence, keywords, tags, README."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with zipfile.ZipFile(wheel) as packed:
        (name,) = [name for name in packed.namelist() if name.endswith(".dist-info/METADATA")]
        data = packed.read(name)
    held = BytesParser().parsebytes(data)
    assert held["Name"] == project["name"] == "attune-env", held["Name"]
    assert held["Summary"] == project["description"], held["Summary"]
    assert held["License-Expression"] == project["license"] == "MIT", held["License-Expression"]
    assert sorted(held["Keywords"].split(",")) == sorted(project["keywords"]), held["Keywords"]
    # the Hub reads tags from pyproject.toml, where the push is made: no field of a wheel holds them
    assert project["tags"], "no tags"
    assert all(isinstance(tag, str) and tag == tag.lower() for tag in project["tags"]), project["tags"]
    assert held["Description-Content-Type"] == "text/markdown", held["Description-Content-Type"]
    # the parser takes bytes for ASCII; the body is UTF-8, as all of the file
    shown = data.decode("utf-8").partition("\n\n")[2]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert LINK.findall(readme), "the README has no relative links: nothing is rendered"
    assert not LINK.findall(shown), f"relative links lead nowhere on an index: {LINK.findall(shown)[:5]}"
    assert shown.strip().splitlines()[0] == readme.splitlines()[0], shown[:200]
    pinned = [line for line in held.get_all("Requires-Dist", []) if line.startswith("verifiers")]
    # of the extras verifiers, all and dev, never of the base
    assert pinned, "no extra requires verifiers"
    assert all(line.startswith("verifiers<0.4.2,>=0.4; extra == ") for line in pinned), pinned


def check_episodes(python: Path, work: Path) -> None:
    """`vf-eval attune-env` in the environment asks and rewards as `rollout` does here, and writes no key."""
    work.mkdir()
    with endpoint_process("--data", "sample", "--number", EPISODES, "--policy", POLICY) as model:
        said = run(
            python.with_name("vf-eval"), "attune-env", "-m", "fake", "-n", str(EPISODES),
            "--client.base-url", model.url, "--client.api-key-var", "ATTUNE_CHECK_KEY",
            "--no-push", "--no-rich", "-o", work, cwd=work, ATTUNE_CHECK_KEY=KEY,
        )  # fmt: skip
        facts = model.facts()
    (file,) = work.glob("*/traces.jsonl")
    text = file.read_text(encoding="utf-8")
    assert KEY not in text + said, "the key is in what vf-eval wrote"
    sample = load("sample")
    policy = builtin_policy(POLICY, sample)
    wanted = {c.conversation_id: rollout(c, policy).total for c in sample[:EPISODES]}
    earned = {}
    for episode in map(json.loads, text.splitlines()):
        (trace,) = episode["traces"]
        assert episode["ok"], episode["errors"]
        assert trace["ok"], trace["errors"]
        parts = trace["rewards"].values()
        earned[trace["task"]["data"]["id"]] = sum(part["score"] * part["weight"] for part in parts)
    assert earned.keys() == wanted.keys(), (earned, wanted)
    for name, reward in wanted.items():
        assert abs(earned[name] - reward) < 1e-12, (name, earned[name], reward)
    # every request of the plans once, and nothing else
    asked = {request.id: 1 for c in sample[:EPISODES] for request in plan(c)}
    assert facts["requests"] == asked, set(facts["requests"].items()) ^ set(asked.items())
    assert facts["statuses"] == {"200": len(asked)}, facts["statuses"]
    print(f"vf-eval attune-env plays {EPISODES} episodes, rewards as at home")


if __name__ == "__main__":
    main()
