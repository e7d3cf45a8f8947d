"""Print what the runs of train_pretrained.py learned: arms, intervals, habits, guard, verdict and answers.

Run: python examples/learned.py proof --picture curves.png
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from attune_rewards.bootstrap import Bootstrap, Interval

BEATEN: Final = ("shuffled", "random", "warm", "prior", "asked", "surface")
"""The arms that `true` has to beat; the first two are compared seed by seed."""
SEEDS: Final = 5
SHARE: Final = 0.8
"""Of the seeds in which it has to."""
HEADS: Final = (
    "arm", "points by seed", "`true` less it", "swapped", "less swapped", "nats", "says", "A", "as `true`",
    "read", "perplexity", "agrees: right, wrong", "tokens", "seconds",
)  # fmt: skip
SHOWN: Final = (
    (("attune/parse_rate",), np.mean, ".0%"), (("perplexity",), np.mean, ".1f"),
    (("agrees_right", "agrees_wrong"), np.mean, "+.2f"), (("num_tokens",), np.max, ",.0f"),
    (("train_runtime",), np.max, ",.0f"),
)  # fmt: skip
"""Columns of a run, the number of what a trainer logged at each step, and its format."""


class Outcome:
    """The runs of a folder, by arm."""

    def __init__(self, folder: Path) -> None:
        self.arms: dict[str, list[dict[str, Any]]] = {}
        for file in sorted(folder.glob("*-*.json")):
            self.told = json.loads(file.read_text(encoding="utf-8"))
            self.arms.setdefault(self.told["arm"], []).append(self.told)
        self.sides = np.array([1.0 if winner == "A" else -1.0 for winner in self.told["winners"]])
        people = self.told["people"]
        self.boot = Bootstrap(len(people), people)

    def toward(self, run: dict[str, Any], column: str = "leans") -> Any:
        """By how many nats each answer is to the person's choice: comparisons by the two orders."""
        return np.array(run[column]) * np.stack([self.sides, -self.sides], axis=1)

    def points(self, run: dict[str, Any], column: str = "leans") -> Any:
        """1 where both orders together lean to the person's choice, 0.5 if they cancel, else 0."""
        return (np.sign(self.toward(run, column).sum(axis=1).round(6)) + 1) / 2

    def mean(self, arm: str, column: str = "leans") -> Any:
        """The points of an arm in each comparison, out of 100, averaged over its seeds."""
        return 100 * np.mean([self.points(run, column) for run in self.arms[arm]], axis=0)

    def interval(self, values: Any) -> Interval:
        """The mean over comparisons with its interval over participants."""
        return self.boot.intervals(values[:, None])[0]

    def rows(self) -> Iterator[list[str]]:
        """The cells of the table, arm by arm."""
        true = [self.points(run) for run in self.arms.get("true", [])]
        for arm, runs in self.arms.items():
            cells = [arm, " ".join(f"{100 * self.points(run).mean():.1f}" for run in runs)]
            other = true if arm != "true" else []
            cells.append(text(self.interval(self.mean("true") - self.mean(arm))) if other else "")
            cells.append(f"{self.mean(arm, 'swapped').mean():.1f}")
            cells.append(text(self.interval(self.mean(arm) - self.mean(arm, "swapped"))))
            nats = [self.toward(run).mean(axis=1) for run in runs]
            known = "perplexity" in runs[0]  # a model, not a policy
            cells.append(f"{np.mean(nats):+.3f} ± {np.std(nats):.2f}" if known else "")
            cells.append(f"{100 * np.mean([self.toward(run) > 0 for run in runs]):.1f}")
            cells.append(f"{np.mean([np.array(run['leans']) > 0 for run in runs]):.0%}")
            alike = [1 - abs(one - self.points(run)).mean() for one in other for run in runs]
            cells.append(f"{np.mean(alike):.0%}" if alike else "")
            for names, number, form in SHOWN:
                logged = [run for run in runs if run.get(names[0])]
                values = [np.mean([number(run[name]) for run in logged]) for name in names if logged]
                cells.append(", ".join(format(value, form) for value in values))
            yield cells

    def verdict(self) -> str:
        """Whether the comparisons count as learned, by the rule of docs/learning.md."""
        missing = [arm for arm in ("true", *BEATEN) if arm not in self.arms]
        if missing:
            return f"no verdict: {', '.join(missing)} not run"
        points = {arm: {r["seed"]: self.points(r).mean() for r in runs} for arm, runs in self.arms.items()}
        bars = {arm: max(by_seed.values()) for arm, by_seed in points.items()}
        won = [
            all(own > points[arm].get(seed, bars[arm]) for arm in BEATEN)
            for seed, own in points["true"].items()
        ]
        gap = self.interval(self.mean("true") - self.mean("true", "swapped"))
        falls = gap.low is not None and gap.low > 0
        facts = f"`true` is above {', '.join(BEATEN)} in {sum(won)} of {len(won)} seeds; "
        facts += f"on swapped texts it loses {text(gap)}"
        spare = SEEDS - round(SHARE * SEEDS)
        if len(won) >= SEEDS:
            return ("learned: " if falls and sum(won) >= SHARE * len(won) else "not learned: ") + facts
        hope = falls and len(won) - sum(won) <= spare
        return (f"undecided, {SEEDS - len(won)} seeds to go: " if hope else "not learned: ") + facts

    def answers(self, number: int = 3) -> Iterator[str]:
        """Short answers that the first `true` run moved most, to the right side and to the wrong one."""
        before, after = (self.toward(self.arms[arm][0]).mean(axis=1) for arm in ("warm", "true"))
        moved, prompts = after - before, self.told["prompts"]
        short = np.flatnonzero(np.array([len(one) for one in prompts]) <= np.median([*map(len, prompts)]))
        for name, sign in (("good", 1), ("bad", -1)):
            shown: dict[str, str] = {}  # one for each message
            for place in sorted(short, key=lambda place: -sign * moved[place]):
                sure = f"from {before[place]:+.2f} to {after[place]:+.2f} nats"
                said = f"{name}: the person {self.told['winners'][place]}, {sure}\n{prompts[place]}"
                shown.setdefault(prompts[place].split("\n\n")[0], said)
            yield from list(shown.values())[:number]

    def picture(self, file: Path) -> None:
        """Draw the rewards of the runs, each point the mean of ten steps, and the points of all arms."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        arms = [arm for arm in ("true", "shuffled", "random", "supervised") if arm in self.arms]
        for color, arm in enumerate(arms):
            for run in self.arms[arm]:
                if rewards := run.get("reward"):  # not of supervised runs
                    curve = np.convolve(rewards, np.ones(10) / 10, "valid")
                    left.plot(np.arange(10, 10 + len(curve)), curve, color=f"C{color}")
                right.plot(color, 100 * self.points(run).mean(), "o", color=f"C{color}")
        for line in ("warm", "surface"):
            if line in self.arms:
                right.axhline(height := self.mean(line).mean(), color="C7", linewidth=0.8)
                right.annotate(line, (-0.4, height), va="bottom", fontsize=8)
        left.set(xlabel="step", ylabel="reward, mean of ten steps")
        right.set(xticks=range(len(arms)), xticklabels=arms, ylabel="points", xlim=(-0.5, len(arms) - 0.5))
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(file)


def text(found: Interval) -> str:
    """A difference with its interval."""
    return f"{found.mean:+.1f} [{found.low:+.1f}, {found.high:+.1f}]"


def main() -> None:
    """Print the table, the verdict and some answers."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("folder", type=Path, help="the folder of train_pretrained.py")
    flags.add_argument("--picture", type=Path, help="a file for the curves")
    given = flags.parse_args()
    outcome = Outcome(given.folder)
    print(f"{len(outcome.sides)} comparisons, {outcome.boot.units} people; chance is 50, perfect 100\n")
    for cells in ([*HEADS], ["---"] * len(HEADS), *outcome.rows()):
        print("| " + " | ".join(cells) + " |")
    machines = {run["machine"] for runs in outcome.arms.values() for run in runs if "machine" in run}
    print(f"\nmachine: {'; '.join(sorted(machines))}\nverdict: {outcome.verdict()}\n")
    if given.picture:
        outcome.picture(given.picture)
    if {"true", "warm"} <= set(outcome.arms):
        print("\n\n".join(outcome.answers()))


if __name__ == "__main__":
    main()
