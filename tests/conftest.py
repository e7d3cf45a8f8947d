"""Hypothesis without clocks, since a busy machine is no failure; and a folder that many tests start from."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from attune_data import load
from tests.command import data_folder, results

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with `data` (three conversations) and `results` of two policies."""
    data_folder(tmp_path / "data")
    results(tmp_path / "results", load(tmp_path / "data"), "oracle", "always-no")
    return tmp_path
