"""Example outputs of the environment, as the Hub's review asks for: five conversations by three rollouts.

verifiers' own command writes them, with the code of the folder that is pushed. The best baseline answers,
from a server on loopback: whoever has a model at hand replaces them.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Final

from attune_episodes.frameworks.verifiers.arguments import ENV_ID
from tests.endpoint import endpoint_process
from tools.check_release import run
from tools.pages import table

POLICY: Final = "surface"
EXAMPLES: Final = 5
ROLLOUTS: Final = 3
FLAGS: Final = (ENV_ID, "-m", POLICY, "-n", str(EXAMPLES), "-r", str(ROLLOUTS))


def write_outputs(folder: Path) -> Path:
    """Play the environment in a folder; the new run in its `outputs`."""
    with (
        endpoint_process("--data", "sample", "--policy", POLICY) as model,
        tempfile.TemporaryDirectory() as home,
    ):
        run(
            Path(sys.executable).with_name("vf-eval"), *FLAGS, "--no-push", "--no-rich",
            "--client.base-url", model.url, "--client.api-key-var", "NO_KEY", cwd=folder,
            PYTHONPATH=str(folder), PYTHONDONTWRITEBYTECODE="1", HOME=home, NO_KEY="none",
        )  # fmt: skip
    (traces,) = (folder / "outputs").glob("*/traces.jsonl")
    return traces.parent


def rewards(run_folder: Path) -> dict[str, list[float]]:
    """Id of a conversation -> the rewards of its rollouts; AssertionError if one is missing or failed."""
    earned: dict[str, list[float]] = {}
    for line in (run_folder / "traces.jsonl").read_text("utf-8").splitlines():
        episode = json.loads(line)
        assert episode["ok"], episode["errors"]
        (trace,) = episode["traces"]
        total = sum(reward["score"] * reward["weight"] for reward in trace["rewards"].values())
        earned.setdefault(trace["task"]["data"]["id"], []).append(total)
    assert {len(each) for each in earned.values()} == {ROLLOUTS}, earned
    assert len(earned) == EXAMPLES, earned
    return dict(sorted(earned.items()))


def about(run_folder: Path) -> str:
    """The card's section about the run."""
    rows = [
        (f"`{name}`", *(f"{value:.3f}" for value in values)) for name, values in rewards(run_folder).items()
    ]
    heads = ("conversation", *(f"rollout {number}" for number in range(1, ROLLOUTS + 1)))
    return (
        f"## Example outputs\n\n`outputs/{run_folder.name}` is what `vf-eval {' '.join(FLAGS)}` writes: "
        f"{EXAMPLES} conversations of `sample` by {ROLLOUTS} rollouts, with `traces.jsonl`, the resolved "
        f"configuration and the log. **No language model answered:** the policy `{POLICY}` did, the best "
        "baseline, behind a server on loopback. It gives the same answer each time, so rollouts of a "
        f"conversation agree; those of a model differ.\n\n{table(heads, rows)}"
    ).rstrip()
