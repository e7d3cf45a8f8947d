"""Folders of runs: result files, journals and notes of built-in policies and of a model behind a server."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

from attune_data import load
from attune_episodes import BUILTIN
from tests.command import attune_here
from tests.endpoint import Book, answers_of, serve
from tests.endpoint.answers import Messages
from tests.frozen.keeping import digest
from tests.running.playing import judge_answers

Json = dict[str, Any]
TIMES = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+:\d]*"), "TIME"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r", \d+ s$", re.MULTILINE), ", SECONDS"),
    (re.compile(r'("(?:duration_)?seconds": ?)[\d.e-]+'), r"\g<1>0"),
)
"""What differs from run to run."""
FAULTS = ["garbage,first=1,of=sample-01/1/assess", "garbage,of=sample-02/2/prefer"]
"""A reply that is asked for again, and one that is never read."""
SETTINGS = {
    "compact": "--prompts compact --panas-strategy delta --labels official --seed 5",
    "part": "--stages assess,reflect --panas-strategy blind_delta --where who_5<20",
}


SERVED = {
    "whole": "--judge-model lab/judge --training-run grpo --training-step 7 --samples 2",
    "stopped": "--max-calls 9",
}


def builtin(place: Path) -> Json:
    """What `attune run builtin` writes for every policy, and for several modes and settings."""
    runs = {policy: f"{policy} sample --limit 3" for policy in BUILTIN}
    runs |= {"modes": "lexicon sample --limit 2 --modes all"}
    runs |= {name: f"lexicon sample --limit 4 {options}" for name, options in SETTINGS.items()}
    for name, asked in runs.items():
        attune_here(f"run builtin {asked} -o {name}", place)
    first = read(min((place / "lexicon").glob("*.json")))
    return {
        "one file": first | {"turns": first["turns"][:1]},
        **{name: folder(place / name) for name in runs},
    }


def served(place: Path) -> Json:
    """What runs against a server write: one whole, with a judge and a call asked again; one stopped."""
    book = _Judging(answers_of(load("sample")[:2]).pages)
    found: Json = {}
    with patch.dict(os.environ, {"OPENAI_API_KEY": "sk-a-key-that-nobody-may-see-0123456789"}):
        for name, options in SERVED.items():
            with serve(book, faults=FAULTS) as server:
                command = (
                    f"run custom lab/m sample --limit 2 --base-url {server.url} --concurrency 1 "
                    f"--price-in 2 --price-out 10 {options} -o {name}"
                )
                out, _ = attune_here(command, place, code=0 if name == "whole" else 1)
            found[name] = {
                "files": folder(place / name),
                "said": normalised(out).splitlines(),
                "notes": {path.name: _note(path) for path in sorted((place / name).glob("_*"))},
                "sent": sorted(_sent(call.body) for call in server.calls),
            }
    attune_here("score --results whole --ground-truth sample", place)
    return found


class _Judging(Book):
    """The book's replies, and a judge's to whatever is not in it."""

    def __call__(self, messages: Messages) -> str | None:
        return super().__call__(messages) or judge_answers()(messages)


def _note(path: Path) -> Any:
    """A journal's lines, in the order of their calls: calls of model and judge overtake each other."""
    text = normalised(path.read_text("utf-8"))
    if path.suffix == ".json":
        return short(json.loads(text))
    lines = [short(json.loads(line)) for line in text.splitlines()]
    return sorted(lines, key=lambda line: (line.get("group", ""), line.get("id", ""), json.dumps(line)))


def _sent(body: Json) -> str:
    """The messages of a call, and its other fields."""
    others = [f"{name}={digest(value, 6)}" for name, value in body.items() if name != "messages"]
    return " ".join([digest(body["messages"], 8), *others])


def normalised(text: str) -> str:
    """The text without times and ports."""
    for pattern, instead in TIMES:
        text = pattern.sub(instead, text)
    return text


def short(value: Any) -> Any:
    """The value with a hash for each long text."""
    if isinstance(value, dict):
        return {name: short(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [short(inner) for inner in value]
    return f"{value[:40]}… {digest(value, 8)}" if isinstance(value, str) and len(value) > 300 else value


def read(path: Path) -> Any:
    """A result record without times and ports."""
    return json.loads(normalised(path.read_text("utf-8")))


def folder(path: Path) -> Json:
    """Result file -> hash of its bytes, of each field, and of each turn; what else is there by name."""
    return {one.name: None if one.name.startswith("_") else _parts(one) for one in sorted(path.iterdir())}


def _parts(path: Path) -> Json:
    record = read(path)
    return {
        "bytes": digest(normalised(path.read_text("utf-8"))),
        "fields": " ".join(f"{name}={digest(value, 6)}" for name, value in record.items() if name != "turns"),
        "turns": " ".join(digest(turn, 6) for turn in record["turns"]),
    }
