"""`attune report`: three groups and a leaderboard, plain wherever no terminal is watching."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attune_data import load
from attune_env.tables.groups import COMPOSITES, GROUPS, PARTIAL, TURN, WIDE
from attune_rewards import flatten
from tests.command import attune, attune_here, data_folder, read, scores_file, table_rows
from tests.data.builders import write

BOXES = set("─━│┃┌┐└┘├┤┬┴┼╭╮╰╯╇╡┏┓┗┛┡┩╴╶")
POLICIES = ("oracle", "always-no", "empty")


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scores file of three policies on three conversations."""
    place = tmp_path_factory.mktemp("report")
    return scores_file(place, load(data_folder(place / "data")), *POLICIES)


def report(scores: Path, *options: str, code: int = 0, **environment: str) -> tuple[str, list[str]]:
    done = attune("report", "--scores", scores, *options, cwd=scores.parent, code=code, **environment)
    return done.stdout, done.stderr.splitlines()


def test_the_three_groups_stand_under_the_leaderboard(scores: Path) -> None:
    out, err = report(scores)
    assert err == []
    first, *_ = out.splitlines()
    assert first.startswith("`empty` scores 12.0 of 100 and has too little data for a test against `always")
    tables = table_rows(out)
    leading, *groups = tables
    assert leading.startswith("Leaderboard, canonical scoring")
    assert [one.partition(";")[0] for one in groups] == [title for title, _ in GROUPS]
    (absent,) = [line for line in out.splitlines() if "Not in these results" in line]
    for title, group in GROUPS:
        header, *rows = tables[f"{title}; mode default"]
        assert header[0] == "metric"
        assert sorted(one.split(" ")[0] for one in header[1:]) == [f"builtin/{n}" for n in sorted(POLICIES)]
        assert {len(row) for row in rows} == {len(header)}
        # what no policy has (nobody judged the drafts) is named instead
        shown = [row[0] for row in rows]
        for metric in group:
            if metric.column == PARTIAL:  # every stage was asked
                continue
            assert (metric.label in absent) != (f"{metric.label}, {metric.role}" in shown)


def test_a_scores_file_of_any_size_is_read(scores: Path) -> None:
    # many results make a large file: 25 MB here, more than any one conversation may have
    large = scores.with_name("large.json")
    large.write_text(scores.read_text(encoding="utf-8") + " " * 25_000_000, encoding="utf-8")
    assert report(large) == report(scores)


def test_means_are_those_of_the_scores_file(scores: Path) -> None:
    tables = table_rows(report(scores)[0])
    entries = read(scores)["conversations"]
    assert {metric.column for metric in (*TURN, *WIDE, *COMPOSITES)} - {PARTIAL} <= set(flatten(entries[0]))
    values = [e["composite_strict"] for e in entries if e["em_model"] == "builtin/always-no"]
    header, *rows = tables["Composite; mode default"]
    (row,) = [row for row in rows if row[0].startswith("Strict Composite (0-100)")]
    cell = row[header.index("builtin/always-no baseline")]
    assert cell.startswith(f"{sum(values) / 3:.2f} [")
    assert cell.endswith("]†")  # three conversations: no interval to trust


@pytest.mark.slow
def test_without_a_terminal_output_is_plain_and_the_same_every_time(scores: Path) -> None:
    out, _ = report(scores, PYTHONHASHSEED="1")
    for columns in ("40", "400"):
        again, _ = report(scores, PYTHONHASHSEED="2", COLUMNS=columns, FORCE_COLOR="1", TERM="xterm-256color")
        assert again == out
    assert "\x1b" not in out
    assert not BOXES & set(out)
    assert all(len(rows) > 1 for rows in table_rows(out).values())


def test_participants_with_several_conversations_are_resampled_as_one(scores: Path, tmp_path: Path) -> None:
    for unit, said in (("auto", "conversation"), ("conversation",) * 2, ("participant",) * 2):
        assert f"10,000 resamples by {said};" in report(scores, "--resample", unit)[0]
    content = read(scores)
    for entry in content["conversations"]:
        entry["attune"]["participant"] = "P1" if entry["conversationId"] != "c-3" else "P3"
    assert "resamples by participant;" in report(write(tmp_path / "scores.json", content))[0]


def test_other_modes_are_marked_as_not_primary(scores: Path, tmp_path: Path) -> None:
    content = read(scores)
    for entry in (*content["conversations"], *content["aggregates"]):
        entry["mode"] = "verbose"
    out, _ = report(write(tmp_path / "scores.json", content))
    assert "Composite; mode verbose (not primary)" in table_rows(out)


ENTRY = {"conversationId": "c", "em_model": "m", "mode": "default", "post_score": {}}
GOOD: dict[str, Any] = {"metadata": {"format": 1}, "conversations": [ENTRY]}  # but for its settings


@pytest.mark.parametrize("content", [
    None, "{", [], {"metadata": {"format": 1}}, GOOD | {"metadata": {"format": 99}},
    GOOD | {"metadata": None}, GOOD | {"conversations": [3]},
    GOOD | {"conversations": [{"conversationId": "c"}]}, GOOD,
])  # fmt: skip
def test_what_is_no_scores_file_is_refused_in_one_message(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "scores.json"
    if content is not None:
        write(path, content)
    out, (line,) = report(path, code=1)
    assert out == ""
    assert line.startswith(f"error: {path}")


def test_a_scores_file_is_named_alone_or_with_the_option(scores: Path, tmp_path: Path) -> None:
    plain, _ = attune_here(["report", scores], scores.parent)
    assert plain == report(scores)[0]
    assert "--scores" in attune_here("report", tmp_path, 2)[1]


def test_models_are_compared_with_the_baseline_that_is_named(scores: Path) -> None:
    tables = table_rows(report(scores, "--baseline", "builtin/empty")[0])
    header, *rows = tables["Verdict: each model against `empty`, points of 100; mode default"]
    assert [(row[0], row[header.index("baseline")]) for row in rows] == [("builtin/always-no", "empty")]
    assert "p, Holm" in header
    assert "builtin/empty" in report(scores, "--baseline", "builtin/emty", code=2)[1][0]


def test_samples_of_a_model_stand_beside_its_conversations(scores: Path, tmp_path: Path) -> None:
    assert "Samples" not in report(scores)[0]  # one sample each
    content = read(scores)
    by_model = {"builtin/empty": ("m/x", 40.0, 60.0), "builtin/always-no": ("m/x@sample2", 44.0, 60.0)}
    # two conversations: means 50 and 52, so sd over samples sqrt(2); over them 42 and 60, se 9
    ids = sorted({entry["conversationId"] for entry in content["conversations"]})
    entries = []
    for entry in content["conversations"]:
        if entry["em_model"] in by_model:
            name, *values = by_model[entry["em_model"]]
            about = ids.index(entry["conversationId"])
            if about < 2:
                entries.append(entry | {"em_model": name, "composite_score": values[about]})
    groups = [
        group | {"em_model": by_model[group["em_model"]][0]}
        for group in content["aggregates"]
        if group["em_model"] in by_model
    ]
    changed = content | {"conversations": entries, "aggregates": groups}
    tables = table_rows(report(write(tmp_path / "scores.json", changed))[0])
    header, row = tables["Samples, canonical Composite, points of 100"]
    assert dict(zip(header, row, strict=True)) == {
        "model": "m/x", "mode": "default", "samples": "2", "mean": "51.0", "sd over samples": "1.41",
        "se over conversations": "9.00",
    }  # fmt: skip
