"""A Ray cluster of two one-CPU nodes gives what one process gives, also when it loses workers."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402

from attune_data import Conversations, load  # noqa: E402
from tests import PATIENCE  # noqa: E402
from tests.documents import ROOT  # noqa: E402

sys.path.insert(0, str(ROOT / "examples" / "scale"))

import ray_episodes  # noqa: E402
import ray_rows  # noqa: E402
from map_rows import replied_rows, with_reward  # noqa: E402

SHARDS = 8


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1)
    here = {"PYTHONPATH": str(ROOT / "examples" / "scale")}
    ray.init(address=nodes.address, runtime_env={"env_vars": here}, log_to_driver=False)
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture(scope="module")
def conversations() -> Conversations:
    return load("written:train")[:48]


@pytest.fixture(scope="module")
def alone(conversations: Conversations) -> dict[str, float]:
    return dict(ray_episodes.played(conversations))


def kill_a_worker(killed: list[str]) -> None:
    """Kill one process that is playing a shard, as soon as there is one."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        found = subprocess.run(["pgrep", "-f", "^ray::played"], capture_output=True, text=True).stdout.split()
        if found:
            subprocess.run(["kill", "-9", found[0]], check=True)
            killed.append(found[0])
            return
        time.sleep(0.02)


def test_rows_scored_by_ray_data_earn_what_one_process_gives(cluster: Any) -> None:
    rows = replied_rows(20)
    assert ray_rows.scored(rows, 2, batch=64) == {row["id"]: with_reward(row)["value"] for row in rows}


def test_a_killed_worker_loses_and_doubles_no_episode(
    cluster: Any, conversations: Conversations, alone: dict[str, float]
) -> None:
    killed: list[str] = []
    killer = threading.Thread(target=kill_a_worker, args=(killed,))
    killer.start()
    returns = ray_episodes.on_cluster(conversations, SHARDS)
    killer.join()
    assert killed
    assert len(returns) == len(conversations)
    assert returns == alone


def test_a_lost_node_loses_and_doubles_no_episode(
    cluster: Any, conversations: Conversations, alone: dict[str, float]
) -> None:
    node = cluster.add_node(num_cpus=1)
    loss = threading.Timer(1.0, cluster.remove_node, args=(node,))
    loss.start()
    returns = ray_episodes.on_cluster(conversations, SHARDS)
    loss.join()
    assert returns == alone
