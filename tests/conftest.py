"""Hypothesis without clocks, since a busy machine is no failure; and a folder that many tests start from."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from attune_data import load
from tests.command import data_folder, results

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so a shell starts what runs in its background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with `data` (three conversations) and `results` of two policies."""
    data_folder(tmp_path / "data")
    results(tmp_path / "results", load(tmp_path / "data"), "oracle", "always-no")
    return tmp_path
