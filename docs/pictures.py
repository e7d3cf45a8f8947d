"""Remake the pictures of the README from a demonstration, with Debian's Chromium.

python docs/pictures.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

IMAGES = Path(__file__).resolve().parent / "images"
CHROMIUM = (
    *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)


def main() -> None:
    """Plays every baseline over the sample and takes a picture of the top of the report."""
    with tempfile.TemporaryDirectory() as folder:
        demo = (sys.executable, "-m", "attune_env", "demo", "--output", "demo")
        subprocess.run(demo, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        page = next(Path(folder).rglob("report.html"))
        subprocess.run(
            [
                *CHROMIUM,
                f"--user-data-dir={folder}/profile",
                "--window-size=1200,1000",
                f"--screenshot={IMAGES / 'report.png'}",
                page.as_uri(),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    main()
