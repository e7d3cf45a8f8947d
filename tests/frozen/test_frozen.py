"""Nothing moved that was frozen. Meant to move it? `python -m tests.frozen.make NAME`, and the changelog."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frozen.keeping import differences, moved
from tests.frozen.make import KEPT, now

SLOW = {"episodes", "exit_codes", "gymnasium", "report", "runs_builtin", "verifiers"}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in KEPT])
def test_nothing_moved(name: str, tmp_path: Path) -> None:
    assert moved(name, now(name, tmp_path)) == []


def test_a_difference_is_named_with_its_place() -> None:
    want = {"a": [{"b": 1.5, "c": None}], "d": {"x": 1, "y": 2}, "e": 1}
    got = {"a": [{"b": 1.25, "c": 0}, 3], "d": {"y": 2, "x": 1}, "f": 1}
    assert list(differences(want, want)) == []
    assert list(differences(want, got)) == [
        "a: 2 entries, were 1",
        "a[0].b: 1.25, was 1.5",
        "a[0].c: 0, was null",
        'd: keys in another order, ["y", "x"], was ["x", "y"]',
        "e: is gone, was 1",
        "f: is new: 1",
    ]
