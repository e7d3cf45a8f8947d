"""Imports cost next to nothing: heavy libraries load where they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import PATIENCE

FRAMEWORKS = (
    "scipy", "gymnasium", "datasets", "verifiers", "torch", "openenv", "matplotlib", "lm_eval", "inspect_ai",
)  # fmt: skip
OTHERS = tuple(name for name in FRAMEWORKS if name != "gymnasium")
"""Importing `attune_env` imports Gymnasium, to register the environment."""
HEAVY = (*OTHERS, "jinja2", "rich", "typer", "attune_rewards", "attune_episodes")
REPORT = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def loaded_by(statement: str) -> set[str]:
    """Top-level modules loaded in a fresh interpreter after a statement."""
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\n{REPORT}"],
        capture_output=True, check=True, encoding="utf-8", timeout=PATIENCE,
    )  # fmt: skip
    return set(done.stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "never"), [
    ("import attune_env", HEAVY),
    ("import attune_env; dir(attune_env); attune_env.__version__", HEAVY),
    ("from attune_env import load, Conversation; load('sample')", HEAVY),
    ("import attune_data", (*FRAMEWORKS, *HEAVY, "numpy")),
    ("from attune_data.simulate import Simulation; Simulation(1)[0]", (*FRAMEWORKS, *HEAVY, "numpy")),
    ("import attune_rewards", (*FRAMEWORKS, "jinja2", "rich", "typer")),
    ("import attune_episodes", (*FRAMEWORKS, "rich", "typer")),
    ("import attune_env.cli", OTHERS),
])  # fmt: skip
def test_what_an_import_does_not_load(statement: str, never: tuple[str, ...]) -> None:
    loaded = loaded_by(statement)
    assert loaded & set(never) == set()
    assert "attune_data" in loaded


@pytest.mark.slow
@pytest.mark.parametrize("library", ["scipy", "jinja2", "rich"])
def test_the_check_can_fail(library: str) -> None:
    assert library in loaded_by(f"import attune_env, {library}")
    assert loaded_by(f"import attune_env, {library}") & set(HEAVY) >= {library}


def test_public_names_load_on_first_use() -> None:
    assert "attune_episodes" not in loaded_by("import attune_env")
    assert "attune_episodes" in loaded_by("import attune_env; attune_env.Episode")
