"""A missing extra, an extra in another version, and a version that was not tested."""

from __future__ import annotations

import sys
import tomllib
import warnings
from importlib.metadata import version
from pathlib import Path

import pytest

from attune_data import load
from attune_data.errors import AttuneError
from attune_data.extras import MissingExtraError, UntestedVersionWarning, needs_extra, warn_if_untested
from attune_data.files.write import write_dataset
from attune_env import training_dataset
from attune_episodes.frameworks import inspect, openenv, verl

ROOT = Path(__file__).resolve().parents[2]


def test_a_missing_package_of_an_extra_gives_the_line_that_installs_it() -> None:
    with (
        pytest.raises(
            MissingExtraError, match=r"'verl' is not installed.*in the clone, pip install \"\.\[verl\]"
        ) as caught,
        needs_extra("verl", "no_such_package"),
    ):
        import no_such_package.inner  # type: ignore[import-not-found]  # noqa: F401
    assert isinstance(caught.value, AttuneError)
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_a_name_that_is_gone_from_the_package_is_another_version() -> None:
    with pytest.raises(MissingExtraError, match="in an untested version"), needs_extra("x", "numpy"):
        from numpy.linalg import no_such_name  # type: ignore[attr-defined]  # noqa: F401


def test_an_import_that_fails_elsewhere_raises_its_own_error() -> None:
    with pytest.raises(ModuleNotFoundError, match="other_package"), needs_extra("verl", "no_such_package"):
        import other_package  # type: ignore[import-not-found]  # noqa: F401


def test_a_version_is_in_its_range_from_the_first_up_to_without_the_second() -> None:
    found = version("numpy")
    number = int(found.split(".")[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_untested("numpy", found, f"{number + 1}")
        warn_if_untested("no-such-distribution", "1", "2")
    for lowest, below in ((f"{number + 1}", f"{number + 2}"), ("0.1", found)):
        with pytest.warns(UntestedVersionWarning, match=rf"numpy {found} is installed.*{below}\. Since\."):
            warn_if_untested("numpy", lowest, below, "Since.")


def test_what_the_extras_install_first_is_what_was_tested() -> None:
    """skyrl-gym and lm-eval cannot be imported here; their ranges are looked at where they can."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for extra, package, (lowest, *_) in (
        ("inspect", "inspect-ai", inspect.TESTED),
        ("openenv", "openenv", openenv.TESTED),
        ("verl", "verl", verl.TESTED),
    ):
        wanted, *_ = extras[extra]
        assert wanted.startswith(f"{package}>={lowest}")


def test_without_datasets_what_needs_it_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    data = load("sample")[:1]
    for needs in (
        lambda: load("some/where"),
        lambda: write_dataset(data, tmp_path / "out"),
        lambda: training_dataset(data),
    ):
        with pytest.raises(MissingExtraError, match=r"'train' is not installed .*\[train\]"):
            needs()
