"""What Inspect reports is what `tests/frozen` keeps of the same replies."""

from __future__ import annotations

from pathlib import Path

from tests.endpoint import serve
from tests.extras.inspect.evaluating import evaluated
from tests.frozen.adapters import book
from tests.frozen.keeping import kept, plain
from tests.rewards.test_golden import differences


def test_every_metric_of_a_sample(tmp_path: Path) -> None:
    want = kept("harnesses")["inspect"]["draft assess assess_hp prefer reflect"]
    with serve(book(2)) as server:
        found = evaluated(server, tmp_path, {"number": 2, "reasks": 0})
    got = {name: plain(values) for (name, _), values in found.values.items()}
    assert differences({name: about["values"] for name, about in want.items()}, got) == []
