"""The example of a trainer that needs nothing but this package."""

from __future__ import annotations

import runpy

import pytest

from tests.examples import FOLDER


@pytest.mark.slow
def test_the_plain_loop_learns_what_reading_nothing_can_earn(capsys: pytest.CaptureFixture[str]) -> None:
    assert runpy.run_path(str(FOLDER / "trainers" / "plain_loop.py"))["main"]() == 0
    # by its `prior`, no feelings is the constant answer that pays best, and `skill` measures from it
    assert capsys.readouterr().out == (
        "held-out reward -0.52 -> 0.02\n"
        'what it says in 99% of all cases: {"emotions": []}\n'
    )  # fmt: skip
