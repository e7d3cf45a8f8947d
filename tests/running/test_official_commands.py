"""Every command of the official tool's README, word for word, with `attune` in the place of its name.

The addresses of the providers are those of servers on loopback; nothing else is changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from attune_env.running import providers
from attune_episodes import MODES, Settings
from tests.command import attune_here, data_folder, names, read
from tests.endpoint import Server, answers_of, first_of, serve
from tests.running.playing import judge_answers, small

KEYS = ("OPENROUTER_API_KEY", "OPENAI_API_KEY", "RLVR_PRIME_API_KEY", "PRIME_API_KEY")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    book = answers_of(small("c-1", "c-2"), settings=[Settings(mode=mode) for mode in MODES])
    with serve(first_of(book, judge_answers())) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two conversations in it, keys in the environment, providers on loopback."""
    server.calls.clear()
    server.key = "sk-from-the-environment"
    for provider in ("openrouter", "openai", "prime"):
        monkeypatch.setitem(providers._PLACES, provider, (server.url, providers._PLACES[provider][1]))
    for name in KEYS:
        monkeypatch.setenv(name, server.key)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    data_folder(tmp_path / "data", ("c-1", "c-2"))
    return tmp_path


def run(place: Path, line: str, folder: str = "results") -> list[str]:
    """The result files that the command leaves, once it has been typed."""
    assert line.startswith("attune-bench ")
    attune_here(line.removeprefix("attune-bench "), place)
    return [name for name in names(place / folder) if not name.startswith("_")]


def test_prime_config_file(place: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name)
    server.key = "pk-of-the-file"
    (place / "home" / ".prime").mkdir(parents=True)
    config = {"api_key": server.key, "team_id": "team", "inference_url": server.url}
    (place / "home" / ".prime" / "config.json").write_text(json.dumps(config))
    run(place, "attune-bench run prime anthropic/claude-sonnet-4 data")
    assert {call.headers["x-prime-team-id"] for call in server.calls} == {"team"}
    assert {call.status for call in server.calls} == {200}


@pytest.mark.parametrize(("line", "modes"), [
    ("run openrouter anthropic/claude-sonnet-4 data", ["default"]),
    ("run prime anthropic/claude-sonnet-4 data --modes all", MODES),
    ("run prime anthropic/claude-sonnet-4 ./data/ --modes default verbose", ["default", "verbose"]),
    ("run openai gpt-4o data --modes default verbose", ["default", "verbose"]),
])  # fmt: skip
def test_modes(place: Path, server: Server, line: str, modes: Sequence[str]) -> None:
    _, provider, model, *_ = line.split()
    name = f"{provider}_{model.replace('/', '_')}"
    assert sorted(run(place, f"attune-bench {line}")) == sorted(
        f"c-{n}_{name}_{mode}.json" for n in (1, 2) for mode in modes
    )
    assert {call.body["model"] for call in server.calls} == {model}
    before = len(server.calls)
    run(place, f"attune-bench {line}")  # skips what is complete
    assert len(server.calls) == before


def test_run_with_a_judge(place: Path, server: Server) -> None:
    line = "attune-bench run prime anthropic/claude-sonnet-4 data --judge-model anthropic/claude-opus-4.6"
    made = run(place, line)
    # 2 conversations of 2 turns: 2 x (2 x 5 + 1)
    assert len(server.calls) == 22
    for name in made:
        for turn in read(place / "results" / name)["turns"]:
            assert turn["em_draft_judge_scores"]["overall_score"] == 5
            assert list(turn["em_draft_judge_scores_by_model"]) == ["anthropic/claude-opus-4.6"]


def test_run_with_folder_timeout_and_key(place: Path, server: Server) -> None:
    server.key = "sk-given"
    line = (
        "attune-bench run prime anthropic/claude-opus-4.6 data "
        "-o ./my-results/ --call-timeout 300 --api-key sk-given"
    )
    assert len(run(place, line, "my-results")) == 2


def test_score_and_report(place: Path) -> None:
    run(place, "attune-bench run openai gpt-4o data")
    attune_here("score --results ./results/ --ground-truth data --output ./scores.json", place)
    scores = read(place / "scores.json")
    assert scores["metadata"]["n_conversations"] == 2
    out, _ = attune_here("report --scores ./scores.json", place)
    assert "openai/gpt-4o" in out
