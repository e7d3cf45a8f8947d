"""`attune evaluate`: from a model behind a server to a report, in one command that continues itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from attune_episodes import BUILTIN, Settings
from attune_episodes.protocol.settings import Mode
from tests.command import attune_here, data_folder, names, read, table_rows
from tests.endpoint import Server, answers_of, serve
from tests.running.playing import small

DATA = small(3)
MODEL = "custom/lab/m"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with three small conversations in `data`."""
    data_folder(tmp_path / "data")
    return tmp_path


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(answers_of(DATA)) as running:
        yield running


def evaluate(
    place: Path, server: Server, *options: str, code: int = 0, model: str = "lab/m"
) -> tuple[str, str]:
    server.calls.clear()
    words: list[str | Path] = [
        "evaluate",
        "custom",
        model,
        "data",
        "--base-url",
        server.url,
        "-o",
        "out",
        *options,
    ]
    return attune_here(words, place, code)


def test_a_model_is_asked_scored_beside_every_policy_and_reported(place: Path, server: Server) -> None:
    out, err = evaluate(place, server)
    assert len(server.calls) == 27
    results = [name for name in names(place / "out") if name.startswith("c-") and name.endswith(".json")]
    assert len(results) == 3 * (1 + len(BUILTIN))
    scores = read(place / "out" / "scores.json")
    assert scores["metadata"]["models"] == sorted([MODEL, *(f"builtin/{name}" for name in BUILTIN)])
    lines = out.splitlines()
    assert lines[0] == "wrote 3 results to out; 0 were already complete"
    assert lines[-1] == "open out/report/report.html"
    ((_, *rows),) = table_rows(out).values()  # the leaderboard, once, the model first
    assert rows[0][:2] == [MODEL, "model"]
    assert f"`lab/m` scores {rows[0][4].split(' ')[0]} of 100" in out
    assert "next:" not in out + err
    assert "no baseline" not in err
    page = (place / "out" / "report" / "report.html").read_text("utf-8")
    assert "attune report --scores out/scores.json -o report" in page
    assert {path.suffix for path in (place / "out" / "report" / "figures").iterdir()} == {".svg"}
    assert len(names(place / "out" / "report" / "conversations")) == 4


@pytest.mark.slow
def test_again_it_asks_nothing_and_a_second_model_joins_the_first(place: Path, server: Server) -> None:
    out, _ = evaluate(place, server)
    again, _ = evaluate(place, server)
    assert not server.calls
    assert again.splitlines()[1:] == out.splitlines()[2:]  # but for what was sent
    out, _ = evaluate(place, server, model="lab/other")
    ((_, *rows),) = table_rows(out).values()
    assert {row[0] for row in rows[:2]} == {MODEL, "custom/lab/other"}


@pytest.mark.slow
def test_it_scores_as_the_commands_do_one_by_one(place: Path) -> None:
    asked = "--where turns>=1 --seed 3 --prompts compact --modes default verbose"
    modes: tuple[Mode, ...] = ("default", "verbose")
    settings = [Settings(seed=3, prompts="compact", mode=mode) for mode in modes]
    with serve(answers_of(DATA, settings=settings)) as server:
        evaluate(place, server, *asked.split())
        attune_here(f"run custom lab/m data --base-url {server.url} -o pieces {asked}", place)
    attune_here(f"run builtin all data -o pieces {asked}", place)
    attune_here("score -r pieces -d data -o pieces.json --where turns>=1", place)
    one, other = read(place / "out" / "scores.json"), read(place / "pieces.json")
    assert other["metadata"].pop("results") == "pieces"
    assert one == other


@pytest.mark.slow
def test_what_failed_is_left_out_and_the_exit_code_says_so(place: Path, server: Server) -> None:
    with serve(answers_of(small("c-1", "c-3"))) as poor:  # knows nothing of c-2
        out, err = evaluate(place, poor, code=1)
    command = f"attune evaluate custom lab/m data --base-url {poor.url} -o out"
    assert err.splitlines()[-1] == f"every answer is kept. Continue with: {command}"
    assert "error: conversations skipped: 1" in err
    assert out.splitlines()[-1] == "open out/report/report.html"
    assert f"Not ranked, since scored on fewer of the 3 conversations: `{MODEL}`, 2." in out
    out, err = evaluate(place, server)
    assert 0 < len(server.calls) < 10  # only those of c-2 that no other conversation has asked
    assert "Not ranked" not in out


@pytest.mark.parametrize("options", [("--max-calls", "5"), ("--reasks", "0")])
def test_there_is_no_report_of_a_run_that_stopped(place: Path, options: tuple[str, str]) -> None:
    with serve(answers_of(DATA), faults=["503"] if options[0] == "--reasks" else ()) as bad:
        out, err = evaluate(place, bad, *options, "--retries", "0", code=1)
    assert "no report is made: the run is not complete" in err
    assert err.splitlines()[-1].endswith(" ".join(("-o out", *options, "--retries 0")))
    assert "open " not in out
    assert [name for name in names(place / "out") if not name.startswith(("_", "c-"))] == []


def test_a_dry_run_shows_the_estimate_and_sends_nothing(place: Path, server: Server) -> None:
    out, _ = evaluate(place, server, "--dry-run", "--number", "2")
    ((header, row),) = table_rows(out).values()
    assert dict(zip(header, row, strict=True))["calls"] == "18"
    assert not server.calls
    assert names(place) == ["data"]


@pytest.mark.slow
def test_one_participant_alone_leaves_out_the_fitted_policies(place: Path, server: Server) -> None:
    out, err = evaluate(place, server, "--number", "1")
    assert "left out: " in err
    ((_, *rows),) = table_rows(out).values()
    assert "builtin/prior" not in {row[0] for row in rows}
    assert "builtin/empty" in {row[0] for row in rows}
    assert evaluate(place, server)[1].count("left out") == 0  # the next run has them all


@pytest.mark.parametrize(("line", "said"), [
    ("evaluate builtin prior data", "attune demo"),
    ("evaluate custom m data", "--base-url"),
    ("evaluate bultin m data", 'no provider named "bultin"'),
    ("evaluate custom m data --base-url http://h/v1 --modes loud", 'no mode named "loud"'),
])  # fmt: skip
def test_bad_usage_exits_with_2_and_writes_nothing(place: Path, line: str, said: str) -> None:
    assert said in attune_here(line, place, 2)[1]
    assert names(place) == ["data"]


def test_what_is_in_the_way_is_found_before_anything_is_asked(place: Path, server: Server) -> None:
    (place / "out" / "report").mkdir(parents=True)
    (place / "out" / "report" / "mine.txt").write_text("mine", encoding="utf-8")
    assert "mine.txt" in evaluate(place, server, code=1)[1]
    assert not server.calls
