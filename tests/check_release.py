"""Rehearse a release: build what would be uploaded into dist/, check it, install it and use it.

Both distributions go into empty environments and run from another folder, alone and under verifiers, and the
README's blocks run on what is installed: an editable install can hide a missing file or requirement.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

from tests.check_hub import check_hub

ROOT = Path(__file__).resolve().parent.parent
TRAINING = ROOT / "docs" / "training.md"
DIST = ROOT / "dist"
PACKAGES = ("attune_env", "attune_episodes", "attune_rewards", "attune_data")
USE = """
import attune_env, attune_episodes, attune_rewards, attune_data, json, sys
from attune_env import Simulation, builtin_policy, load, rollout, training_dataset
sample = load("sample")
print(json.dumps({
    "files": [m.__file__ for m in (attune_env, attune_episodes, attune_rewards, attune_data)],
    "conversations": len(sample),
    "oracle": rollout(sample[0], builtin_policy("oracle", sample)).total,
    "simulated": next(iter(training_dataset(Simulation(1))))["provenance"],
}))
"""

LIGHT = """
import json, attune_data
from attune_episodes import builtin_policy, rollout
from attune_episodes.trainers import score_row
sample = attune_data.load("sample")
print(json.dumps({
    "oracle": rollout(sample[0], builtin_policy("oracle", sample)).total,
    "reward": score_row(rows[0], "{}").value,
    "version": attune_data.__version__,
}))
"""
"""Run after the block of docs/training.md on training with the lower floors alone."""


README = """
import json
from pathlib import Path
from tests.documents import check_document
print(json.dumps(check_document(Path("README.md").resolve(), ".")))
"""


def run(*command: str | Path, cwd: str | Path) -> str:
    """Runs a command and returns what it prints; shows its errors and stops if it fails."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=clean, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def main() -> None:
    """Build, inspect, install, run."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        shutil.rmtree(DIST, ignore_errors=True)
        run(sys.executable, "-m", "build", "--outdir", DIST, ROOT, cwd=work)
        (wheel,) = DIST.glob("*.whl")
        names = zipfile.ZipFile(wheel).namelist()
        for package in PACKAGES:
            assert f"{package}/py.typed" in names, f"{package}/py.typed is not in the wheel"
        assert sum("sample/conversation_" in name for name in names) >= 16, "the sample is not in the wheel"
        for needed in (
            "attune_data/codebook/own.json",
            "attune_env/lm_eval_tasks/attunebench.yaml",
            "attune_env/pages/assets/page.js",
            "attune_env/pages/assets/report.html",
            "attune_episodes/prompts/full/assess.md",
            "attune_episodes/prompts/full/judge.md",
        ):
            assert needed in names, f"{needed} is not in the wheel"
        stray = [n for n in names if n.split("/")[0] not in PACKAGES and ".dist-info/" not in n]
        assert not stray, f"the wheel holds what does not belong in it: {stray[:5]}"

        venv.create(work / "venv", with_pip=True)
        python = work / "venv" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=work)
        facts = json.loads(run(python, "-c", USE, cwd=work))
        assert all(str(work) in file for file in facts["files"]), facts
        assert facts["conversations"] >= 16, facts
        assert abs(facts["oracle"] - 1) < 1e-12, facts
        assert facts["simulated"] == "simulated", facts
        printed = run(work / "venv" / "bin" / "attune", "demo", "--output", work / "demo", cwd=work)
        assert "builtin/oracle" in printed, printed
        assert (work / "demo" / "scores.json").is_file()
        assert (work / "demo" / "report" / "report.html").is_file()
        (work / "hub").mkdir()
        check_hub(work / "venv", wheel, work / "hub")
        check_readme(work, python)
        check_core(work)
        check_metadata_renders(work)
        print(f"{wheel.name}: installs by itself, finds its data, runs")
    print(
        "python -m twine upload \\",
        *(f"  {file.relative_to(ROOT)}" for file in sorted(DIST.iterdir())),
        sep="\n",
    )


def check_readme(work: Path, python: Path) -> None:
    """The README's blocks run on the installed package and print what they show."""
    copy = work / "readme"
    (copy / "tests").mkdir(parents=True)
    shutil.copy(ROOT / "README.md", copy)
    shutil.copy(ROOT / "tests" / "documents.py", copy / "tests")
    problems = json.loads(run(python, "-c", README, cwd=copy))
    assert not problems, "\n".join(problems)


def check_metadata_renders(work: Path) -> None:
    """Package indexes accept the metadata and render the README."""
    venv.create(work / "twine", with_pip=True)
    python = work / "twine" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "twine", cwd=work)
    run(python, "-m", "twine", "check", "--strict", *sorted(DIST.iterdir()), cwd=work)


def check_core(work: Path) -> None:
    """attune-core is light: at most 25 distributions and 260 MB, and plays, makes rows and rewards them."""
    core = ROOT / "packaging" / "core"
    run(sys.executable, "-m", "build", "--wheel", "--outdir", DIST, core, cwd=work)
    (wheel,) = DIST.glob("attune_core*.whl")
    venv.create(work / "light", with_pip=True)
    python = work / "light" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=work)
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", TRAINING.read_text(encoding="utf-8"))
    facts = json.loads(run(python, "-c", blocks[-1] + LIGHT, cwd=work).splitlines()[-1])
    project, light = (
        tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for folder in (ROOT, core)
    )
    assert facts["version"] == light["version"] == project["version"], facts
    assert abs(facts["oracle"] - 1) < 1e-12, facts
    assert facts["reward"] < 0, facts
    shared = {need for need in project["dependencies"] if need in light["dependencies"]}
    assert shared == set(light["dependencies"]), (
        f"asked for otherwise than by attune-env: {light['dependencies']}"
    )
    listed = json.loads(run(python, "-m", "pip", "list", "--format", "json", cwd=work))
    size = sum(file.stat().st_size for file in (work / "light").rglob("*") if file.is_file()) / 1e6
    assert len(listed) <= 25, listed
    assert size <= 260, size
    print(f"{wheel.name}: {len(listed)} distributions, {size:.0f} MB")


if __name__ == "__main__":
    main()
