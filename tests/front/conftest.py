"""Places that several command tests start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data import load
from tests.front.command import data_folder, results


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with `data` (three conversations) and `results` of two policies."""
    data_folder(tmp_path / "data")
    results(tmp_path / "results", load(tmp_path / "data"), "oracle", "always-no")
    return tmp_path
