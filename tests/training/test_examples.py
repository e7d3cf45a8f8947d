"""The example of a trainer that needs nothing but this package."""

from __future__ import annotations

import re
import runpy

import pytest

from tests.examples import FOLDER


@pytest.mark.slow
def test_the_plain_loop_learns_what_reading_nothing_can_earn(capsys: pytest.CaptureFixture[str]) -> None:
    assert runpy.run_path(str(FOLDER / "trainers" / "plain_loop.py"))["main"]() == 0
    told = capsys.readouterr().out
    first, *_, last = map(float, re.findall(r"held-out reward (-?[\d.]+)", told))
    assert last - first > 0.1
    assert abs(last) < 0.1  # `skill` measures from the constant answer that pays best
    assert told.endswith('of all cases: {"emotions": []}\n')
