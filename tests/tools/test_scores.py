"""README and docs show what built-in policies score on the data as it is."""

from __future__ import annotations

from statistics import fmean

import pytest

from attune_data import load
from attune_env.audit.attacks import play
from attune_episodes import Settings, builtin_policy
from tools.pages import DOCS, ROOT, filled
from tools.scores import unreadable


@pytest.mark.parametrize("column", [3, 4])
@pytest.mark.parametrize("name", ["empty", "surface"])
def test_readme_shows_what_policies_score(name: str, column: int) -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
    conversations = load({3: "sample", 4: "written:test"}[column])
    played = play(conversations, builtin_policy(name, conversations), Settings(), lambda _: {})
    strict = fmean(one for one in played.strict if one is not None)
    assert row.split("|")[column].strip() == f"{strict:.1f}", "write it again: python -m tools.scores"


def test_the_page_shows_what_an_unreadable_reply_is_worth() -> None:
    page = (DOCS / "rewards.md").read_text("utf-8")
    assert filled(page, {"unreadable": unreadable()}) == page, "write it again: python -m tools.scores"
