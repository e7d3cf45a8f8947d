"""Run the checks that `make check` leaves out, one after the other.

* `tests/extras/<name>/` for what the venv of the checks has and takes long to test: run in it.
* The tests of a package in it whose releases break things: with the oldest and the newest release that
  pyproject.toml admits, pre-releases included, where the venv of the checks has another one.
* Every extra that has tests in `tests/extras/<extra>/`: they run in a venv that adds the extra to that of the
  checks, or to one between them that adds PyTorch. On another Python it is a fresh one with `.[dev,<extra>]`.
* The newest Inspect and OpenEnv: a fresh venv gets the package with both, no verifiers, and runs their tests.
* The base alone: a fresh venv without any extra is small, and runs the tests of what the base promises.
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
IN_DEV = ("chromium", "hub", "verifiers")
"""Tests that run in the venv of the checks but take long: a browser, Prime's command, verifiers."""
ENDS = {"verifiers": ("tests/extras/verifiers", "tests/frameworks/verifiers")}
"""Package of that venv -> what is run with the oldest and the newest release that is admitted."""
TORCH = "torch==2.13.0"
AFTER_TORCH = ("bertscore", "skyrl", "trl", "verl")
"""Extras that PyTorch is installed before, by itself: asked for together, it brings gigabytes of CUDA."""
BESIDE = {
    "trl": ("peft>=0.19,<1",),
    "skyrl": ("skyrl>=0.3,<0.4", "func_timeout", "loguru", "omegaconf", "ray>=2.50,<3", "tensordict"),
    "verl": ("cachetools", "fastapi"),
}
"""Extra -> what its tests use beside it: what the workers of verl and SkyRL import and do not require."""
ABOVE = {"skyrl": "3.12"}
"""Extra -> the Python that its tests run on where there is one: SkyRL 0.3 cannot be imported before it."""
APART = ("inspect", "openenv")
"""Extras that verifiers holds at an old release where both are installed."""
WITH_APART = ("openai", "inspect-evals-lint")
"""What their tests use beside them: a provider of Inspect, and the linter of its register."""
BESIDE_VERIFIERS = {"inspect": "inspect-ai<0.3.259"}
"""Extra -> the releases that work beside verifiers, which wants openai<3."""
TOOLS = ("aiohttp", "hypothesis", "jsonschema", "pytest", "pytest-xdist", "scikit-learn")
"""Requirements of the extra `dev` that the tests of the base use."""
PROMISED = (
    "tests/extras/base", "tests/rewards", "tests/protocol", "tests/parsing", "tests/play", "tests/policies",
    "tests/frameworks/gymnasium",
)  # fmt: skip
"""The tests that pass with the base alone."""
LARGEST = (30, 280)
"""Most distributions, and megabytes, of the base."""
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


def without_verifiers(project: dict[str, Any]) -> bool:
    """Run the tests of Inspect and OpenEnv with the newest that the extras admit; whether they passed."""
    folder = ROOT / ".venv-apart"
    python = folder / "bin" / "python"
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    beside = [need for need in project["optional-dependencies"]["dev"] if not need.startswith("attune-env")]
    with fresh(folder):
        return (
            run(sys.executable, "-m", "venv", folder)
            and run(*pip, "--editable", f"{ROOT}[report,train,{','.join(APART)}]", *WITH_APART, *beside)
            and run(python, "-m", "pip", "check")
            and tested(python, "apart", *(f"tests/extras/{name}" for name in APART))
        )


def base_alone(project: dict[str, Any]) -> bool:
    """Whether the package without any extra is no larger than it may be and keeps what it promises."""
    folder = ROOT / ".venv-base"
    python = folder / "bin" / "python"
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    tools = [need for need in project["optional-dependencies"]["dev"] if Requirement(need).name in TOOLS]
    with fresh(folder):
        if not (run(sys.executable, "-m", "venv", folder) and run(*pip, "--editable", ROOT)):
            return False
        listed = subprocess.run([python, "-m", "pip", "list"], capture_output=True, text=True, check=True)
        held = len(listed.stdout.splitlines()) - 2  # below the two lines of the heading
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
        print(f"the base: {held} distributions, {size:.0f} MB")
        small = held <= LARGEST[0] and size <= LARGEST[1]
        return small and run(*pip, *tools) and tested(python, "base", *PROMISED)


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
            name = folder.name.replace("_", "-")
            if name == "base":  # in a venv of its own, below
                continue
            if name in IN_DEV:
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
                packages += (BESIDE_VERIFIERS[name],) if name in BESIDE_VERIFIERS else ()
                below = torch if name in AFTER_TORCH else sys.executable
                passed = over_base(name, (str(folder),), *packages, below=below)
            failed += [] if passed else [f"tests/extras/{name}"]
    for requirement in map(Requirement, [*project["dependencies"], *declared["verifiers"]]):
        name = requirement.name
        for release in ends(requirement) if name in ENDS else ():
            if release != metadata.version(name) and not over_base(
                name, ENDS[name], ROOT, f"{name}=={release}", below=sys.executable
            ):
                failed.append(f"{name} {release}")
    if not without_verifiers(project):
        failed.append("the newest Inspect and OpenEnv")
    if not base_alone(project):
        failed.append("the base alone")
    for version, executable in at_ends(pythons).items():
        if not in_venv(f"python{version}", executable, "dev", "tests"):
            failed.append(f"Python {version}")
    print(f"other Pythons found: {', '.join(pythons) or 'none'}")
    for name in failed:
        print(f"FAILED {name}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
