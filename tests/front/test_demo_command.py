"""`attune demo`: every built-in policy over the sample, twice the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data import load
from attune_episodes import BUILTIN
from tests.front.command import attune, names, read, snapshot, table_rows


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("demo")
    done = attune("demo", "-o", "my demo", cwd=place)
    (place / "out.txt").write_text(done.stdout, "utf-8")
    (place / "err.txt").write_text(done.stderr, "utf-8")
    return place


def test_a_demo_again_gives_the_same_scores_whatever_lay_there(place: Path) -> None:
    before = snapshot(place / "my demo")
    one = place / "my demo" / "sample-01_builtin_prior_default.json"
    one.write_text("{}", "utf-8")  # a result of another version, say
    done = attune("demo", "--output", "my demo", cwd=place, PYTHONHASHSEED="7")
    after = snapshot(place / "my demo")
    assert after.keys() == before.keys()
    assert after["scores.json"] == before["scores.json"]
    assert done.stdout == (place / "out.txt").read_text("utf-8")


def test_a_demo_elsewhere_gives_identical_scores(place: Path) -> None:
    attune("demo", "-o", "other", cwd=place, PYTHONHASHSEED="8")
    assert (place / "other" / "scores.json").read_bytes() == (place / "my demo" / "scores.json").read_bytes()


def test_every_policy_plays_every_conversation(place: Path) -> None:
    sample = load("sample")
    assert len(names(place / "my demo")) == len(BUILTIN) * len(sample) + 1
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
    assert out.splitlines()[-1] == 'next: attune report --scores "my demo/scores.json"'
    assert (place / "err.txt").read_text() == ""


def test_what_it_says_to_do_next_works(place: Path) -> None:
    done = attune("report", "--scores", "my demo/scores.json", cwd=place)
    assert len(table_rows(done.stdout)) == 4
