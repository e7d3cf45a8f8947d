"""Print what the runs of train_pretrained.py learned: arms, intervals, habits, guard, verdict and answers.

Run: python examples/learned.py proof --picture curves.png
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from attune_rewards.bootstrap import Bootstrap, Interval

BEATEN: Final = ("shuffled", "random", "warm", "prior", "asked", "surface")
"""The arms that `true` has to beat; the first two are compared seed by seed."""
SEEDS: Final = 5
SHARE: Final = 0.8
"""Of the seeds in which it has to."""
MODELS: Final = ("true", "shuffled", "random", "supervised", "warm", "few-shot", "untrained")
"""The arms at the top of the tables, in this order."""
LIKE: Final = (
    "surface", "edit", "words", "reader", "not-the-recorded", "shorter-reply", "shorter-words",
    "warmer-reply",
)  # fmt: skip
"""The baselines that each model's choices are compared with."""
TOLD: Final[Mapping[str, tuple[str, Callable[[Any], Any], str]]] = {
    "right labels": ("right", np.mean, ".0%"),
    "read, first": ("attune/parse_rate", lambda steps: np.mean(steps[:10]), ".0%"),
    "last steps": ("attune/parse_rate", lambda steps: np.mean(steps[-10:]), ".0%"),
    "no spread": ("frac_reward_zero_std", np.mean, ".0%"),
    "KL": ("kl", lambda steps: np.mean(steps[-10:]), ".3f"),
    "perplexity": ("perplexity", np.mean, ".1f"),
    "yes, right": ("agrees_right", np.mean, "+.2f"),
    "yes, wrong": ("agrees_wrong", np.mean, "+.2f"),
    "tokens": ("num_tokens", np.max, ",.0f"),
    "seconds": ("train_runtime", np.sum, ",.0f"),
}
"""Column -> what a run or its trainer logged, the number of it, and its format."""


class Outcome:
    """The runs of a folder, by arm."""

    def __init__(self, folder: Path) -> None:
        self.arms: dict[str, list[dict[str, Any]]] = {}
        for file in sorted(folder.glob("*-*.json")):
            run = json.loads(file.read_text(encoding="utf-8"))
            self.arms.setdefault(run["arm"], []).append(run)
            self.told = run
        asked = {json.dumps([run["prompts"], run["winners"]]) for runs in self.arms.values() for run in runs}
        if len(asked) != 1:
            raise SystemExit(f"{folder}: found runs about {len(asked)} tests, expected runs about one")
        self.arms = {arm: self.arms[arm] for arm in (*MODELS, *self.arms) if arm in self.arms}
        people = self.told["people"]
        self.boot = Bootstrap(len(people), people)

    def toward(self, run: dict[str, Any], column: str = "leans") -> Any:
        """By how many nats each answer is to the person's choice: comparisons by the two orders."""
        winners = run["seen_winners" if column == "seen" else "winners"]
        sides = np.array([1.0 if winner == "A" else -1.0 for winner in winners])
        return np.array(run[column]) * np.stack([sides, -sides], axis=1)

    def points(self, run: dict[str, Any], column: str = "leans") -> Any:
        """1 where both orders together lean to the person's choice, 0.5 if they cancel, else 0."""
        return (np.sign(self.toward(run, column).sum(axis=1).round(6)) + 1) / 2

    def mean(self, arm: str, column: str = "leans") -> Any:
        """The points of an arm in each comparison, out of 100, averaged over its seeds."""
        return 100 * np.mean([self.points(run, column) for run in self.arms[arm]], axis=0)

    def interval(self, values: Any) -> Interval:
        """The mean over comparisons with its interval over participants."""
        return self.boot.intervals(values[:, None])[0]

    def outcomes(self) -> Iterator[list[str]]:
        """The points of each arm, seed by seed."""
        longer = self.points(self.arms["longer-reply"][0]) == 1
        yield [
            "arm",
            "points",
            "`true` less it",
            "longer won",
            "seen",
            "swapped",
            "less swapped",
            "says",
            "A",
        ]
        for arm, runs in self.arms.items():
            seen = [self.points(run, "seen") for run in runs if run.get("seen")]
            whole = self.interval(self.mean(arm))
            yield [
                arm,
                by_seed(100 * self.points(run).mean() for run in runs)
                + f" [{whole.low:.1f}, {whole.high:.1f}]",
                ", ".join(self.less(arm)) if arm != "true" else "",
                by_seed(100 * self.points(run)[longer].mean() for run in runs),
                by_seed(100 * one.mean() for one in seen),
                by_seed(100 * self.points(run, "swapped").mean() for run in runs),
                text(self.interval(self.mean(arm) - self.mean(arm, "swapped"))),
                by_seed(100 * (self.toward(run) > 0).mean() for run in runs),
                by_seed(100 * (np.array(run["leans"]) > 0).mean() for run in runs),
            ]

    def less(self, arm: str) -> Iterator[str]:
        """By how much `true` is above an arm, each seed above the same seed where there are several."""
        others = {run["seed"]: run for run in self.arms[arm]}
        for run in self.arms.get("true", []):
            other = others.get(run["seed"]) if len(others) > 1 else self.arms[arm][0]
            if other:
                yield text(self.interval(100 * (self.points(run) - self.points(other))))

    def alike(self) -> Iterator[list[str]]:
        """How often each model chooses as each baseline does."""
        like = [name for name in LIKE if name in self.arms]
        yield ["run", *like]
        for arm, runs in self.arms.items():
            for run in runs:
                if "perplexity" in run:
                    own = self.points(run)
                    shares = [1 - abs(own - self.points(self.arms[name][0])).mean() for name in like]
                    yield [f"{arm}, {run['seed']}", *(f"{share:.0%}" for share in shares)]

    def told_of(self) -> Iterator[list[str]]:
        """Training logs of the runs, and the guard."""
        yield ["run", *TOLD]
        for arm, runs in self.arms.items():
            for run in runs:
                if "perplexity" in run:
                    cells = [
                        format(number(run[name]), form) if run.get(name) is not None else ""
                        for name, number, form in TOLD.values()
                    ]
                    yield [f"{arm}, {run['seed']}", *cells]

    def verdict(self) -> str:
        """Whether the comparisons count as learned, by the rule of docs/learning.md."""
        missing = [arm for arm in ("true", *BEATEN) if arm not in self.arms]
        if missing:
            return f"no verdict: {', '.join(missing)} not run"
        points = {arm: {r["seed"]: self.points(r).mean() for r in runs} for arm, runs in self.arms.items()}
        paired = [seed for seed in points["true"] if all(seed in points[arm] for arm in BEATEN[:2])]
        if not paired:
            return "no verdict: no seed has true, shuffled and random"
        lost = {
            seed: [
                arm
                for arm in BEATEN
                if points["true"][seed] <= points[arm].get(seed, max(points[arm].values()))
            ]
            for seed in paired
        }
        won = [seed for seed in paired if not lost[seed]]
        gap = self.interval(self.mean("true") - self.mean("true", "swapped"))
        falls = gap.low is not None and gap.low > 0
        bars = sorted({arm for arms in lost.values() for arm in arms}, key=BEATEN.index)
        facts = f"`true` is above {', '.join(BEATEN)} in {len(won)} of {len(paired)} seeds"
        facts += f" (not above {', '.join(bars)})" * bool(bars) + f"; on swapped texts it loses {text(gap)}"
        if len(paired) >= SEEDS:
            return ("learned: " if falls and len(won) >= SHARE * len(paired) else "not learned: ") + facts
        hope = len(paired) - len(won) <= SEEDS - round(SHARE * SEEDS)
        return (f"undecided, {SEEDS - len(paired)} seeds to go: " if hope else "not learned: ") + facts

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


def by_seed(values: Iterable[float]) -> str:
    """Numbers, seed by seed."""
    return " ".join(f"{value:.1f}" for value in values)


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
        f"{len(outcome.told['winners'])} comparisons, {outcome.boot.units} people; chance is 50, perfect 100"
    )
    for table in (outcome.outcomes(), outcome.alike(), outcome.told_of()):
        head, *rows = table
        lines = (head, ["---"] * len(head), *rows) if rows else ()
        print("", *("| " + " | ".join(cells) + " |" for cells in lines), sep="\n")
    machines = {run["machine"] for runs in outcome.arms.values() for run in runs if "machine" in run}
    print(f"\nmachine: {'; '.join(sorted(machines))}\nverdict: {outcome.verdict()}\n")
    if given.picture:
        outcome.picture(given.picture)
    if {"true", "warm"} <= set(outcome.arms):
        print("\n\n".join(outcome.answers()))


if __name__ == "__main__":
    main()
