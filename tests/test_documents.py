"""Documents and examples do what they say, run from a folder that is not the checkout."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from attune_episodes.policies import POLICIES
from tests.documents import LINK, ROOT, check_document, check_links
from tests.extras import pages
from tools import catalogue
from tools.hub_card import card

FRONT = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = [*FRONT, *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]
NEEDS_EXTRA = "attune-env["
"""Examples that name the extra which they need are run where it is installed, by `tests/extras/`."""
TESTED_ELSEWHERE = {"plain_loop.py", "app.py", "learned.py"}
"""Files with tests of their own, and the server that NeMo Gym starts by itself."""
SMALLER: Final[dict[str, tuple[str, ...]]] = {
    "map_rows.py": ("10", "2"),
    "prepare.py": ("-n", "2"),
}
"""Options with which an example takes seconds."""
EXAMPLES = [
    str(path.relative_to(ROOT))
    for path in sorted((ROOT / "examples").rglob("*.py"))
    if "__main__" in (code := path.read_text(encoding="utf-8"))
    and NEEDS_EXTRA not in code
    and path.name not in TESTED_ELSEWHERE
]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    assert check_links(ROOT / page) == []


def test_the_readme_of_the_hub_links_to_no_file_of_the_repository() -> None:
    assert LINK.findall(card()) == []


@pytest.mark.parametrize(("page", "section"), pages.PAGES)
def test_a_page_that_needs_an_extra_has_the_blocks_that_its_test_runs(page: str, section: str | None) -> None:
    assert pages.blocks_of(page, section)


@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=() if p in FRONT else pytest.mark.slow) for p in PAGES]
)
def test_a_page_runs_and_prints_what_it_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert check_document(ROOT / page, str(tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs(example: str, tmp_path: Path) -> None:
    command = (sys.executable, str(ROOT / example), *SMALLER.get(Path(example).name, ()))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("name", catalogue.PAGES)
def test_the_tables_of_policies_presets_and_analyses_are_current(name: str) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert catalogue.rewritten(name, page) == page, "write it again: python -m tools.catalogue"


def test_the_readme_shows_policies_in_the_words_of_their_definitions() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \| [\d. ²]+ \| [\d.]+ \|$", text, re.MULTILINE)
    assert len(rows) > 10
    assert dict(rows).items() <= {name: one.uses for name, one in POLICIES.items()}.items()
