"""`attune live` as a person types it, and piped."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from attune_data.simulate import Simulation
from attune_env.cli.live import live as command
from attune_env.cli.shared import Drawn, Server, Voiced
from attune_episodes.live import LiveEpisode
from attune_episodes.live.transcript import transcript
from tests.command import attune_here
from tests.endpoint import serve
from tests.endpoint.writers import Writer

REPLIES = ["It sounds like that hurt, and no wonder. What happened then?", "", "You should move on."] * 4


def live(
    line: str, said: list[str], cwd: Path, monkeypatch: pytest.MonkeyPatch, code: int = 0
) -> tuple[str, str]:
    """Both streams of `attune live …` with these lines as its input."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{one}\n" for one in said)))
    return attune_here(f"live {line}".strip(), cwd, code)


def engine(index: int = 0, seed: int = 0, said: list[str] = REPLIES, **world: str) -> LiveEpisode:
    found = LiveEpisode(Simulation(seed, **world), index)  # type: ignore[arg-type]
    for reply in said:
        if not found.done:
            found.say(reply)
    return found


def test_it_plays_the_live_episode_and_shows_at_the_end_what_was_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, err = live("--seed 7 --index 2 --level plain", REPLIES, tmp_path, monkeypatch)
    episode = engine(2, 7, level="plain")
    assert episode.done
    assert out.endswith(f"{transcript(episode)}\n")
    talk = out.removesuffix(f"{transcript(episode)}\n")
    heard = [turn.message for turn in episode.turns]
    if episode.turns[-1].answer == "leaves":
        heard.append(episode.message)
    assert [part for part in talk.split("\n\n") if part] == heard
    assert "they felt" not in talk  # nothing of the state before the end
    for number, turn in enumerate(episode.turns, 1):
        assert f"turn {number}: {turn.reward:+.3f}\n" in out
    assert f"total {episode.total:+.3f}" in out
    assert err == ""


def test_an_input_that_ends_early_is_told_and_shows_what_was_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, err = live("", REPLIES[:1], tmp_path, monkeypatch)
    assert "turn 1: " in out
    assert "turn 2: " not in out
    assert "the input ended before the conversation" in err
    out, _ = live("", [], tmp_path, monkeypatch)
    assert out.endswith("nothing was said\n")


def test_another_reader_reads_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = live("", REPLIES, tmp_path, monkeypatch)
    other, _ = live("--reader lexicon", REPLIES, tmp_path, monkeypatch)
    assert first != other


def test_what_acts_on_a_terminal_is_escaped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, _ = live("", ["\x1b[31mred\x07", *REPLIES], tmp_path, monkeypatch)
    assert "\x1b" not in out
    assert "\x07" not in out


@pytest.mark.parametrize(("line", "told"), [
    ("--level easy", "no level named"),
    ("--reader judge", "no reader named"),
])  # fmt: skip
def test_wrong_options_are_told(
    line: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, err = live(line, [], tmp_path, monkeypatch, code=2)
    assert told in err


def test_the_person_answers_before_the_next_line_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)  # what was not flushed is not there
    heard: list[str] = []

    class Input:
        lines: ClassVar = iter([f"{REPLIES[0]}\n", ""])

        def isatty(self) -> bool:
            return False

        def readline(self) -> str:
            heard.append(os.read(reader, 100_000).decode())
            return next(self.lines)

    monkeypatch.setattr(sys, "stdin", Input())
    with os.fdopen(writer, "w") as out, contextlib.redirect_stdout(out):
        command(seed=0, index=0, level="default", reader="fitted",
                voiced=Voiced(), server=Server(), drawn=Drawn())  # fmt: skip
    os.close(reader)
    assert heard == [f"{engine(said=REPLIES[:n]).message}\n\n" for n in (0, 1)]


def test_input_that_is_no_text_is_a_reply_that_says_nothing_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe\x00\n" * 9), "utf-8"))
    out, err = attune_here("live", tmp_path)
    assert err == ""
    assert "total -" in out


def test_a_voice_that_a_cap_stops_shows_the_turns_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(Writer()) as server:
        line = f"--voice custom:m --base-url {server.url} --max-calls 2"
        out, err = live(line, REPLIES, tmp_path, monkeypatch, code=1)
    # two messages, and so one turn that was heard and answered
    assert out.count("\nturn ") == 1
    assert "turn 1: " in out
    assert "error: stopped at --max-calls 2\nevery text is kept in voices. Continue with: attune live" in err
