"""Remake the picture of the README: the report on the built-in policies, with Debian's Chromium.

python -m tools.picture
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tools.pages import DOCS

IMAGES = DOCS / "images"
CHROMIUM = (
    *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)
SIZE = "1200,1100"
"""Shows the page down to the end of the leaderboard."""


def main() -> None:
    """Play every built-in policy over the sample and take a picture of the report."""
    with tempfile.TemporaryDirectory() as folder:
        demo = (sys.executable, "-m", "attune_env", "demo", "-o", "demo")
        subprocess.run(demo, check=True, cwd=folder, capture_output=True)
        subprocess.run(
            [
                *CHROMIUM,
                f"--user-data-dir={folder}/profile",
                f"--window-size={SIZE}",
                f"--screenshot={IMAGES / 'report.png'}",
                (Path(folder) / "demo" / "report" / "report.html").as_uri(),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    main()
