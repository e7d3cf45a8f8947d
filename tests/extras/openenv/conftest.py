"""The tests of the extra `openenv`: real servers on loopback, real clients."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tools.openenv_folder import make_openenv_folder

collect_ignore_glob = [] if find_spec("openenv") else ["test_*.py"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `make openenv` makes, without the lock that uv writes from the index."""
    made = tmp_path_factory.mktemp("build") / "attune_env"
    make_openenv_folder(made)
    (made / "uv.lock").touch()
    return made
