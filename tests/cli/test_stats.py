"""`attune stats`: how each model's scores are spread, against values worked by hand."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from attune_data import load
from attune_env.report.analyses.model_stats import model_stats
from tests.command import attune_here, data_folder, read, scores_file, table_rows
from tests.data.builders import Json


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("stats")
    return scores_file(place, load(data_folder(place / "data")), "oracle", "always-no").parent


def test_a_distribution_worked_by_hand(place: Path) -> None:
    content: Json = read(place / "scores.json")
    content["conversations"] = [e for e in content["conversations"] if e["em_model"] == "builtin/always-no"]
    content["aggregates"] = [e for e in content["aggregates"] if e["em_model"] == "builtin/always-no"]
    for entry, value in zip(content["conversations"], (10.0, 20.0, 60.0), strict=True):
        entry["composite_score"] = value
        entry["pillar_emotion"] = value / 100
        entry["equal_weight_composite"] = None if value == 60.0 else value
    (table,) = model_stats(content)
    found = {row[0]: row[1:] for row in table.rows}
    # mean 90/3; deviations -20, -10, 30: sd sqrt(1400/2) = 26.457513, se sd/sqrt(3) = 15.275252;
    # quartiles halfway between neighbours: 15, 20, 40
    wanted = (3, 1.0, 30.0, 30.0, 26.457513, 15.275252, 10.0, 15.0, 20.0, 40.0, 60.0)
    assert found["Composite (0-100)"] == pytest.approx(wanted)
    assert found["Emotion Tracking, 24% (0-100)"] == pytest.approx(wanted)
    # two values of three: mean 15, (10 + 20 + 0)/3 = 10 with the gap as 0; sd sqrt(50) = 7.071068, se 5
    assert found["Equal-weight Composite (0-100)"] == pytest.approx(
        (2, 2 / 3, 15.0, 10.0, 7.071068, 5.0, 10.0, 12.5, 15.0, 17.5, 20.0)
    )
    assert found["Draft Judge"] == (0, 0.0, *[None] * 9)
    assert table.notes[0].startswith("parsed 100.0%, answered ")


def test_one_conversation_has_no_deviation(place: Path) -> None:
    content: Json = read(place / "scores.json")
    content["conversations"] = content["conversations"][:1]
    content["aggregates"] = content["aggregates"][:1]
    (table,) = model_stats(content)
    (row,) = [row for row in table.rows if row[0] == "Strict Composite (0-100)"]
    value = content["conversations"][0]["composite_strict"]
    assert row[1:] == (1, 1.0, value, value, None, None, *[value] * 5)


def test_the_oracle_is_printed_last(place: Path) -> None:
    out, err = attune_here("stats scores.json", place)
    assert err == ""
    assert attune_here("stats -s scores.json", place)[0] == out
    titles = list(table_rows(out))
    assert titles == [
        f"builtin/{name}, mode default, 3 conversations"
        for name in ("always-no (baseline)", "oracle (oracle)")
    ]


def test_the_csv_file_holds_a_row_a_model_and_metric(place: Path, tmp_path: Path) -> None:
    written = tmp_path / "stats.csv"
    attune_here(["stats", "scores.json", "--all", "-o", written], place)
    with written.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    entries = read(place / "scores.json")["conversations"]
    strict = [e["composite_strict"] for e in entries if e["em_model"] == "builtin/always-no"]
    (row,) = [r for r in rows if (r["model"], r["metric"]) == ("builtin/always-no", "composite_strict")]
    assert (row["kind"], row["mode"], row["n"]) == ("baseline", "default", "3")
    assert float(row["mean"]) == float(row["mean_unscored_as_0"]) == pytest.approx(sum(strict) / 3)
    assert row["parsed"] == "1.0"
    attune_here(["stats", "scores.json", "-o", written], place)  # an earlier table is replaced
    written.write_text("mine", encoding="utf-8")
    _, err = attune_here(["stats", "scores.json", "-o", written], place, code=1)
    assert "replace it with --overwrite" in err
    assert written.read_text(encoding="utf-8") == "mine"


def test_what_cannot_be_meant_is_bad_usage(place: Path) -> None:
    for words in ("", "scores.json -s scores.json", "scores.json -o stats.txt"):
        attune_here(f"stats {words}", place, 2)
