"""`python -m tests.frozen.coverage`: branch coverage of the quick suite by package; takes half an hour.

Subprocesses count too, so that a test may move from a command in a new process to one in this process.
`--write` keeps the totals in `coverage.json`; without it they are compared with what is kept there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".json")
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("attune_data", "attune_rewards", "attune_episodes", "attune_env")
SUITE = ("-n", "2", "--quiet", "-m", "not soak")
CONFIG = """\
[run]
branch = true
parallel = true
source_pkgs = {packages}
patch = subprocess, _exit
data_file = {folder}/data
"""


def measured(folder: Path, suite: tuple[str, ...] = SUITE) -> dict[str, Any]:
    """Runs the suite; package -> statements, branches, how many of them were reached, and the share in %."""
    config = folder / "coveragerc"
    config.write_text(CONFIG.format(packages=",".join(PACKAGES), folder=folder), encoding="utf-8")

    def coverage(*arguments: str, check: bool = True) -> int:
        command = [sys.executable, "-m", "coverage", *arguments[:1], f"--rcfile={config}", *arguments[1:]]
        return subprocess.run(command, cwd=ROOT, check=check).returncode

    failed = coverage("run", "-m", "pytest", *suite, check=False)
    coverage("combine", "--quiet")
    coverage("json", "--quiet", "-o", str(folder / "report.json"))
    files = json.loads((folder / "report.json").read_text("utf-8"))["files"]
    return {"exit_code_of_tests": failed, "packages": {name: _total(files, name) for name in PACKAGES}}


def _total(files: dict[str, Any], package: str) -> dict[str, float]:
    fields = ("num_statements", "covered_lines", "num_branches", "covered_branches")
    inside = [about["summary"] for path, about in files.items() if package in Path(path).parts[:-1]]
    total = {field: sum(summary[field] for summary in inside) for field in fields}
    reached, all_ = (
        total["covered_lines"] + total["covered_branches"],
        total["num_statements"] + total["num_branches"],
    )
    return {**total, "percent": round(100 * reached / all_, 2)}


def main() -> int:
    """The command line; 1 where a package is covered less than what is kept."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.frozen.coverage")
    parser.add_argument("--write", action="store_true", help="keep the totals")
    parser.add_argument("tests", nargs="*", help="pytest's arguments instead of the whole quick suite")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(Path(folder), tuple(asked.tests) or SUITE)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    print(json.dumps(found, indent=1))
    if asked.write:
        FILE.write_text(json.dumps({"commit": commit} | found, indent=1) + "\n", encoding="utf-8")
        return 0
    kept = json.loads(FILE.read_text("utf-8"))["packages"]
    lower = [name for name, total in found["packages"].items() if total["percent"] < kept[name]["percent"]]
    for name in lower:
        print(
            f"{name}: {found['packages'][name]['percent']} %, was {kept[name]['percent']} %", file=sys.stderr
        )
    return bool(lower)


if __name__ == "__main__":
    sys.exit(main())
