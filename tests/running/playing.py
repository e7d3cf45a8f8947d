"""Runs against a real server on loopback, in this process, and what they leave behind."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attune_data import Conversations, load
from attune_data.format.validate import conversation_from
from attune_env.running.providers import endpoint_of
from attune_env.running.served import EndpointReport, run_endpoint
from attune_env.running.settings import Model, Options, Patience, Price, Sampling, Training
from attune_episodes import Settings
from tests.command import own
from tests.data.builders import Json
from tests.endpoint import Answers, Book, Fault, Server, answers_of, serve
from tests.endpoint.answers import Messages

KEY = "sk-a-key-that-nobody-may-see-0123456789"
QUICK = Patience(asks=3, retries=4, first_wait=0.01, longest_wait=0.02, longest_asked=5)
"""Patience for a server that is at hand."""
CALLS = 9
"""Of each conversation of `small`: two turns of four stages, and reflect."""


@cache
def sample(number: int = 3) -> Conversations:
    return load("sample")[:number]


@cache
def book(number: int = 3, policy: str = "lexicon", settings: Settings | None = None) -> Book:
    """A policy's answers; shared, so not to be changed."""
    return answers_of(sample(number), policy, settings)


def small(*identities: str | int) -> Conversations:
    """Conversations of two turns, everything annotated: 9 calls each, 11 with a judge. A number makes ids."""
    if isinstance(identities[0], int):
        identities = tuple(f"c-{n}" for n in range(1, identities[0] + 1))
    return Conversations(
        [conversation_from(own(str(i), f"P{n}"), "memory") for n, i in enumerate(identities)],
        files={str(i): f"data/conversation_{n}.json" for n, i in enumerate(identities, 1)},
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


def options(
    concurrency: int = 8,
    patience: Patience = QUICK,
    calls: int | None = None,
    cost: float | None = None,
    **fields: Any,
) -> Options:
    """`calls` and `cost` are caps."""
    return Options(
        concurrency, patience=patience, max_calls=calls, max_cost=cost, command="attune run …", **fields
    )


def play(
    server: Server,
    conversations: Conversations,
    folder: Path,
    *,
    judges: Sequence[str] = (),
    evaluated: Model | None = None,
    plain: bool = False,
    **more: Any,
) -> EndpointReport:
    """A run in this process, `plain` without schemas; `more` are options of it, of `Options` and caps."""
    asked = {name: more.pop(name) for name in ("modes", "settings", "samples", "watcher") if name in more}
    evaluated = evaluated or (model(server, structured="off") if plain else model(server))
    rating = [model(server, name) for name in judges]
    return run_endpoint(evaluated, conversations, folder, judges=rating, options=options(**more), **asked)


def met(
    folder: Path,
    conversations: Conversations,
    *faults: Fault | str,
    answers: Answers | None = None,
    **more: Any,
) -> tuple[EndpointReport, Server]:
    """The report of a run against a server of its own with these faults, and the server."""
    fields = {name: more.pop(name) for name in ("key", "latency", "structured", "gather") if name in more}
    with serve(answers or answers_of(conversations), faults, **fields) as server:
        return play(server, conversations, folder, **more), server


def files(folder: Path, pattern: str = "[!_.]*.json") -> dict[str, Json]:
    """Name -> content of the result files of a folder."""
    return {path.name: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob(pattern))}


def the_only(folder: Path) -> Json:
    """The content of the one result file of a folder."""
    (record,) = files(folder).values()
    return record


def judge_answers(rating: int = 5, answer: str = "yes") -> Callable[[Messages], str | None]:
    """A judge that rates everything the same; silent on what is no question to a judge."""
    names = ("overall_score", "emotional_appropriateness", "helpfulness", "tone_match")

    def said(messages: Messages) -> str | None:
        if len(messages) != 1 or messages[0]["role"] != "user":
            return None
        questions = [f"B{n}" for n in range(1, 600) if f"B{n}" in str(messages[0]["content"])]
        return json.dumps(
            {"scores": dict.fromkeys(names, rating), "answers": dict.fromkeys(questions, answer)}
        )

    return said


def without_times(record: Json) -> Json:
    """A result record without what differs from run to run, or from way to way of answering."""
    attune = {name: record["attune"][name] for name in ("settings", "data", "complete", "not_asked")}
    left_out = ("em_model", "run_timestamp", "api_cost", "duration_seconds", "attune", "source_file")
    return {name: value for name, value in record.items() if name not in left_out} | {"attune": attune}
