"""`attune demo`: every built-in policy over the sample, twice the same."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from attune_data import load
from attune_episodes import BUILTIN
from tests.front.command import attune, names, read, snapshot, table_rows

pytestmark = pytest.mark.slow  # the whole sample by every policy, twice


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("demo")
    done = attune("demo", "-o", "my demo", cwd=place)
    (place / "out.txt").write_text(done.stdout, "utf-8")
    (place / "err.txt").write_text(done.stderr, "utf-8")
    return place


def test_a_demo_elsewhere_gives_the_same_whatever_lay_there(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "my demo", tmp_path / "my demo")
    one = tmp_path / "my demo" / "sample-01_builtin_prior_default.json"
    one.write_text("{}", "utf-8")  # a result of another version, say
    done = attune("demo", "--output", "my demo", cwd=tmp_path, PYTHONHASHSEED="7")
    before, after = snapshot(place / "my demo"), snapshot(tmp_path / "my demo")
    assert after.keys() == before.keys()
    same = [name for name in before if name == "scores.json" or name.startswith("report/")]
    assert [name for name in same if after[name] != before[name]] == []
    assert done.stdout == (place / "out.txt").read_text("utf-8")


def test_every_policy_plays_every_conversation(place: Path) -> None:
    sample = load("sample")
    assert len(names(place / "my demo")) == len(BUILTIN) * len(sample) + 2  # and scores, and the report
    scores = read(place / "my demo" / "scores.json")
    assert scores["metadata"]["models"] == sorted(f"builtin/{name}" for name in BUILTIN)
    assert (scores["metadata"]["n_conversations"], scores["metadata"]["ground_truth"]) == (
        len(sample),
        "sample",
    )
    assert {group["parse_rate"] for group in scores["aggregates"]} == {1.0}


def test_the_leaderboard_shows_all_and_the_oracle_first(place: Path) -> None:
    out = (place / "out.txt").read_text("utf-8")
    (rows,) = table_rows(out).values()
    assert {row[0] for row in rows[1:]} == {f"builtin/{name}" for name in BUILTIN}
    assert rows[1][:2] == ["builtin/oracle", "ceiling"]
    means = [float(row[3].split(" ")[0]) for row in rows[1:]]
    assert means == sorted(means, reverse=True)
    assert out.splitlines()[-2:] == [
        "open my demo/report/report.html",
        'next: attune report "my demo/scores.json" -o report',
    ]
    assert (place / "err.txt").read_text() == ""


def test_it_ends_with_a_report(place: Path) -> None:
    folder = place / "my demo" / "report"
    page = (folder / "report.html").read_text("utf-8")
    assert page.count("<img ") == len(names(folder / "figures")) > 10
    assert len(names(folder / "conversations")) == len(load("sample")) + 1


def test_ids_are_those_of_one_element_on_every_page(place: Path) -> None:
    for path in (place / "my demo" / "report").rglob("*.html"):
        ids = re.findall(r'\sid="([^"]*)"', path.read_text("utf-8"))
        assert [name for name, times in Counter(ids).items() if times > 1] == [], path


def test_what_it_says_to_do_next_works(place: Path) -> None:
    done = attune("report", "--scores", "my demo/scores.json", cwd=place)
    assert len(table_rows(done.stdout)) == 4
