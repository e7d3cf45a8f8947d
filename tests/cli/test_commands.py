"""Commands that commands print: pasted into a shell, they get the same words and run nothing else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from attune_env.cli.common import command_line, shell_line
from attune_env.cli.ending import score_command
from tests.command import attune, data_folder

WORDS = [
    "plain", "two words", "d$(touch PWNED)", "`touch PWNED`", "a;b", "a'b", 'a"b', "a\\b", "$HOME", "*", "~",
    "!x", "", "-n", "é😀", "a\x1b[31mred", "a\nb", "tab\there", "a\x07'\\x", "\u202etxt", "\x9b31m",
    "\udcff", "x\x7f0",
]  # fmt: skip


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash reads the line back")
def test_a_printed_line_gives_the_shell_the_same_words(tmp_path: Path) -> None:
    line = shell_line(WORDS)
    assert line.isprintable()
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, cwd=tmp_path, check=True
    )
    assert done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1] == WORDS
    assert list(tmp_path.iterdir()) == []


def test_every_next_command_is_quoted(tmp_path: Path) -> None:
    name = "d$(touch PWNED)\x1b[31m"
    data_folder(tmp_path / name)
    shown = r"$'d$(touch PWNED)\x1b[31m'"
    done = attune("run", "builtin", "oracle", name, "-o", f"out {name}", cwd=tmp_path)
    out = r"$'out d$(touch PWNED)\x1b[31m'"
    want = f"next: attune score --results {out} --data {shown} --output scores.json"
    assert done.stdout.splitlines()[-1] == want
    done = attune("score", "--results", f"out {name}", "--data", name, "-o", "s c.json", cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "next: attune report 's c.json' -o report"
    assert f"to add them: attune run builtin all {shown} --output {out}" in done.stderr


def test_commands_are_made_in_one_place() -> None:
    assert command_line("a b", x_y=1, no=None, flag=True, many=["$x", 2]) == (
        "attune 'a b' --x-y 1 --flag --many '$x' --many 2"
    )
    assert score_command(Path("a b"), "$x", "a=b c", "profile score") == (
        "attune profile score --results 'a b' --data '$x' --where 'a=b c'"
    )
