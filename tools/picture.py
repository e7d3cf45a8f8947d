"""Remake the pictures of the README and the docs, with Debian's Chromium.

python -m tools.picture report RESULTS    # of models and baselines over the sample, as in docs/learning.md
python -m tools.picture study
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from attune_env.study.events import Store
from attune_env.study.folder import new_study, read_study
from attune_env.study.scripted import Participant
from attune_env.study.serving import serving
from tools.pages import DOCS

IMAGES = DOCS / "images"
CHROMIUM = (
    *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)
REPORT = "1200,1100"
"""Shows the page down to the end of the leaderboard."""
PHONE = "500,1100"
PAGES: Final = ("say", "judge", "compare")
"""The kinds of pages of a study that the docs show."""
FILLED: Final = (
    ("FILL IN: a crisis line of your country", "Crisis line"), ("FILL IN: its number", "0800 000 000"),
    ("FILL IN: the emergency number", "000"), ("FILL IN: your name and institution", "A. Researcher"),
    ("FILL IN: your e-mail address", "study@example.org"),
)  # fmt: skip


def shoot(folder: Path, address: str, name: str, size: str) -> None:
    """Take a picture of a page."""
    profile, picture = f"--user-data-dir={folder}/profile", f"--screenshot={IMAGES / name}"
    command = [*CHROMIUM, profile, f"--window-size={size}", picture, address]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def report(folder: Path, results: str) -> None:
    """The report on results over the sample."""
    scores = folder / "scores.json"
    for command in (
        ("score", "--results", results, "--data", "sample", "--scoring", "strict", "--output", str(scores)),
        ("report", str(scores), "-o", str(folder / "report")),
    ):
        subprocess.run((sys.executable, "-m", "attune_env", *command), check=True, capture_output=True)
    shoot(folder, (folder / "report" / "report.html").as_uri(), "report.png", REPORT)


def study(folder: Path) -> None:
    """Pages of a study, as a scripted participant comes to them."""
    path = new_study(folder / "study")
    text = path.read_text(encoding="utf-8")
    for old, new in FILLED:
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    made, missing = read_study(path.parent), list(PAGES)
    with Store(made.database) as store, serving(made, store) as address:
        link = f"{address}/{store.link(store.invite(time.time() + 1_000))}"
        for page in Participant(link).walk():
            kind = page.step.partition(".")[0]
            if kind in missing and page.step != "say.1":
                missing.remove(kind)
                shoot(folder, link, f"study-{kind}.png", PHONE)


def main() -> None:
    """Remake the picture that is named."""
    makers: dict[str, Callable[..., None]] = {"report": report, "study": study}
    name, *given = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        makers[name](Path(folder), *given)


if __name__ == "__main__":
    main()
