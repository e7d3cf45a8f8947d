"""`attune` as a person types it, in this process or in one of its own, and small data for it to run on."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from attune_data import Conversations
from attune_env.cli import main
from attune_env.results import read_results, result_name, score_results, write_json
from attune_episodes import Settings, builtin_policy, rollout
from tests import PATIENCE
from tests.data.builders import Json, folder, record, replaced, write

ATTUNE = Path(sys.executable).with_name("attune")
Done = subprocess.CompletedProcess[str]
OWN_WORDING = (
    "the questions are in attune-env's wording; the official wording comes with the benchmark's data"
)
FIRST = "c-1_builtin_oracle_default.json"


def attune(*words: str | Path, cwd: Path, code: int | None = 0, **environment: str) -> Done:
    """Runs `attune …` in a folder and checks its exit code (not None); a single text is split as by a shell.

    It runs in this process, or with a `PYTHONHASHSEED`, which only a new process reads, in one of its own.
    Nobody is ever shown a traceback, and nothing half written stays.
    """
    argv = shlex.split(words[0]) if len(words) == 1 and isinstance(words[0], str) else list(map(str, words))
    done = (_process if "PYTHONHASHSEED" in environment else _inside)(argv, cwd, environment)
    assert "Traceback" not in done.stderr, done.stderr
    assert code in (done.returncode, None), (done.stdout, done.stderr)
    assert list(cwd.rglob("*.part")) == []
    return done


def attune_here(line: str | list[str | Path], cwd: Path, code: int = 0) -> tuple[str, str]:
    """Both streams of `attune …` in a folder."""
    done = attune(*([line] if isinstance(line, str) else line), cwd=cwd, code=code)
    return done.stdout, done.stderr


def _inside(argv: list[str], cwd: Path, environment: dict[str, str]) -> Done:
    out, err = io.StringIO(), io.StringIO()
    code: Any = None
    with (
        contextlib.chdir(cwd),
        patch.dict(os.environ, environment),
        patch.object(sys, "argv", ["attune", *argv]),
        patch.object(sys.modules["__main__"], "__package__", None),  # else its name is that of pytest's
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    return Done(argv, code, out.getvalue(), err.getvalue())


def _process(argv: list[str], cwd: Path, environment: dict[str, str]) -> Done:
    return subprocess.run(
        [str(ATTUNE), *argv],
        capture_output=True, encoding="utf-8", cwd=cwd, env={**os.environ, **environment}, check=False,
        timeout=PATIENCE,
    )  # fmt: skip


def loaded_by(statement: str, *, dotted: bool = False) -> set[str]:
    """Top-level modules, or with `dotted` all, loaded in a fresh interpreter after a statement."""
    command = [sys.executable, "-c", f"{statement}\nimport sys; print(*sys.modules)"]
    loaded = subprocess.check_output(command, encoding="utf-8", timeout=PATIENCE).split()
    return set(loaded) if dotted else {name.partition(".")[0] for name in loaded}


def own(identity: str = "c-1", who: str = "A00001", **overrides: Any) -> Json:
    """A record that may be trained on: two turns, everything annotated."""
    made = record(conversationId=identity, provenance="own", **overrides)
    return replaced(made, ("participant_profile", "participant_id"), who)


def data_folder(path: Path, identities: Sequence[str] = ("c-1", "c-2", "c-3")) -> Path:
    """A folder of small conversations, each of a participant of their own."""
    return folder(path, {n: own(identity, f"P{n}") for n, identity in enumerate(identities, 1)})


def names(path: Path) -> list[str]:
    return sorted(inside.name for inside in path.iterdir())


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def snapshot(path: Path) -> dict[str, bytes]:
    """Every file under a folder and what it holds."""
    return {str(f.relative_to(path)): f.read_bytes() for f in sorted(path.rglob("*")) if f.is_file()}


def results(path: Path, data: Conversations, *policies: str, **asked: Any) -> Path:
    """Result files of policies, as `attune run` writes them but without starting a process."""
    settings = Settings(**asked)
    for name in policies:
        policy = builtin_policy(name, data, settings)
        for about in data:
            record = rollout(about, policy, settings, em_model=f"builtin/{name}").result
            write_json(path / result_name(about.conversation_id, f"builtin/{name}", settings.mode), record)
    return path


def scores_file(place: Path, data: Conversations, *policies: str) -> Path:
    """`scores.json` of policies' results, both in a folder that has `data`."""
    found, problems, _ = read_results(results(place / "results", data, *policies), data)
    assert problems == []
    write_json(place / "scores.json", score_results(found, data, ground_truth="data"))
    return place / "scores.json"


def score(cwd: Path, *options: str | Path, code: int = 0, data: str = "data") -> tuple[str, list[str]]:
    done = attune("score", "--results", "results", "--data", data, *options, cwd=cwd, code=code)
    return done.stdout, done.stderr.splitlines()


def change(path: Path, edit: Callable[[Json], object]) -> None:
    record = read(path)
    edit(record)
    write(path, record)


def composites(scores: Json, metric: str = "composite_strict") -> dict[tuple[str, str], float | None]:
    """(conversation, model) -> a score of the scores file."""
    return {(e["conversationId"], e["em_model"]): e[metric] for e in scores["conversations"]}


def table_rows(text: str) -> dict[str, list[list[str]]]:
    """The plain tables of an output: title -> rows, each a list of cells, the header first."""
    tables: dict[str, list[list[str]]] = {}
    title = ""
    for line in text.splitlines():
        if not line:
            title = ""
        elif line.startswith("# ") and not title:
            title = line[2:]
            tables[title] = []
        elif title and not line.startswith("# "):
            tables[title].append(line.split("\t"))
    return tables
