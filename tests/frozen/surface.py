"""What a person or a program meets from outside: public names, help, exit codes, outputs in documents."""

from __future__ import annotations

import ast
import importlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import gymnasium
import typer

from attune_env.cli import app
from tests.command import attune
from tests.documents import BLOCK, ROOT
from tests.frozen.keeping import kept

Json = dict[str, Any]
STARTED = re.compile(r"^Usage: .*?attune")
"""A command in this process goes by what started the process."""
PACKAGES = {
    "attune_data": ROOT / "data",
    "attune_rewards": ROOT / "rewards",
    "attune_live": ROOT / "envs",
    "attune_episodes": ROOT / "envs",
    "attune_env": ROOT,
}


def names() -> Json:
    """Every `__all__` of the packages, and the ids that Gymnasium finds."""
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
            said = attune(*words, "--help", cwd=place).stdout
            lines = [" ".join(line.split()) for line in said.splitlines() if line.strip()]
            found[" ".join(("attune", *words))] = [STARTED.sub("Usage: attune", line) for line in lines]
    return found


def _commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, (*words, name))


def exit_codes(place: Path) -> list[str]:
    """`1 attune …`: exit codes of the kept commands, which run one after the other in one folder."""
    for line in (*(f"run builtin {name} sample --limit 3 -o results" for name in ("oracle", "empty")),
                 "score --results results --ground-truth sample"):  # fmt: skip
        attune(line, cwd=place)
    (place / "bad.json").write_text("{", encoding="utf-8")
    (place / "empty").mkdir()
    lines = [line.partition(" attune ")[2] for line in kept("exit_codes")]
    return [f"{attune(line, cwd=place, code=None).returncode} attune {line}" for line in lines]


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
