"""A report can be made of anything that was scored: any stages, policies, conversations and holes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attune_data import Conversations, load
from attune_env.report.analyses import ANALYSES, Absent, Study
from attune_env.report.analyses.leaderboard import printed_tables
from attune_env.report.analyses.sources import Part
from attune_env.report.analyses.summary import summary
from attune_env.report.figures.style import drawn
from attune_env.report.pages.report import Wanted, write_report
from attune_env.testing import filler
from attune_episodes import BUILTIN, Settings, builtin_policy, rollout
from attune_rewards import STAGES
from tests.report.analyses.made import study_of

Mix = tuple[Conversations, dict[str, tuple[tuple[str, ...], int]]]
"""Conversations, and for each policy the stages that it was asked and how many of the conversations."""


@st.composite
def mixes(draw: st.DrawFn) -> Mix:
    source = draw(st.sampled_from(["sample", "filler", "holed", "bare"]))
    number = draw(st.integers(1, 6))
    if source == "sample":
        talks = load("sample")[:number]
    else:
        holes = {"filler": 0.0, "holed": 0.5, "bare": 1.0}[source]
        talks = filler(number, draw(st.integers(0, 9)), turns=(1, 3), holes=holes)
    stages = st.lists(st.sampled_from(STAGES), min_size=1, unique=True).map(
        lambda chosen: tuple(stage for stage in STAGES if stage in chosen)
    )
    policies = draw(st.lists(st.sampled_from(BUILTIN), min_size=1, max_size=4, unique=True))
    return talks, {name: (draw(stages), draw(st.integers(1, number))) for name in policies}


def made(folder: Path, mix: Mix) -> Study:
    talks, asked = mix
    records = []
    for name, (stages, number) in asked.items():
        how = Settings(stages=stages)  # type: ignore[arg-type]
        policy = builtin_policy(name, talks, how, fit_on=load("sample"))
        records += [rollout(talk, policy, how).result for talk in talks[:number]]
    return study_of(folder, talks, records)


@given(mixes())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_analysis_has_tables_or_says_what_it_needs(
    tmp_path_factory: pytest.TempPathFactory, mix: Mix
) -> None:
    study = made(tmp_path_factory.mktemp("mix"), mix)
    assert all(line.endswith(".") for line in summary(study))
    for analysis in ANALYSES:
        try:
            found = analysis.run(study)
        except Absent:
            continue
        assert all(table.csv_text() for table in found.tables.values())
    try:
        printed = printed_tables(study, every=True)
    except Absent:
        return
    assert printed


@pytest.mark.slow
@given(mixes())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_figure_of_a_report_is_drawn(tmp_path_factory: pytest.TempPathFactory, mix: Mix) -> None:
    study = made(tmp_path_factory.mktemp("mix"), mix)
    for analysis in ANALYSES:
        try:
            found = analysis.run(study)
        except Absent:
            continue
        for draw in found.draws.values():
            assert drawn(draw(), ())["svg"]


def test_a_report_that_fails_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no ink")

    monkeypatch.setattr("attune_env.report.pages.report._finished", broken)
    study = made(tmp_path, (load("sample")[:1], {"oracle": (STAGES, 1)}))
    with pytest.raises(RuntimeError, match="no ink"):
        write_report(tmp_path / "out", [Part("scores", study)], Wanted(("svg",), conversations=False))
    assert [path.name for path in tmp_path.iterdir()] == ["results"]
