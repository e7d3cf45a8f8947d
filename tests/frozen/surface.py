"""What a person or a program meets from outside: public names, help, exit codes, outputs in documents."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import gymnasium
import typer

from attune_env.cli import app, main
from tests.documents import BLOCK, ROOT
from tests.front.inside import attune_here

Json = dict[str, Any]
STARTED = re.compile(r"^Usage: .*?attune")
"""A command in this process goes by what started the process."""
PACKAGES = {
    "attune_data": ROOT / "data",
    "attune_rewards": ROOT / "rewards",
    "attune_episodes": ROOT / "envs",
    "attune_env": ROOT,
}


def names() -> Json:
    """Every `__all__` of the four packages, and the ids that Gymnasium finds."""
    found = {}
    for package, root in PACKAGES.items():
        for path in sorted((root / package).rglob("*.py")):
            public = _all_of(path)
            if public is not None:
                parts = path.relative_to(root).with_suffix("").parts
                found[".".join(part for part in parts if part != "__init__")] = public
    importlib.import_module("attune_env")
    ids = sorted(name for name in gymnasium.registry if name.startswith("Attune/"))
    return {"__all__": found, "gymnasium": ids}


def _all_of(path: Path) -> list[str] | None:
    """The literal `__all__` of a file; extras need not be installed."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(getattr(one, "id", "") == "__all__" for one in node.targets):
            return sorted(ast.literal_eval(node.value))
    return None


def helps(place: Path) -> Json:
    """The lines of every `--help`, blanks aside: their layout is Typer's."""
    found = {}
    with patch.dict(os.environ, {"COLUMNS": "200"}):
        for words in _commands(typer.main.get_command(app)):
            out, _ = attune_here([*words, "--help"], place)
            found[" ".join(("attune", *words))] = [
                STARTED.sub("Usage: attune", " ".join(line.split()))
                for line in out.splitlines()
                if line.strip()
            ]
    return found


def _commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, (*words, name))


def exit_codes(place: Path) -> list[str]:
    """`1 attune …`: exit codes of commands that run one after the other in one folder."""
    attune_here("run builtin oracle sample --limit 3 -o results", place)
    attune_here("run builtin empty sample --limit 3 -o results", place)
    attune_here("score --results results --ground-truth sample", place)
    (place / "bad.json").write_text("{", encoding="utf-8")
    (place / "empty").mkdir()
    return [f"{_code(line, place)} attune {line}" for line in COMMANDS.strip().splitlines()]


def _code(line: str, place: Path) -> int | str | None:
    quiet = io.StringIO()
    with (
        contextlib.chdir(place),
        patch.object(sys, "argv", ["attune", *shlex.split(line)]),
        contextlib.redirect_stdout(quiet),
        contextlib.redirect_stderr(quiet),
    ):
        try:
            main()
        except SystemExit as ended:
            return ended.code
    return None


def documents() -> Json:
    """Outputs shown in documents; `tests/test_documents.py` runs the Python that prints them."""
    found = {}
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        blocks = [(match[1], match[2]) for match in BLOCK.finditer(path.read_text(encoding="utf-8"))]
        shown = [
            {"after": before, "text": text.splitlines()}
            for (before, _), (language, text) in pairwise(blocks)
            if language == "text"
        ]
        kinds = Counter(language for language, _ in blocks)
        found[path.relative_to(ROOT).as_posix()] = {"blocks": dict(sorted(kinds.items())), "shown": shown}
    return found


COMMANDS = """
--version
--nonsense
nonsense
run builtin oracle sample --limit 1 -o one
run builtin oracle sample --limit 1 -o one
run builtin nobody sample
run nobody m sample
run custom m sample
run builtin oracle nowhere
run builtin oracle bad.json
run builtin oracle empty
run builtin oracle sample --modes nonsense
run builtin oracle sample --stages nonsense
run builtin oracle sample --where nonsense
run builtin oracle sample --where diagnosis=Nothing
run builtin oracle sample --max-calls 3
run builtin oracle sample --training-run a
run custom m sample --base-url http://127.0.0.1:9/v1 --limit 1 --dry-run
run custom m sample --base-url http://127.0.0.1:9/v1 --limit 1 --retries 0 -o dead
run openai gpt-4o sample --limit 1 -o keyless
run custom m sample --base-url nonsense
rejudge results --judge-model m --dry-run
rejudge nowhere --judge-model m
score --results results --ground-truth sample --output again.json
score --results results --ground-truth nowhere
score --results nowhere --ground-truth sample
score --results empty --ground-truth sample
score --results results
score --results results --ground-truth sample --scoring nonsense
report --scores scores.json
report --scores nowhere.json
report --scores bad.json
report --scores scores.json --only leaderboard
report --scores scores.json -o page --only leaderboard --formats svg --no-conversations
report --scores scores.json -o page --only leaderboard --formats svg --no-conversations
report --scores scores.json -o page --only nonsense
subset -s scores.json --topic nonsense
subset -s scores.json --where topic=nonsense
stats scores.json
stats nowhere.json
view 1 --results results
view 99
view 1 --data nowhere
paths
paths lm-eval
paths nonsense
data validate sample
data validate bad.json
data validate nowhere
data stats sample
data split sample -o parts
data split sample -o parts
data split sample --into train=2 -o shares
data subset sample --limit 3
data simulate -n 2 -o people
data simulate -n 0 -o nobody
data simulate -n 2 --level nonsense -o nobody
data import esconv nowhere -o imported
profile run builtin majority sample
rewards list
rewards explain
rewards explain composite
rewards explain nonsense
rewards audit --spec nonsense
serve openenv --data nowhere
"""
