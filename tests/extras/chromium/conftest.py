"""A Chromium, installed from Debian where it is missing and may be installed."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.extras.chromium.browser import find_chromium


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium; skips, saying so, where there is none and none may be installed."""
    if (found := find_chromium()) is not None:
        return found
    if shutil.which("apt-get") is None:
        pytest.skip("no Chromium here, and no apt-get to install Debian's with")
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if root and shutil.which("sudo") is None:
        pytest.skip("no Chromium here, and no right to install one: apt-get install chromium")
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]):
        done = subprocess.run(
            [*root, *command],
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        if done.returncode and command[1] == "install":
            pytest.skip(f"Chromium could not be installed: {done.stderr.strip()[-300:]}")
    found = find_chromium()
    assert found is not None, "apt-get said that it installed Chromium, and there is none"
    return found
