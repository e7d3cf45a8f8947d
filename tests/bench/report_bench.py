"""What the report costs on 11 models × 200 conversations: as a whole, and its statistics beside SciPy's."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import bootstrap as scipy_bootstrap

from attune_env.report.groups import GROUPS
from attune_env.statistics import (
    Bootstrap,
    ScoreTable,
    compare_metrics,
    contrasts,
    rank_correlations,
    sign_flip,
    variance_split,
    win_rates,
)
from attune_env.statistics.bootstrap import RESAMPLES, _drawn
from tests.analyses.planted import is_diagnosed, people, planted_scores

CONVERSATIONS = 200
ROUNDS = 5
REPORTS = 3
REPORTED = [metric.column for _, group in GROUPS for metric in group]


def _seconds(call: Callable[[], object]) -> tuple[float, str]:
    """The median wall-clock time; it with the fastest round and the CPU time of all threads as text."""
    times, started_cpu = [], time.process_time()
    for _ in range(ROUNDS):
        _drawn.cache_clear()  # the drawing counts, each time
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    cpu, middle = (time.process_time() - started_cpu) / ROUNDS, statistics.median(times)
    return middle, f"{middle:.2f} s (min {min(times):.2f}, CPU {cpu:.2f})"


def _all_statistics(table: ScoreTable, inside: list[bool], metrics: list[str]) -> None:
    fresh = replace(table)  # without the kernel that the other one keeps
    kernel, values = fresh.kernel, fresh.of_metrics(metrics)
    kernel.intervals(values.reshape(len(values), -1))
    compare_metrics(kernel, values)
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
    for name, metrics in (("reported", REPORTED), ("all", list(table.metrics))):
        _, taken = _seconds(lambda metrics=metrics: _all_statistics(table, inside, metrics))  # type: ignore[misc]
        aim = "under 1 s" if name == "reported" else "-"
        print(f"statistics, {size}, {len(metrics)} {name} metrics: {taken} aim: {aim}")
    print(f"scores file to array: {_seconds(lambda: ScoreTable.of(entries))[1]}")

    columns = table.of_metrics(REPORTED).reshape(CONVERSATIONS, -1)
    columns = columns[:, ~np.isnan(columns).all(axis=0)]
    ours, _ = _seconds(lambda: Bootstrap(CONVERSATIONS).intervals(columns))
    started = time.perf_counter()
    for column in columns.T:
        scipy_bootstrap((column[~np.isnan(column)],), np.mean, n_resamples=RESAMPLES, method="percentile")
    theirs = time.perf_counter() - started
    print(
        f"intervals of {columns.shape[1]} columns: scipy.stats.bootstrap / ours: {theirs / ours:.0f} "
        f"({theirs:.1f} s / {ours:.3f} s) aim: at least 20"
    )


def report_speed() -> None:
    """`attune report -o` as a process, on planted runs: page, 99 figure files, 200 conversation pages."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        subprocess.run([sys.executable, "-m", "tests.analyses.planted", folder], check=True)
        command = [
            sys.executable, "-m", "attune_env", "report", "--scores", str(place / "scores.json"),
            "--data", str(place / "conversations"), "--results", str(place / "results"),
        ]  # fmt: skip
        rounds = [_process([*command, "-o", str(place / f"report-{i}")]) for i in range(REPORTS)]
    walls, cpus, megabytes = zip(*rounds, strict=True)
    print(
        f"report, 11 models x {CONVERSATIONS} conversations: {statistics.median(walls):.1f} s "
        f"(min {min(walls):.1f}, CPU {statistics.median(cpus):.1f}) aim: under 20 s; "
        f"largest process {max(megabytes):.0f} MB aim: under 1,000"
    )


MEASURE = """
import json, os, subprocess, sys, time
started = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
wall = time.perf_counter() - started
print(json.dumps([status, wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6]))
"""


def _process(command: list[str]) -> tuple[float, float, float]:
    """Wall-clock and CPU seconds of a process and its own ones, and the megabytes of the largest.

    Started by a small process between: this one's memory would count as that of the other when it starts.
    """
    done = subprocess.run([sys.executable, "-c", MEASURE, *command], check=True, capture_output=True)
    status, wall, cpu, megabytes = json.loads(done.stdout)
    if status:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), command)
    return wall, cpu, megabytes


if __name__ == "__main__":
    statistics_speed()
    report_speed()
