"""`--where` means the same wherever data is read: stats, run, score, report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attune_data import load
from attune_data.selection import select
from attune_data.selection.stats import describe
from tests.command import attune_here, change, names, own, read, results, score, table_rows
from tests.data.builders import folder, replaced

MOOD = {"c-1": ["ADHD"], "c-2": ["None of the above"], "c-3": ["ADHD"], "c-4": None}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Four conversations (two with ADHD) in `data`, results of two policies over them in `results`."""
    where = ("participant_profile", "demographics", "diagnoses")
    made = {n: replaced(own(c, f"P{n}"), where, found) for n, (c, found) in enumerate(MOOD.items(), 1)}
    results(tmp_path / "results", load(folder(tmp_path / "data", made)), "oracle", "always-no")
    return tmp_path


def report(cwd: Path, words: str, code: int = 0) -> tuple[str, str]:
    return attune_here(f"report --scores {words}", cwd, code)


def test_stats_of_a_selection(place: Path) -> None:
    out, err = attune_here("data stats data --json --where diagnosis=adhd", place)
    assert err == "2 of 4 conversations match diagnosis=adhd\n"
    chosen = select(load(place / "data"), "diagnosis=ADHD")
    assert json.loads(out) == describe(chosen) | {"fingerprint": chosen.fingerprint}
    plain, _ = attune_here("data stats data --where diagnosis=adhd", place)
    assert plain.startswith("# data, diagnosis=adhd\n")


def test_a_run_plays_what_is_selected(place: Path) -> None:
    out, _ = attune_here("run builtin oracle data --where 'diagnosis!=none,turns>1' -o played", place)
    assert names(place / "played") == [f"c-{n}_builtin_oracle_default.json" for n in (1, 3)]
    assert "--where 'diagnosis!=none,turns>1' --output" in out.splitlines()[-1]
    out, _ = attune_here("run builtin oracle data --where diagnosis=ADHD --limit 1 -o one", place)
    assert "wrote 1 results" in out


def test_scores_and_reports_of_a_selection_are_those_of_the_whole(place: Path) -> None:
    score(place, "-o", "all.json")
    out, err = score(place, "-o", "some.json", "--where", "diagnosis=ADHD")
    assert err == ["2 of 4 conversations match diagnosis=ADHD"]
    assert "wrote some.json (4 results)" in out
    assert "# only the conversations with diagnosis=ADHD." in out
    everything, some = read(place / "all.json"), read(place / "some.json")
    assert some["conversations"] == [
        e for e in everything["conversations"] if e["conversationId"] in ("c-1", "c-3")
    ]
    assert some["metadata"]["where"] == "diagnosis=ADHD"
    assert "where" not in everything["metadata"]
    chosen = select(load(place / "data"), "diagnosis=ADHD")
    assert some["metadata"]["data"]["fingerprint"] == chosen.fingerprint

    narrowed, told = report(place, "all.json --where diagnosis=ADHD")
    assert narrowed == report(place, "some.json")[0]
    assert "# only the conversations with diagnosis=ADHD." in narrowed
    assert told == "2 of 4 scored conversations match diagnosis=ADHD\n"
    (rows,) = [rows[1:] for title, rows in table_rows(narrowed).items() if title.startswith("Leader")]
    assert {row[0]: row[8] for row in rows} == {"builtin/oracle": "2", "builtin/always-no": "2"}

    out, _ = report(place, "some.json --where participant=P3")  # selections add up
    assert "# only the conversations with diagnosis=ADHD,participant=P3." in out
    _, told = report(place, "some.json --where participant=P2", 2)
    assert 'no participant is "P2"; ' in told
    assert '"P1", "P3"' in told


def test_a_report_finds_the_profiles_where_they_are_now(place: Path) -> None:
    score(place, "-o", "all.json")
    (place / "data").rename(place / "moved")
    _, lost = report(place, "all.json --where diagnosis=ADHD", 2)
    assert 'names "data", which is not a file or folder here' in lost
    assert lost.endswith("name the conversations with --data\n")
    report(place, "all.json --where diagnosis=ADHD --data moved")
    _, other = report(place, "all.json --where diagnosis=ADHD --data sample", 1)
    assert 'error: sample: found no conversation "c-1", which was scored' in other
    report(place, "all.json")  # without --where nobody needs them


def test_profiles_that_have_changed_are_told(place: Path) -> None:
    score(place, "-o", "all.json")
    change(place / "data" / "conversation_2.json",
           lambda r: r["participant_profile"]["demographics"].update(diagnoses=["ADHD"]))  # fmt: skip
    warning, counted = report(place, "all.json --where diagnosis=ADHD")[1].splitlines()
    assert warning.startswith("warning: data: found fingerprint ")
    assert warning.endswith("; the conversations have changed since scoring")
    assert counted == "3 of 4 scored conversations match diagnosis=ADHD"


def test_results_outside_the_selection_are_no_problem_and_strangers_are(place: Path) -> None:
    (place / "data" / "conversation_4.json").unlink()
    _, err = score(place, "-o", "x.json", "--where", "diagnosis=ADHD", code=1)
    assert len([line for line in err if "expected one of the 3 conversations of data" in line]) == 2


def test_a_selection_without_results(place: Path) -> None:
    for path in (place / "results").glob("c-2_*"):
        path.unlink()
    _, err = score(place, "-o", "x.json", "--where", "diagnosis=none", code=1)
    assert err[-1] == (
        "error: results: found no result for a conversation that matches diagnosis=none, expected "
        "at least one; "
        "run them first, or choose others"
    )
    score(place, "-o", "all.json")
    _, error = report(place, "all.json --where diagnosis=none", 2)
    assert error.endswith("error: none of the 1 conversations with diagnosis=none was scored\n")


@pytest.mark.parametrize("command", [
    "data stats data", "run builtin oracle data -o new", "score --results results --data data -o new",
])  # fmt: skip
def test_a_selection_that_is_none_is_bad_usage(place: Path, command: str) -> None:
    _, err = attune_here(f"{command} --where diagnosis=Autism", place, 2)
    assert 'diagnosis=Autism: no diagnosis is "Autism"; there is: "ADHD", "None of the above"' in err
    assert not (place / "new").exists()
