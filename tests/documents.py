"""Run what the documents show: code blocks, shell blocks, and the examples.

A `python` block runs in the document's own namespace; if a `text` block follows it, that must be what it
prints. In a `bash` block every line that calls `attune` must exit with 0 (`make` lines are run by the checks
themselves). Relative links must lead somewhere.

python -m tests.documents docs/rewards.md ...    (writes what the blocks print now into the pages)
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
UNFINISHED = ("PLACEHOLDER", "TODO", "FIXME")
LINK = re.compile(r"\[[^\]]+\]\((?!https?:|#)([^)#\s]+)[^)]*\)")


def check_links(path: Path) -> list[str]:
    """Relative links that lead nowhere."""
    targets = LINK.findall(path.read_text(encoding="utf-8"))
    return [
        f"{path.relative_to(ROOT)} links to {target}, which does not exist"
        for target in targets
        if not (path.parent / target).exists()
    ]


def check_document(path: Path, folder: str, *, write: bool = False) -> list[str]:
    """The problems of one document; [] if all of it runs as shown. `write` corrects what it shows."""
    content = path.read_text(encoding="utf-8")
    problems = [f"{path.relative_to(ROOT)} holds the word {word}" for word in UNFINISHED if word in content]
    names: dict[str, Any] = {"__name__": "__document__"}
    blocks = [(m[1], m[2], m.start()) for m in BLOCK.finditer(content)]
    for number, (language, text, start) in enumerate(blocks):
        where = f"{path.relative_to(ROOT)}, block at character {start}"
        if language == "bash":
            problems += [f"{where}: {problem}" for problem in run_shell(text, folder)]
        if language != "python":
            continue
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(text, where, "exec"), names)
        except Exception as error:
            problems.append(f"{where}: {type(error).__name__}: {error}")
            continue
        follows = blocks[number + 1] if number + 1 < len(blocks) else None
        if follows and follows[0] == "text" and printed.getvalue().strip() != follows[1].strip():
            if write:
                path.write_text(path.read_text("utf-8").replace(follows[1], printed.getvalue(), 1), "utf-8")
                continue
            problems.append(f"{where} prints\n{printed.getvalue()}\nbut the document shows\n{follows[1]}")
    return problems


def run_shell(text: str, folder: str) -> list[str]:
    """Problems of the `attune` lines of a shell block, run in this process."""
    from tests.command import attune  # the release check runs a README without such blocks, and has no more

    problems = []
    for line in text.replace("\\\n", " ").splitlines():
        command = line.split(" #")[0].strip()
        if not command.startswith("attune "):
            continue
        done = attune(command.removeprefix("attune "), cwd=Path(folder), code=None)
        if done.returncode:
            problems.append(f"`{command}` exits with {done.returncode}: {done.stderr.strip()[-500:]}")
    return problems


if __name__ == "__main__":
    for page in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as empty, contextlib.chdir(empty):
            print(*check_document(ROOT / page, empty, write=True), sep="\n")
