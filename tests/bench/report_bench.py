"""What the report costs on 11 models × 200 conversations: as a whole, and its statistics beside SciPy's."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import bootstrap as scipy_bootstrap

from attune_env.statistics import (
    Bootstrap,
    ScoreTable,
    compare,
    contrasts,
    rank_correlations,
    sign_flip,
    variance_split,
    win_rates,
)
from attune_env.tables.groups import METRICS
from attune_rewards.bootstrap import RESAMPLES, _drawn
from tests.bench.measuring import Work, seconds, told
from tests.report.analyses.planted import is_diagnosed, people, planted_scores

CONVERSATIONS = 200
ROUNDS = 5
REPORTS = 3


def _rounds(work: Work) -> list[float]:
    """Seconds of each round, the drawing of the resamples among them."""

    def fresh() -> None:
        _drawn.cache_clear()
        work()

    return [seconds(fresh) for _ in range(ROUNDS)]


def _all_statistics(table: ScoreTable, inside: list[bool], metrics: list[str]) -> None:
    fresh = replace(table)  # without the kernel that the other one keeps
    kernel, values = fresh.kernel, fresh.of_metrics(metrics)
    kernel.intervals(values.reshape(len(values), -1))
    for metric in range(len(metrics)):
        compare(kernel, values[:, :, metric])
    sign_flip(kernel, fresh.metric("perspective_gap_om_hp"))
    rank_correlations(kernel, values)
    win_rates(kernel, fresh.metric("avg_pairwise_kendall_tau"))
    for metric in range(len(metrics)):
        variance_split(values[:, :, metric])
    contrasts(kernel, values.reshape(len(values), -1), inside)


def statistics_speed() -> None:
    """All statistics of a report; intervals alone against SciPy's bootstrap, a column at a time."""
    entries = planted_scores(CONVERSATIONS)["conversations"]
    table = ScoreTable.of(entries)
    diagnosed = {c.conversation_id: is_diagnosed(c) for c in people(CONVERSATIONS)}
    inside = [diagnosed[name] for name in table.ids]
    size = f"{len(table.keys)} models x {CONVERSATIONS} conversations, {RESAMPLES:,} resamples"
    for metrics, aim in ((list(METRICS), "under 1 s"), (list(table.metrics), "-")):
        taken = told(_rounds(lambda metrics=metrics: _all_statistics(table, inside, metrics)))  # type: ignore[misc]
        print(f"statistics, {size}, {len(metrics)} metrics: {taken} s aim: {aim}")
    print(f"scores file to array: {told(_rounds(lambda: ScoreTable.of(entries)))} s")

    columns = table.of_metrics(list(METRICS)).reshape(CONVERSATIONS, -1)
    columns = columns[:, ~np.isnan(columns).all(axis=0)]
    ours = statistics.median(_rounds(lambda: Bootstrap(CONVERSATIONS).intervals(columns)))

    def scipys() -> None:
        for column in columns.T:
            scipy_bootstrap((column[~np.isnan(column)],), np.mean, n_resamples=RESAMPLES, method="percentile")

    theirs = seconds(scipys)
    print(
        f"intervals of {columns.shape[1]} columns: scipy.stats.bootstrap / ours: {theirs / ours:.0f} "
        f"({theirs:.1f} s / {ours:.3f} s) aim: at least 20"
    )


def report_speed() -> None:
    """`attune report -o` as a process, on planted runs: page, 99 figure files, 200 conversation pages."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        subprocess.run([sys.executable, "-m", "tests.report.analyses.planted", folder], check=True)
        command = [
            sys.executable, "-m", "attune_env", "report", "--scores", str(place / "scores.json"),
            "--data", str(place / "conversations"), "--results", str(place / "results"),
        ]  # fmt: skip
        rounds = [_process([*command, "-o", str(place / f"report-{i}")]) for i in range(REPORTS)]
    walls, cpus, megabytes = (list(one) for one in zip(*rounds, strict=True))
    print(
        f"report, 11 models x {CONVERSATIONS} conversations: {told(walls, '.1f')} s, "
        f"CPU {statistics.median(cpus):.1f} s, aim: under 20 s; "
        f"largest process {max(megabytes):.0f} MB, aim: under 1,000"
    )


MEASURE = """
import json, os, subprocess, sys, time
started = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
wall = time.perf_counter() - started
assert not status, sys.argv
print(json.dumps([wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6]))
"""


def _process(command: list[str]) -> list[float]:
    """Wall-clock and CPU seconds of a process and its own ones, and the megabytes of the largest.

    Started by a small process between: this one's memory would count as that of the other when it starts.
    """
    done = subprocess.run([sys.executable, "-c", MEASURE, *command], check=True, capture_output=True)
    found: list[float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    statistics_speed()
    report_speed()
