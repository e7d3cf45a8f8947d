"""What the base checks do not cover, one after the other.

* `tests/extras/<package>/` for a package of the base that takes long to test: run in the venv of the checks.
* The tests of a package of the base whose releases break things: with the oldest and the newest release that
  pyproject.toml admits, pre-releases included, where the venv of the checks has another one.
* Every extra that has tests in `tests/extras/<extra>/`: they run in a venv that adds the extra to that of the
  checks, or to one between them that adds PyTorch. On another Python it is a fresh one with `.[dev,<extra>]`.
* The newest Inspect and OpenEnv: a fresh venv gets attune-core with both, no verifiers, and runs their tests.
* The oldest and the newest supported Python on the PATH: a fresh venv of each that does not run this gets
  `.[dev]` and runs the quick tests. What breaks between the two has broken at an end before.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.version import Version

from tools.pages import ROOT

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
BASE = ("chromium", "hub", "verifiers")
"""What needs no extra and takes long to test, a browser or Prime's command: in the venv of the checks."""
ENDS = {"verifiers": ("tests/extras/verifiers", "tests/frameworks/verifiers")}
"""Package of the base -> what is run with the oldest and the newest release that is admitted."""
TORCH = "torch==2.13.0"
AFTER_TORCH = ("bertscore", "skyrl", "trl", "verl")
"""Extras that PyTorch is installed before, by itself: asked for together, it brings gigabytes of CUDA."""
BESIDE = {
    "skyrl": ("skyrl>=0.3,<0.4", "func_timeout", "loguru", "omegaconf", "ray>=2.50,<3", "tensordict"),
    "verl": ("cachetools", "fastapi"),
}
"""Extra -> what its tests use beside it: what the workers of verl and SkyRL import and do not require."""
ABOVE = {"skyrl": "3.12"}
"""Extra -> the Python that its tests run on where there is one: SkyRL 0.3 cannot be imported before it."""
CORE = ("inspect", "openenv")
"""Extras of attune-core that verifiers holds at an old release in attune-env."""
BELOW = {"verl": (3, 13)}
"""Extra -> the first Python that it does not support."""
SERIAL = ("bertscore", "chromium", "docs", "hub", "inspect", "skyrl", "trl", "verl")
"""Tests that want both cores for themselves."""


def run(*command: str | Path) -> bool:
    """Runs a command, its output shown; whether it succeeded."""
    print("$", *command, flush=True)
    return subprocess.run(list(map(str, command)), cwd=ROOT).returncode == 0


def tested(python: str | Path, name: str, *tests: str) -> bool:
    """Runs the tests with that Python; whether they passed."""
    spread = () if name in SERIAL else ("-n", "2")
    chosen = "not slow and not soak" if tests == ("tests",) else "not soak"
    return run(python, "-m", "pytest", "--quiet", *spread, "-m", chosen, *tests)


@contextmanager
def fresh(folder: Path) -> Iterator[None]:
    """Removes a folder before and after."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def in_venv(name: str, python: str, extras: str, tests: str) -> bool:
    """Makes `.venv-<name>`, installs and runs the tests in it; whether all went well."""
    folder = ROOT / f".venv-{name}"
    pip = (folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    with fresh(folder):
        return (
            run(python, "-m", "venv", folder)
            and (name not in AFTER_TORCH or run(*pip, TORCH))
            and run(*pip, f"{ROOT}[{extras}]", *BESIDE.get(name, ()))
            and tested(folder / "bin" / "python", name, tests)
        )


def with_core(project: dict[str, Any]) -> bool:
    """Runs the tests of extras of attune-core with the newest that they admit; whether they passed.

    The front, with which the tests compare, comes from this folder; what it and the tests need beside.
    """
    folder = ROOT / ".venv-core"
    python = folder / "bin" / "python"
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    needed = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    beside = [requirement for requirement in needed if not requirement.startswith("verifiers")]
    with fresh(folder):
        return (
            run(sys.executable, "-m", "venv", folder)
            and run(*pip, f"{ROOT / 'packaging' / 'core'}[{','.join(CORE)}]", *beside)
            and run(python, "-m", "pip", "check")
            and run(*pip, "--no-deps", "--editable", ROOT)
            and tested(python, "core", *(f"tests/extras/{name}" for name in CORE))
        )


def ends(requirement: Requirement) -> list[str]:
    """The oldest and the newest release of the index that a requirement admits, pre-releases included."""
    asked = (sys.executable, "-m", "pip", "index", "versions", "--pre", requirement.name)
    told = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    (line,) = [line for line in told.splitlines() if line.startswith("Available versions: ")]
    released = line.partition(": ")[2].split(", ")
    admitted = sorted(requirement.specifier.filter(released, prereleases=True), key=Version)
    return list(dict.fromkeys((admitted[0], admitted[-1])))


@contextmanager
def over(below: str | Path, name: str, *packages: str | Path) -> Iterator[Path | None]:
    """The Python of a venv that holds packages and sees what the one below holds; None if it is not made.

    It takes seconds instead of minutes.
    """
    folder = ROOT / f".venv-{name}"
    python = folder / "bin" / "python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    seen = subprocess.run([below, "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    with fresh(folder):
        made = run(below, "-m", "venv", "--without-pip", folder)
        if made:
            (place,) = folder.glob("lib/python*/site-packages")
            (place / "below.pth").write_text(f"import site; site.addsitedir({seen!r})\n", encoding="utf-8")
        yield python if made and run(*pip, *packages) else None


def over_base(name: str, tests: tuple[str, ...], *packages: str | Path, below: str | Path | None) -> bool:
    """Runs tests with other packages than the venv below has; whether they passed."""
    if below is None:
        return False
    with over(below, name, "--editable", *packages) as python:
        return python is not None and tested(python, name, *tests)


def other_pythons() -> dict[str, str]:
    """Version -> executable of the supported Pythons besides the one that runs this."""
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    found = {}
    for version in PYTHONS:
        paths = [shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
        works = [path for path in paths if path and _is(version, path)]
        if works and not sys.version.startswith(f"{version}."):
            found[version] = works[0]
    return found


def at_ends(others: dict[str, str]) -> dict[str, str]:
    """The oldest and the newest of the Pythons found, this one among them, without this one."""
    this = "{}.{}".format(*sys.version_info[:2])
    found = sorted({*others, this}, key=Version)
    return {version: others[version] for version in (found[0], found[-1]) if version != this}


def _is(version: str, executable: str) -> bool:
    """Whether the executable is that Python and can make a venv (a shim may be neither)."""
    ask = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([executable, "-c", ask], capture_output=True, text=True)
    return done.returncode == 0 and done.stdout.strip() == version


def main() -> int:
    """Runs all of it; 1 if anything fails."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = project["optional-dependencies"]
    failed = []
    pythons = other_pythons()
    with over(sys.executable, "torch", TORCH) as torch:
        for folder in sorted((ROOT / "tests" / "extras").glob("[!_]*/")):
            name = folder.name
            if name in BASE:
                passed = tested(sys.executable, name, str(folder))
            elif sys.version_info >= BELOW.get(name, (99,)):
                print(f"extra {name} is not for Python {sys.version.split()[0]}: not tested")
                passed = True
            elif name not in declared:  # a folder that is no extra
                passed = False
            elif (python := pythons.get(ABOVE.get(name, ""))) is not None:
                passed = in_venv(name, python, f"dev,{name}", str(folder))
            else:
                packages = (f"{ROOT}[{name}]", *BESIDE.get(name, ()))
                below = torch if name in AFTER_TORCH else sys.executable
                passed = over_base(name, (str(folder),), *packages, below=below)
            failed += [] if passed else [f"tests/extras/{name}"]
    for requirement in map(Requirement, project["dependencies"]):
        name = requirement.name
        for release in ends(requirement) if name in ENDS else ():
            if release != metadata.version(name) and not over_base(
                name, ENDS[name], ROOT, f"{name}=={release}", below=sys.executable
            ):
                failed.append(f"{name} {release}")
    if not with_core(project):
        failed.append("attune-core's newest")
    for version, executable in at_ends(pythons).items():
        if not in_venv(f"python{version}", executable, "dev", "tests"):
            failed.append(f"Python {version}")
    print(f"other Pythons found: {', '.join(pythons) or 'none'}")
    for name in failed:
        print(f"FAILED {name}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
