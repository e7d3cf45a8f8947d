"""The names that `import attune_env` offers, and what importing loads: heavy libraries only where used."""

from __future__ import annotations

import importlib
import tomllib
from operator import attrgetter
from pathlib import Path

import pytest

import attune_env
from attune_data import AttuneError
from tests.command import loaded_by

ROOT = Path(__file__).parents[1]

PROMISED = {"load", "plan", "parse", "score", "Episode", "Policy", "rollout", "rollout_batch", "RewardSpec",
            "score_row", "testing"}  # fmt: skip
"""The names that others build on."""


def test_the_promised_names_are_public() -> None:
    assert set(attune_env.__all__) >= PROMISED


@pytest.mark.parametrize("name", attune_env.__all__)
def test_every_public_name_resolves_to_the_thing_itself(name: str) -> None:
    value = getattr(attune_env, name)
    assert value is not None
    if name != "__version__":
        home = importlib.import_module(attune_env._HOME[name])
        assert value is getattr(home, name)
        assert not name.startswith("_")


def test_names_and_homes_agree() -> None:
    assert set(attune_env.__all__) == {*attune_env._HOME, "__version__"}
    assert sorted(attune_env.__all__) == dir(attune_env)
    assert len(set(attune_env.__all__)) == len(attune_env.__all__)


def test_a_star_import_brings_them_all() -> None:
    names: dict[str, object] = {}
    exec("from attune_env import *", names)
    assert names.keys() >= set(attune_env.__all__)


@pytest.mark.parametrize("name", ["rolout", "attune_data", "_home", "Load"])
def test_an_unknown_name_is_an_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'attune_env' has no attribute '{name}'"):
        getattr(attune_env, name)
    assert not hasattr(attune_env, name)


def test_an_unknown_name_cannot_be_imported() -> None:
    with pytest.raises(ImportError, match="rolout"):
        exec("from attune_env import rolout")


def test_the_version_is_the_one_of_pyproject_and_of_the_citation() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert attune_env.__version__ == declared, "install again: pip install -e ."
    assert f"\nversion: {declared}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_licence_in_the_package_is_the_one_of_the_repository() -> None:
    assert (ROOT / "attune_env" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_what_prime_leaves_behind_is_not_committed() -> None:
    assert ".prime/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("package", ["attune_data", "attune_rewards", "attune_episodes"])
def test_the_floors_below_name_only_what_they_have(package: str) -> None:
    module = importlib.import_module(package)
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize(("name", "arguments", "told"), [
    ("Settings", {"stages": 3}, "stages is 3; expected a list of names"),
    ("Settings", {"prompts": 3}, "prompts is 3; expected full, compact or the path"),
    ("Settings", {"codebook": "official"}, "codebook is \"official\"; expected a Codebook"),
    ("training_dataset", {"stages": None, "prompts": 3}, "prompts is 3; expected full"),
    ("training_dataset", {"number": ["x"]}, r"number is \['x'\]; .* a whole number"),
    ("load", {"source": 3}, "the source is 3; expected a folder"),
    ("select", {"where": 3}, "where is 3; expected a text such as"),
    ("split", {"shares": 0.8}, "shares is 0.8; expected splits and their shares"),
    ("official_subset", {"name": 3}, "no official subset named \"3\""),
    ("builtin_policy", {"name": ["prior"]}, "no built-in policy named"),
    ("RewardSpec.preset", {"name": ["skill"]}, "no reward preset named"),
])  # fmt: skip
def test_an_argument_of_the_wrong_kind_is_told_as_what_it_is_beside_what_was_expected(
    name: str, arguments: dict[str, object], told: str
) -> None:
    if name in ("select", "split", "official_subset", "builtin_policy"):
        arguments = {"conversations": attune_env.load("sample"), **arguments}
    with pytest.raises(AttuneError, match=told):
        attrgetter(name)(attune_env)(**arguments)


# --- imports ---------------------------------------------------------------------------------------------

FRAMEWORKS = (
    "scipy", "gymnasium", "datasets", "verifiers", "torch", "openenv", "matplotlib", "lm_eval", "inspect_ai",
)  # fmt: skip
OTHERS = tuple(name for name in FRAMEWORKS if name != "gymnasium")
"""Importing `attune_env` imports Gymnasium, to register the environment."""
HEAVY = (*OTHERS, "jinja2", "rich", "typer", "attune_rewards", "attune_episodes")


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "never"), [
    ("import attune_env", HEAVY),
    ("import attune_env; dir(attune_env); attune_env.__version__", HEAVY),
    ("from attune_env import load, Conversation; load('sample')", HEAVY),
    ("import attune_data", (*FRAMEWORKS, *HEAVY, "numpy")),
    ("import attune_rewards", (*FRAMEWORKS, "jinja2", "rich", "typer")),
    ("import attune_episodes", (*FRAMEWORKS, "rich", "typer")),
    # help lists the policies without them
    ("import attune_env.cli", (*OTHERS, "attune_rewards", "attune_episodes.policies.base")),
    # what the last line of a run needs: Ctrl-C waits for it
    ("import attune_env.tables.table", OTHERS),
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
