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
        "step 0: held-out reward -0.52\nstep 100: held-out reward -0.01\nstep 200: held-out reward 0.01\n"
        "step 300: held-out reward 0.02\nstep 400: held-out reward 0.02\n"
        'It reads nothing, so one answer must fit everybody; in 99% of all cases: {"emotions": []}\n'
    )
