"""verifiers' own commands as a person types them, from another folder, against a loopback endpoint."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf

from attune_episodes import builtin_policy, rollout
from attune_episodes.frameworks.verifiers import AttuneTasksetConfig, rollouts_from
from attune_episodes.frameworks.verifiers.arguments import AttuneHarnessConfig
from tests import PATIENCE
from tests.endpoint import serve
from tests.frameworks.verifiers.play import lexicon, sample

BIN = Path(sys.executable).parent
DOCS = Path(__file__).parents[3] / "docs" / "verifiers.md"
Json = dict[str, Any]


def command(name: str, *arguments: str, cwd: Path, url: str = "", code: int = 0) -> str:
    """Runs one of verifiers' commands; what it printed. Nothing of Prime's configuration is read or sent."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PRIME")}
    env |= {"HOME": str(cwd), "PRIME_INFERENCE_URL": url, "NO_COLOR": "1", "COLUMNS": "200"}
    done = subprocess.run(
        [str(BIN / name), *arguments], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
        capture_output=True, encoding="utf-8", timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == code, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def documented(name: str, folder: Path | None = None) -> list[str]:
    """The arguments of a command as docs/verifiers.md shows it under "Failures and resuming"."""
    section = DOCS.read_text(encoding="utf-8").partition("## Failures and resuming")[2]
    (line,) = [line for line in section.split("\n## ")[0].split("\n") if line.startswith(name + " ")]
    return shlex.split(line.replace("outputs/RUN", str(folder)), comments=True)[1:]


def run_folder(cwd: Path) -> Path:
    """The one run in `outputs`."""
    (folder,) = [path for path in (cwd / "outputs").iterdir() if (path / "traces.jsonl").exists()]
    return folder


def traces(file: Path) -> dict[str, Json]:
    """Task key -> its trace; each task once."""
    lines = file.read_text(encoding="utf-8").split("\n")
    found = [trace for line in lines if line for trace in json.loads(line)["traces"]]
    by_key = {trace["task"]["key"]: trace for trace in found}
    assert len(by_key) == len(found)
    return by_key


def rewards(found: dict[str, Json]) -> dict[str, float]:
    return {key: trace["rewards"]["composite_strict"]["score"] for key, trace in found.items()}


def expected() -> dict[str, float]:
    policy = builtin_policy("lexicon", sample())
    return {about.conversation_id: rollout(about, policy).total for about in sample()}


def test_an_evaluation_with_no_flag_but_the_model_then_a_replay_and_official_results(tmp_path: Path) -> None:
    with serve(lexicon()) as server:
        told = command("vf-eval", "attune-env", "-m", "m/x", cwd=tmp_path, url=server.url)
        assert server.unknown == []
    assert "composite_strict" in told
    folder = run_folder(tmp_path)
    found = traces(folder / "traces.jsonl")
    assert rewards(found) == expected()
    assert {one.conversation.conversation_id: one.total for one in rollouts_from(folder)} == expected()

    # a replay scores the same replies anew, with nobody to ask
    command("vf-replay", *documented("vf-replay", folder), cwd=tmp_path)
    again = traces(tmp_path / "again" / "traces.jsonl")
    assert rewards(again) == expected()
    assert {key: trace["metrics"] for key, trace in again.items()} == {
        key: trace["metrics"] for key, trace in found.items()
    }


def refused(cwd: Path, name: str, flag: str, value: str) -> list[str]:
    """The lines that a command prints that cannot play what it is given."""
    place = "--env.taskset" if name == "vf-eval" else "--taskset"
    rest = ["-m", "m/x", "--no-push"] if name == "vf-eval" else ["--runtime.type", "subprocess"]
    return command(
        name, "attune-env", "--no-rich", f"{place}.{flag}", value, *rest, cwd=cwd, code=1
    ).splitlines()


@pytest.mark.parametrize("name", ["vf-eval", "vf-validate"])
def test_data_that_cannot_be_played_ends_in_its_message_alone(tmp_path: Path, name: str) -> None:
    said = refused(tmp_path, name, "data", "/nope")
    assert "/nope: found no such file or folder, expected" in said[-1]
    assert not [line for line in said if "Traceback" in line or line.startswith("  File ")], said


@pytest.mark.parametrize("name", ["vf-eval", "vf-validate"])
def test_an_endless_mixture_without_a_number_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    told = " ".join(refused(tmp_path, name, "data", "3*written+sample"))
    assert "AttuneTaskset is infinite - bound the run with -n" in told


def test_a_wrong_configuration_is_told_without_a_traceback(tmp_path: Path) -> None:
    told = " ".join(" ".join(refused(tmp_path, "vf-eval", "reward", "compsite")).replace("│", " ").split())
    assert "did you mean 'composite'" in told
    assert "Traceback" not in told


def test_resume_plays_exactly_what_failed_or_was_cut_short(tmp_path: Path) -> None:
    faults = ["500,of=sample-02/3/assess,first=2", "500,of=sample-05/1/draft,first=2"]
    flags = ["--env.agent.harness.retries", "1", "--env.agent.harness.backoff", "0", "--no-rich", "--no-push"]
    with serve(lexicon(), faults=faults) as server:
        command("vf-eval", "attune-env", "-m", "m/x", "-n", "6", *flags, cwd=tmp_path, url=server.url)
        folder = run_folder(tmp_path)
        lines = (folder / "traces.jsonl").read_text(encoding="utf-8").splitlines()
        ok = [json.loads(line)["task"]["key"] for line in lines if json.loads(line)["ok"]]
        assert sorted(ok) == ["sample-01", "sample-03", "sample-04", "sample-06"]
        before = len(server.calls)
        command("vf-eval", *documented("vf-eval", folder), cwd=tmp_path, url=server.url)
        played = {(call.request or "").partition("/")[0] for call in server.calls[before:]}
        assert played == {"sample-02", "sample-05"}
    wanted = {key: value for key, value in expected().items() if key <= "sample-06"}
    assert rewards(traces(folder / "traces.jsonl")) == wanted


@pytest.mark.parametrize(
    ("flags", "number"),
    [
        ([], 20),
        (["--taskset.data", "3*written+sample", "-n", "7", "--taskset.granularity", "request"], 7),
    ],
    ids=["sample", "single requests of an endless mixture"],
)
def test_validation_runs_clean(tmp_path: Path, flags: list[str], number: int) -> None:
    told = command("vf-validate", *documented("vf-validate"), "--no-rich", *flags, cwd=tmp_path)
    summary = json.loads(told[told.index("{\n") : told.rindex("\n}") + 2])
    assert summary["outcomes"]["valid"] == summary["total"] == number
    assert summary["checks"]["noop"]["valid"] == number


def test_help_names_every_field_and_explains_those_of_the_taskset(tmp_path: Path) -> None:
    told = " ".join(command("vf-eval", "attune-env", "--help", cwd=tmp_path).replace("│", " ").split())
    for name, field in AttuneTasksetConfig.model_fields.items():
        assert f"--env.taskset.{name.replace('_', '-')}" in told
        assert " ".join(str(field.description).split())[:40] in told
    assert "--env.agent.harness.` `parallel`, `reasks`, `retries`, `backoff`" in told
    ours = set(AttuneHarnessConfig.model_fields) - set(vf.HarnessConfig.model_fields)
    assert ours == {"parallel", "reasks", "retries", "backoff"}
    assert "--env.taskset.task.draft-judge.enabled" in told
