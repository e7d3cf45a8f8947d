"""The site builds without a warning, finds what one searches, and fits a telephone."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.documents import ROOT
from tests.extras.chromium.browser import browser
from tests.extras.chromium.conftest import chromium

__all__ = ["chromium"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    command = (sys.executable, "-m", "tools.build_site", made)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return made


def test_no_link_is_dead(site: Path) -> None:
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    dead = []
    for path, text in pages.items():
        for link in re.findall(r'(?:href|src)="(?!https?:|mailto:|data:|#)([^"]+)"', text):
            target, _, anchor = unquote(link).partition("#")
            found = (path.parent / target.partition("?")[0]).resolve()
            if not found.exists() or (anchor and f'id="{anchor}"' not in pages.get(found, f'id="{anchor}"')):
                dead.append(f"{path.relative_to(site)}: {link}")
    assert dead == []


def test_every_page_has_its_place_and_nothing_is_fetched(site: Path) -> None:
    home = (site / "index.html").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert f'href="{page.stem}.html"' in home or page.stem == "index"
    for path in site.rglob("*.html"):
        assert not re.search(r'<(?:script|link|img)[^>]+(?:src|href)="https?:', path.read_text("utf-8"))


@pytest.mark.parametrize("name", ["attune_env.Episode", "attune_env.RewardSpec", "attune_rewards.Tag"])
def test_public_names_are_in_the_reference(site: Path, name: str) -> None:
    package = name.rpartition(".")[0]
    assert f'id="{name}"' in (site / "reference" / f"{package}.html").read_text(encoding="utf-8")


def test_it_is_read_in_a_browser(site: Path, chromium: str) -> None:
    async def look() -> None:
        async with browser(chromium) as page:
            for dark in (False, True):
                for width in (380, 1300):
                    for name in ("index", "metrics", "reference/attune_env"):
                        await page.open(site / f"{name}.html", width=width, dark=dark)
                        wide = await page.ask("document.documentElement.scrollWidth - window.innerWidth")
                        assert wide <= 0, (name, width)
            await page.open(site / "search.html")
            await page.ask("location.search = '?q=pairwise'")
            for _ in range(100):
                await asyncio.sleep(0.1)
                if await page.ask("document.querySelectorAll('#search-results li').length"):
                    break
            assert await page.ask("document.querySelectorAll('#search-results li').length") > 1
            assert page.complaints == []

    asyncio.run(look())
