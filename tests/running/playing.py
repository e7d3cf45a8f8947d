"""Runs against a real server on loopback, in this process, and what they leave behind."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attune_data import Conversations, load
from attune_data.validate import conversation_from
from attune_env.running.providers import endpoint_of
from attune_env.running.run import EndpointReport, run_endpoint
from attune_env.running.settings import Model, Options, Patience, Price, Sampling, Training
from attune_episodes import Settings
from tests.data.builders import Json
from tests.endpoint import Book, Server, answers_of
from tests.endpoint.answers import Messages
from tests.front.command import own

KEY = "sk-a-key-that-nobody-may-see-0123456789"
FIELDS = ("caps", "overwrite", "call_timeout")
QUICK = Patience(asks=3, retries=4, first_wait=0.01, longest_wait=0.02, longest_asked=5)
"""Patience for a server that is at hand."""


@cache
def sample(number: int = 3) -> Conversations:
    return load("sample")[:number]


@cache
def book(number: int = 3, policy: str = "lexicon", settings: Settings | None = None) -> Book:
    """A policy's answers; shared, so not to be changed."""
    return answers_of(sample(number), policy, settings)


def small(*identities: str) -> Conversations:
    """Conversations of two turns, everything annotated: 9 calls each, 11 with one judge."""
    return Conversations(
        [conversation_from(own(i, f"P{n}"), "memory") for n, i in enumerate(identities)],
        files={i: f"data/conversation_{n}.json" for n, i in enumerate(identities, 1)},
    )


def model(
    server: Server,
    name: str = "lab/m",
    price: Price | None = None,
    training: Training | None = None,
    **sampling: Any,
) -> Model:
    endpoint = endpoint_of("custom", base_url=server.url, environment={"OPENAI_API_KEY": KEY})
    return Model(name, endpoint, Sampling(**sampling), price, training)


def play(
    server: Server,
    conversations: Conversations,
    folder: Path,
    *,
    judges: Sequence[str] = (),
    evaluated: Model | None = None,
    concurrency: int = 8,
    patience: Patience = QUICK,
    **options: Any,
) -> EndpointReport:
    """A run in this process; `options` are those of `run_endpoint` and fields of `Options`."""
    fields = {name: options.pop(name) for name in FIELDS if name in options}
    return run_endpoint(
        evaluated or model(server),
        conversations,
        folder,
        judges=[model(server, name) for name in judges],
        options=Options(concurrency=concurrency, patience=patience, **{"command": "attune run …", **fields}),
        **options,
    )


def files(folder: Path, pattern: str = "[!_.]*.json") -> dict[str, Json]:
    """Name -> content of the result files of a folder."""
    return {path.name: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob(pattern))}


def judge_answers(rating: int = 5, answer: str = "yes") -> Callable[[Messages], str | None]:
    """A judge that rates everything the same; silent on what is no question to a judge."""

    def said(messages: Messages) -> str | None:
        if len(messages) != 1 or messages[0]["role"] != "user":
            return None
        text = str(messages[0]["content"])
        names = ("overall_score", "emotional_appropriateness", "helpfulness", "tone_match")
        found: Mapping[str, Any] = {
            "scores": dict.fromkeys(names, rating),
            "answers": {f"B{n}": answer for n in range(1, 600) if f"B{n}" in text},
        }
        return json.dumps(found)

    return said


def without_times(record: Json) -> Json:
    """A result record without what differs from run to run, or from way to way of answering."""
    attune = {name: record["attune"][name] for name in ("settings", "data", "complete", "not_asked")}
    left_out = ("em_model", "run_timestamp", "api_cost", "duration_seconds", "attune", "source_file")
    return {name: value for name, value in record.items() if name not in left_out} | {"attune": attune}
