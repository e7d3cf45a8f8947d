"""Grade the folder of `make openenv`, and write the table in docs/openenv.md.

python -m tools.openenv_grades build/attune_env

OpenEnv 0.10 or later has to be installed, without Docker: its checks run against the folder's server as a
process. What its RFC 008 names and its release does not measure yet is measured here, under the RFC's names.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Final

from openenv.validation import CheckResult, CheckStatus, run_validation
from openenv.validation.manifest import ExecutionDeclaration, NormalizedManifestV2
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.providers import ExecResult, StartupError
from openenv.validation.runner import source_digest
from openenv.validation.runtime.collector import collect_runtime_evidence
from openenv.validation.runtime.contracts import LaunchSpec, RuntimePlan, load_runtime_plan
from openenv.validation.types import ProviderCapability

from attune_data import Conversations, load
from attune_data.errors import AttuneError
from attune_data.source.order import Order
from attune_env.audit.auditing import audit
from attune_env.audit.verdict import GATE
from attune_episodes import Settings
from attune_episodes.frameworks.openenv import AttuneAction, AttuneClient
from attune_episodes.frameworks.openenv.env import AttuneEnvironment
from attune_episodes.protocol.unanswered import unanswered
from attune_rewards.reward.spec import RewardSpec
from tools.openenv_folder import SERVED
from tools.pages import DOCS, filled, table

REWARD: Final = "skill"
"""The reward of the folder's server."""
SEEDS: Final = 40
EARNED: Final = {"reward", "parts", "value", "weight", "reason", "total", "total_name"}
"""The fields of an observation that tell what replies have earned."""
READY_SECONDS: Final = 60
UNREAD: Final = "I would rather not say."


class Server:
    """The folder's server as a process: what OpenEnv calls a running subject."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self.port}"
        lines = (folder / "Dockerfile").read_text(encoding="utf-8").splitlines()
        (command,) = [json.loads(line[4:]) for line in lines if line.startswith("CMD ")]
        self._process = subprocess.Popen(
            [sys.executable, *command[1:]],
            cwd=folder,
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def wait(self) -> Server:
        """Wait until it takes connections. Raises StartupError if it does not in time."""
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return self
        raise StartupError(f"the server of {self._folder} does not start: run its Dockerfile's CMD there")

    @property
    def _environment(self) -> dict[str, str]:
        """As in the image: nothing of ours but the port, and no compiled files in the folder."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ATTUNE_")}
        return {**kept, "PORT": str(self.port), "PYTHONDONTWRITEBYTECODE": "1"}

    def inspect(self) -> dict[str, Any]:
        """What is known of the process."""
        return {"pid": self._process.pid}

    def logs(self, max_bytes: int = 65_536) -> str:
        """Nothing: what the server prints is not kept."""
        return ""

    def exec(self, argv: list[str], timeout_s: float) -> ExecResult:
        """Run a command beside the server."""
        started = time.monotonic()
        done = subprocess.run(
            argv, cwd=self._folder, env=self._environment, timeout=timeout_s, capture_output=True, text=True
        )
        return ExecResult(done.returncode, done.stdout, done.stderr, time.monotonic() - started)

    def stop(self) -> None:
        """Nothing: `close` ends the process, which more than one episode uses."""

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait(READY_SECONDS)


class ProcessProvider:
    """Gives OpenEnv a server that runs already, without Docker: neither network nor memory is bounded."""

    name = "process"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"public"})

    def __init__(self, server: Server) -> None:
        self._server = server

    def build(self, root: Path, execution: ExecutionDeclaration) -> str:
        """The digest of the folder, which stands for that of an image."""
        return f"sha256:{source_digest(root)}"

    def start(self, spec: LaunchSpec) -> Server:
        """The server, once it is ready."""
        return self._server.wait()


def result(check: str, passed: bool, measured: str) -> CheckResult:
    """A grade, in the form of OpenEnv's own."""
    status = CheckStatus.PASS if passed else CheckStatus.FAIL
    return CheckResult(check_id=check, status=status, evidence=[measured], duration_s=0)


def openenvs_own(folder: Path, server: Server) -> Iterator[CheckResult]:
    """What the installed OpenEnv measures; what it skips is left out."""
    report = run_validation(folder, provider=ProcessProvider(server))
    yield from (one for one in report.results if one.status is not CheckStatus.SKIP)


def seed_control(client: Any, other: Any) -> CheckResult:
    """Whether a seed decides which conversation two servers play, and different seeds differ."""
    drawn = [
        [one.reset(seed=seed, episode_id="e").observation for seed in seeds]
        for one, seeds in ((client, range(SEEDS)), (other, reversed(range(SEEDS))))
    ]
    different = len({shown.conversation_id for shown in drawn[0]})
    return result(
        "runtime.seed_control",
        drawn[0] == drawn[1][::-1] and different > 1,
        f"{SEEDS} seeds draw {different} conversations, the same on two servers and in any order",
    )


def replayed(server: Server, plan: RuntimePlan, seconds: float) -> list[dict[str, Any]]:
    """What the server answers to a plan, message by message."""
    evidence = collect_runtime_evidence(server.base_url, plan, episode_timeout_s=seconds)
    if evidence.failure_reason:
        told = f"{evidence.failure_phase}: {evidence.failure_reason}"
        raise AttuneError(f"the server does not answer the trajectory {plan.reset.episode_id!r}: {told}")
    return [json.loads(exchange.response_json) for exchange in evidence.exchanges]


def leakage(number: int) -> CheckResult:
    """Whether an observation shows annotations: it is compared with that of a twin without any."""
    spec, settings = RewardSpec.preset(REWARD), Settings()
    conversations = load(SERVED)[:number]

    def observed(conversation: Any) -> list[dict[str, Any]]:
        order = Order.of(Conversations([conversation]), sampling="sequential")
        env = AttuneEnvironment(order, settings, spec, Lock())
        shown = [env.reset(episode_id="e")]
        while not shown[-1].done:
            shown.append(env.step(AttuneAction(message=UNREAD)))
        return [one.model_dump(exclude=EARNED) for one in shown]

    differ = [one.conversation_id for one in conversations if observed(one) != observed(unanswered(one))]
    return result(
        "semantic.no_solution_leakage",
        not differ,
        f"{len(differ)} of {number} conversations differ from a twin without annotations, apart from scores",
    )


def adversarial_floor() -> CheckResult:
    """Whether an attack of `attune rewards audit` earns more than the best answers that read nothing.

    On all splits: with fewer than 100 people there is no verdict.
    """
    (verdict,) = audit(load("written"), [RewardSpec.preset(REWARD)]).verdicts
    name, bound = verdict.bound
    return result(
        "statistical.adversarial_floor",
        verdict.state == "passes",
        f"{len(verdict.gains)} attacks: the best, `{name}`, gains at most {bound:.3f}; {GATE} would fail",
    )


def measured(folder: Path, server: Server, other: Server, number: int) -> Iterator[CheckResult]:
    """What two servers of the folder show; the oracle plays as many conversations."""
    manifest = OpenEnvYamlParser().parse(folder)
    assert isinstance(manifest, NormalizedManifestV2)
    declared, capabilities = manifest.reward, manifest.capabilities
    seconds, highest = manifest.resources.episode_timeout_s, declared.range[1]
    assert capabilities.oracle is not None
    assert capabilities.canaries is not None
    canaries = json.loads((folder / capabilities.canaries).read_text(encoding="utf-8"))
    plans = [
        load_runtime_plan(folder, manifest.execution),
        *map(RuntimePlan.model_validate, canaries.values()),
    ]
    with connected(server) as client, connected(other) as second:
        yield seed_control(client, second)
        client.reset()
        floor = client.state().total
    played = [replayed(server, plan, seconds) for plan in plans]
    exchanges = sum(map(len, played))
    yield result(
        "runtime.episode_determinism",
        played == [replayed(other, plan, seconds) for plan in plans],
        f"{exchanges} answers to {len(plans)} episodes, the same on two servers",
    )
    oracle = [sys.executable, capabilities.oracle.location, str(number)]
    done = server.exec(oracle, timeout_s=seconds)
    totals = json.loads(done.stdout) if done.exit_code == 0 else {"": float("nan")}
    lowest = min(totals.values())
    yield result(
        "semantic.oracle_max",
        lowest >= highest - declared.oracle_tolerance,
        f"the annotations' own answers earn at least {lowest:.6f} of {highest:g} "
        f"in {len(totals)} conversations",
    )
    silent = played[1 + list(canaries).index("empty")][-1]["data"]["total"]
    yield result(
        "semantic.floor_gap",
        highest - max(floor, silent) >= declared.floor_margin,
        f"doing nothing earns {floor:g}, silence {silent:.2f}; the most is {highest:g}",
    )
    earned = [answers[-1]["data"]["total"] for answers in played[1:]]
    yield result(
        "semantic.canary_floor",
        max(earned) <= floor,
        f"{len(earned)} trajectories ({', '.join(canaries)}) earn {min(earned):.2f} to {max(earned):.2f}",
    )


@contextmanager
def connected(server: Server) -> Iterator[Any]:
    """A client of the server."""
    with AttuneClient(base_url=server.base_url).sync() as client:
        yield client


def shown(own: Iterable[CheckResult], ours: Iterable[CheckResult]) -> str:
    """The table of the page."""
    rows = (
        *((f"`{one.check_id}`", one.status.value, "by OpenEnv itself") for one in own),
        *((f"`{one.check_id}`", one.status.value, "; ".join(one.evidence)) for one in ours),
    )
    return table(("grade", "result", "measured"), rows)


def graded(folder: Path, number: int) -> tuple[list[CheckResult], list[CheckResult]]:
    """OpenEnv's own grades, and ours, with the oracle on as many conversations."""
    with closing(Server(folder)) as server, closing(Server(folder)) as other:
        own = list(openenvs_own(folder, server))
        return own, [*measured(folder, server, other.wait(), number), leakage(number)]


def main(folder: Path) -> int:
    """Grade the folder on every conversation and write the page; 1 if it fails a grade."""
    own, ours = graded(folder, len(load(SERVED)))
    ours.append(adversarial_floor())
    page = DOCS / "openenv.md"
    page.write_text(filled(page.read_text(encoding="utf-8"), {"grades": shown(own, ours)}), encoding="utf-8")
    failed = [one for one in (*own, *ours) if one.status is not CheckStatus.PASS]
    for one in failed:
        print(f"{one.status.value} {one.check_id}: {'; '.join(one.evidence)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
