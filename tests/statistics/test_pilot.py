"""The human pilot's figures: a dated note."""

from __future__ import annotations

from attune_env.report.pilot import PILOT, pilot_note


def test_the_note_names_its_size_source_and_figures() -> None:
    note = pilot_note()
    assert "3 annotators, 7 conversations" in note
    assert "March 2026" in note
    # people were better than the best model on preferences
    assert PILOT.best_pairwise > PILOT.best_model_pairwise
    for figure in ("0.722", "0.665", "0.853"):
        assert figure in note
