"""Print what the runs of train_pretrained.py learned: arms with intervals, the guard, the verdict, answers.

Run: python examples/learned.py proof --picture curves.svg
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
    "arm", "points by seed", "`true` less it", "swapped", "less swapped", "picks A", "read", "perplexity",
    "agrees: right, wrong", "tokens", "minutes",
)  # fmt: skip
SHOWN: Final = (
    (("readable",), ".0%"), (("perplexity",), ".1f"), (("agrees_right", "agrees_wrong"), ".0%"),
    (("tokens",), ",.0f"), (("minutes",), ".0f"),
)  # fmt: skip
Arms = dict[str, list[dict[str, Any]]]


class Outcome:
    """The runs of a folder, by arm."""

    def __init__(self, folder: Path) -> None:
        self.told = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        self.arms: Arms = {}
        for _, run in sorted(self.told["runs"].items()):
            self.arms.setdefault(run["arm"], []).append(run)
        people = self.told["people"]
        self.boot = Bootstrap(len(people), people)

    def mean(self, arm: str, column: str = "scores") -> Any:
        """The points of an arm in each comparison, out of 100, averaged over its seeds."""
        return 100 * np.mean([run[column] for run in self.arms[arm]], axis=0)

    def interval(self, values: Any) -> Interval:
        """The mean over comparisons with its interval over participants."""
        return self.boot.intervals(values[:, None])[0]

    def rows(self) -> Iterator[list[str]]:
        """The cells of the table, arm by arm."""
        for arm, runs in self.arms.items():
            cells = [arm, " ".join(f"{100 * np.mean(run['scores']):.1f}" for run in runs)]
            both = arm != "true" and "true" in self.arms
            cells.append(text(self.interval(self.mean("true") - self.mean(arm))) if both else "")
            cells.append(f"{self.mean(arm, 'swapped').mean():.1f}")
            cells.append(text(self.interval(self.mean(arm) - self.mean(arm, "swapped"))))
            leans = [lean for run in runs for lean in run.get("scores_lean", ())]
            cells.append(f"{np.mean([lean >= 0 for lean in leans]):.0%}" if leans else "")
            for names, form in SHOWN:
                known = names[0] in runs[0]
                values = [np.mean([run[name] for run in runs]) for name in names] if known else []
                cells.append(", ".join(format(value, form) for value in values))
            yield cells

    def verdict(self) -> str:
        """Whether the comparisons count as learned, by the rule of docs/learning.md."""
        missing = [arm for arm in ("true", *BEATEN) if arm not in self.arms]
        if missing:
            return f"no verdict: {', '.join(missing)} not run"
        points = {arm: {r["seed"]: np.mean(r["scores"]) for r in runs} for arm, runs in self.arms.items()}
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
        """The answers that the first `true` run moved most, to the right side and to the wrong one."""
        before, after = self.arms["warm"][0], self.arms["true"][0]
        right = [1 if (lean >= 0) == (score > 0) else -1 for lean, score in zip(
            after["scores_lean"], after["scores"], strict=True)]  # fmt: skip
        moved = [
            sign * (there - here)
            for sign, here, there in zip(right, before["scores_lean"], after["scores_lean"], strict=True)
        ]
        order = sorted(range(len(moved)), key=lambda place: -moved[place])
        for name, places in (("good", order[:number]), ("bad", order[: -number - 1 : -1])):
            for place in places:
                chose = ["AB"[run["scores_lean"][place] < 0] for run in (before, after)]
                truth = "A" if right[place] > 0 else "B"
                told = f"{name}: before {chose[0]}, after {chose[1]}, the person {truth}"
                yield f"{told}; moved {moved[place]:+.2f} nats\n{self.told['prompts'][place]}"

    def picture(self, file: Path) -> None:
        """Draw the rewards of the runs, each point the mean of ten steps."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 3.2), layout="constrained")
        axes = figure.subplots()
        for color, (arm, runs) in zip(("C0", "C1", "C7"), self._curves(), strict=False):
            for run in runs:
                curve = np.convolve(run["curve"], np.ones(10) / 10, "valid")
                axes.plot(
                    np.arange(10, 10 + len(curve)), curve, color=color, label=f"{arm}, seed {run['seed']}"
                )
        axes.set(xlabel="step", ylabel="reward, mean of ten steps")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
        figure.savefig(file)

    def _curves(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        for arm in ("true", "shuffled", "random"):
            if runs := [run for run in self.arms.get(arm, []) if run.get("curve")]:
                yield arm, runs


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
    print(
        f"{len(outcome.told['people'])} comparisons, {outcome.boot.units} people; chance is 50, perfect 100\n"
    )
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
