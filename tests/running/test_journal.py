"""The journal: what is in it is never lost, never repeated, and nobody else writes to it."""

from __future__ import annotations

import asyncio
import json
import random
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import SettingsError, load
from attune_env.cli.ending import end
from attune_env.running.journal import (
    CallKey,
    Finished,
    Journal,
    group_of,
    journal_name,
    overwriting_in,
)
from attune_episodes.chat.completion import Usage
from tests import PATIENCE
from tests.command import ATTUNE, attune, data_folder, names
from tests.endpoint import answers_of, serve
from tests.running.playing import CALLS, files, play, small

MODEL = "custom/m"
GROUP = group_of("c-1", "default", 1)


def key(number: int, group: str = GROUP) -> CallKey:
    return CallKey(group, f"c-1/{number}/draft", f"{number:016x}")


def call(number: int, text: str = "é🌊\n\u2028") -> Finished:
    return Finished(
        f"{text}{number}", "ok", reasoning=text, usage=Usage(number, 2, 3, 4, 0.5), asks=2, attempts=3,
        seconds=1.5, structured=True, served="m", unread=((text, "unparsed:no_json"),),
    )  # fmt: skip


def fill(folder: Path, *numbers: int, group: str = GROUP, anew: str = "") -> Path:
    """Adds calls; with `anew` a group is being overwritten then, after a fact that was known before."""

    async def add() -> None:
        with Journal(folder, MODEL) as journal:
            if anew:
                journal.begin({anew: "identity"})
                await journal.note({"structured": True})
            await asyncio.gather(*(journal.add(key(number, group), call(number)) for number in numbers))

    asyncio.run(add())
    return folder / journal_name(MODEL)


def kept(folder: Path, *numbers: int, group: str = GROUP) -> list[int]:
    """Those of the calls that the journal holds, each as it was added."""
    with Journal(folder, MODEL) as journal:
        found = {number: journal.get(key(number, group)) for number in numbers}
    assert all(held in (None, call(number)) for number, held in found.items())
    return [number for number, held in found.items() if held]


def test_what_was_added_is_there_again(tmp_path: Path) -> None:
    fill(tmp_path, *range(50))
    assert kept(tmp_path, *range(50)) == list(range(50))
    with Journal(tmp_path, MODEL) as journal:
        assert journal.get(CallKey(GROUP, "c-1/1/draft", "another")) is None
        assert journal.get(key(1, "another")) is None
        assert journal.passed_over == 0


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 2000), junk=st.binary(max_size=30))
def test_a_file_cut_anywhere_keeps_every_whole_line_and_takes_new_ones(cut: int, junk: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = fill(Path(name), 1, 2, 3)
        data = path.read_bytes()
        left = data[: max(0, len(data) - cut)]
        torn = left.rpartition(b"\n")[2]
        path.write_bytes(left + (junk if torn else b""))
        fill(Path(name), 9)
        whole = left.count(b"\n")
        assert kept(Path(name), 1, 2, 3)[:whole] == [1, 2, 3][:whole]
        assert kept(Path(name), 9) == [9]


@pytest.mark.parametrize("line", [
    "", "{", "null", "[]", "5", '{"v":1}', '{"v":1,"call":5}',
    '{"v":2,"group":"g","id":"i","digest":"d","call":{}}',
    '{"v":1,"group":"g","id":"i","digest":"d","call":{"reply":5}}', '{"v":1,"facts":5}', "\0", "\xff" * 9,
    '{"v":1,"group":5,"call":null}', "[" * 100_000, '{"v":1,"anew":[["a","b"]]}', '{"v":1,"anew":{"gr',
    '{"v":1,"facts":{"lines passed over":"x"}}', '{"v":1,"made":["a"]}',
])  # fmt: skip
def test_a_damaged_line_is_passed_over(tmp_path: Path, line: str) -> None:
    path = fill(tmp_path, 1)
    with path.open("ab") as stream:
        stream.write(line.encode("latin-1") + b"\n")
    fill(tmp_path, 2)
    assert kept(tmp_path, 1, 2) == [1, 2]


def test_a_line_of_another_version_is_passed_over(tmp_path: Path) -> None:
    path = fill(tmp_path, 1)
    path.write_bytes(path.read_bytes().replace(b'"v":1', b'"v":2'))
    assert kept(tmp_path, 1) == []


def test_what_is_made_anew_counts_on_the_disk_until_the_first_answer(tmp_path: Path) -> None:
    fill(tmp_path, 1, 2)
    before = fill(tmp_path, 1, group="other").read_bytes()
    path = fill(tmp_path, anew=GROUP)
    assert path.read_bytes().startswith(before)
    assert kept(tmp_path, 1, 2) == [1, 2]
    fill(tmp_path, 3, 4, group="another", anew=GROUP)  # the first answer of the run, to whatever
    fill(tmp_path, 5)
    assert kept(tmp_path, 1, 2, 5) == [5]
    assert kept(tmp_path, 1, group="other") == [1]
    assert kept(tmp_path, 3, 4, group="another") == [3, 4]
    with Journal(tmp_path, MODEL) as journal:
        assert journal.facts == {"structured": True}
        assert journal.overwriting.state(GROUP, "identity") == "left"
        journal.begin({GROUP: "identity"})
        assert journal.get(key(5)) is None


def test_overwriting_ends_when_all_that_it_began_is_made(tmp_path: Path) -> None:
    async def work() -> None:
        with Journal(tmp_path, MODEL) as journal:
            journal.begin({"a": "x", "b": "x"})
            await journal.add(key(1, "a"), call(1))
            await journal.made("a")
            # what a second process sees while the lock is held
            for seen in (journal.overwriting, overwriting_in(journal.path)):
                assert [seen.state(group, "x") for group in "abc"] == ["made", "left", None]
                assert seen.state("a", "other settings") is None
            await journal.made("b")
            await journal.made("c")  # was never begun
            for seen in (journal.overwriting, overwriting_in(journal.path)):
                assert [seen.state(group, "x") for group in "ab"] == [None, None]
                assert seen.left == set()

    asyncio.run(work())
    assert overwriting_in(tmp_path / "nothing").left == set()


def test_a_second_run_in_the_folder_is_refused_and_told_why(tmp_path: Path) -> None:
    data = small("c-1")
    with serve(answers_of(data)) as server:
        with (
            Journal(tmp_path, "custom/lab/m"),
            pytest.raises(SettingsError, match="another run of this model is writing to"),
        ):
            play(server, data, tmp_path)
        assert not server.calls
        assert play(server, data, tmp_path).written == 1


def test_a_link_in_the_journals_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / journal_name(MODEL)).symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="symbolic links"):
        Journal(tmp_path, MODEL)
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.fixture
def full_disk() -> Iterator[Callable[[bool], None]]:
    """Called with True, no file may grow beyond 20,000 bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield lambda full: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000 if full else before[0], before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_stops_the_run_and_loses_no_answer_that_counts(
    tmp_path: Path, full_disk: Callable[[bool], None], capsys: pytest.CaptureFixture[str]
) -> None:
    data, total = small(8), 8 * CALLS
    with serve(answers_of(data)) as server:
        full_disk(True)
        report = play(server, data, tmp_path, concurrency=4)
        full_disk(False)
        assert "cannot write to" in str(report.stopped)
        assert "free some space there, then continue" in str(report.stopped)
        with pytest.raises(typer.Exit):
            end(report, "", "", "attune run")
        assert "every answer that could be written is kept. Continue with:" in capsys.readouterr().err
        assert 0 < len(server.calls) < total
        assert play(server, data, tmp_path).stopped is None
    assert len(files(tmp_path)) == 8
    # what could not be written was in flight, or about to be written
    assert total <= len(server.calls) <= total + 2 * 4


def journal_calls(folder: Path) -> list[tuple[str, str]]:
    path = folder / journal_name(MODEL)
    found = []
    for line in path.read_bytes().splitlines() if path.exists() else ():
        try:
            held = json.loads(line)
        except ValueError:
            continue
        if "call" in held:
            found.append((held["group"], held["id"]))
    return found


@pytest.mark.parametrize("delays", [[0.1], pytest.param([0.0, 0.3], marks=pytest.mark.slow)])
def test_kill_9_loses_no_finished_call_and_repeats_none(tmp_path: Path, delays: list[float]) -> None:
    kill_points(tmp_path, delays)


@pytest.mark.soak
def test_thirty_kills_at_random_points_lose_and_repeat_nothing(tmp_path: Path) -> None:
    drawn = random.Random(0)
    assert kill_points(tmp_path, [drawn.uniform(0, 0.6) for _ in range(30)]) >= 25


def kill_points(place: Path, delays: list[float]) -> int:
    """Kills a run so many seconds after its first answer, goes on, and counts what the server served.

    Returns how many runs were still going when they were killed.
    """
    live, total, places = 0, 8 * CALLS, 3
    data = data_folder(place / "data", [f"c-{n}" for n in range(8)])
    for number, delay in enumerate(delays):
        out = place / f"out-{number}"
        with serve(answers_of(load(data), "always-no"), latency=0.03) as server:
            command = [
                "run", "custom", "m", str(data), "--base-url", server.url, "-o", str(out),
                "--concurrency", str(places),
            ]  # fmt: skip
            process = subprocess.Popen(
                [ATTUNE, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=place
            )
            while not journal_calls(out) and process.poll() is None:
                time.sleep(0.01)
            time.sleep(delay)
            if process.poll() is None:
                live += 1
                with pytest.raises(SettingsError, match="another run"):
                    Journal(out, MODEL)  # its lock goes with the process
            process.kill()
            process.communicate(timeout=PATIENCE)
            time.sleep(0.1)  # so that the server has noticed what is broken off
            held, served = journal_calls(out), len(server.calls)
            assert len(held) == len(set(held))
            # an answer that was served and is not in the journal was in flight, or just being written
            assert len(held) <= served <= len(held) + 2 * places
            for left in out.glob(".*.part"):  # a result that was just being written
                left.unlink()
            attune(*command, cwd=place)
            assert len(journal_calls(out)) == len(set(journal_calls(out))) == total
            assert len(server.calls) - served == total - len(held)
            assert len([name for name in names(out) if not name.startswith("_")]) == 8
    return live
