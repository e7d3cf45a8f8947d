"""`attune demo`: every built-in policy over the sample, twice the same."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from attune_data import load
from attune_episodes import BUILTIN
from tests.command import attune, names, read, snapshot, table_rows

pytestmark = pytest.mark.slow  # the whole sample by every policy, twice


def test_a_demo_plays_everything_and_reports_it_and_again_the_same(tmp_path: Path) -> None:
    done, sample = attune("demo", "-o", "my demo", cwd=tmp_path), load("sample")
    folder = tmp_path / "my demo"
    before = snapshot(folder)
    assert done.stderr == ""
    # a file per policy and conversation, scores, and the report
    assert len(names(folder)) == len(BUILTIN) * len(sample) + 2
    metadata = read(folder / "scores.json")["metadata"]
    assert metadata["models"] == sorted(f"builtin/{name}" for name in BUILTIN)
    assert (metadata["n_conversations"], metadata["ground_truth"]) == (len(sample), "sample")
    assert {group["parse_rate"] for group in read(folder / "scores.json")["aggregates"]} == {1.0}

    (rows,) = table_rows(done.stdout).values()
    assert {row[0] for row in rows[1:]} == {f"builtin/{name}" for name in BUILTIN}
    assert [row[1] for row in rows[-2:]] == ["reader", "oracle"]
    means = [float(row[3].split(" ")[0]) for row in rows[1:-2]]
    assert means == sorted(means, reverse=True)
    command = "attune evaluate custom MODEL sample --base-url URL --output 'my demo'"
    assert done.stdout.splitlines()[-2:] == [
        "open my demo/report/report.html", f"next, evaluate your own model: {command}",
    ]  # fmt: skip
    assert len(table_rows(attune("report", "my demo/scores.json", cwd=tmp_path).stdout)) == 4

    page = (folder / "report" / "report.html").read_text("utf-8")
    assert page.count("<img ") == len(names(folder / "report" / "figures")) > 10
    assert len(names(folder / "report" / "conversations")) == len(sample) + 1
    for path in (folder / "report").rglob("*.html"):
        ids = re.findall(r'\sid="([^"]*)"', path.read_text("utf-8"))
        assert [name for name, times in Counter(ids).items() if times > 1] == [], path

    # a result of another version, say
    (folder / "sample-01_builtin_prior_default.json").write_text("{}", "utf-8")
    again = attune("demo", "--output", "my demo", cwd=tmp_path, PYTHONHASHSEED="7")
    after = snapshot(folder)
    assert after.keys() == before.keys()
    same = [name for name in before if name == "scores.json" or name.startswith("report/")]
    assert [name for name in same if after[name] != before[name]] == []
    assert again.stdout == done.stdout
