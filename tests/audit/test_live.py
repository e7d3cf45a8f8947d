"""The audit of live episodes: when it fails, and that the page in the docs is of these readers."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data.simulate.stream import LEVELS, VERSION
from attune_env.audit import live_audit, live_tables
from attune_env.audit.live import LiveAudit, LiveRow
from attune_env.statistics import Interval
from attune_episodes.live.attacks import ATTACKS, best_constant
from attune_episodes.live.calibrate import fingerprint
from attune_episodes.live.constants import Constants, provenance
from attune_episodes.reading import READERS, reader

ROOT = Path(__file__).parents[2]


def around(mean: float) -> Interval:
    return Interval(mean, mean - 0.01, mean + 0.01, 10, 10)


def audit(
    attack: float = -0.2, climb: float = -0.1, silence: float = -0.2, constant: float = 0.0
) -> LiveAudit:
    def row(name: str, kind: str, total: float) -> LiveRow:
        return LiveRow(name, kind, around(total), around(total - constant), 0.0, 0.0)  # type: ignore[arg-type]

    rows = (
        row("oracle", "state", 1.0),
        row("best constant", "constant", constant),
        row("silence", "attack", silence),
        row("parrot", "attack", attack),
    )
    return LiveAudit("people", "ask", rows, around(climb))


def test_when_it_holds_and_when_not() -> None:
    assert audit().reasons == []
    assert audit(attack=0.005).reasons == []  # upper bound 0.015
    assert audit(attack=0.02).reasons == ["parrot may earn 0.030 more than the best constant"]
    assert audit(climb=0.0).reasons == ["the climb may earn as much as the people's own edits"]
    assert audit(silence=0.01, constant=0.1).reasons == ["silence does not earn less than nothing"]
    # (0 + 0.5)/(1 + 0.5)
    assert audit(silence=-0.5).reasons == ["the best constant earns 33% of the range from silence to oracle"]
    assert "Verdict: FAILS" in live_tables(audit(climb=0.0))[0].notes[0]


def test_constants_are_of_this_world_and_these_readers() -> None:
    """Where this fails run `python -m attune_episodes.live.calibrate`, then `python docs/live_page.py`."""
    found = provenance()
    assert found["world"] == VERSION
    assert set(found["readers"]) == set(READERS)
    assert set(found["readers"]["fitted"]["levels"]) == set(LEVELS)
    for name, one in found["readers"].items():
        assert one["fingerprint"] == fingerprint(reader(name))
        for values in one["levels"].values():
            measured = Constants(**values)
            assert measured.silence < measured.zero < measured.oracle
            assert measured.share <= 0.25
    assert best_constant().blocks == tuple(found["readers"]["fitted"]["zero"]["blocks"])


def test_the_page_in_the_docs_shows_every_attack_and_passes() -> None:
    page = (ROOT / "docs" / "live.md").read_text("utf-8")
    for name in (*ATTACKS, "climb", "own edits", "oracle", "best constant"):
        assert f"| {name} |" in page
    assert "Verdict: passes." in page
    assert f"best constant: {best_constant().name}." in page


@pytest.mark.slow
def test_a_small_audit_ranks_what_knows_above_what_does_not() -> None:
    found = live_audit(size=30)
    totals = {row.name: row.total.mean or 0.0 for row in found.rows}
    assert totals["oracle"] > totals["own edits"] > totals["silence"]
    assert max(totals, key=lambda name: totals[name]) == "oracle"
    assert max(totals[name] for name in ATTACKS) < totals["own edits"]
