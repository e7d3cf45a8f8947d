"""A small language model learns to read simulated people with GRPO; a control should learn nothing.

    pip install torch, then in a clone pip install ".[trl]" (the extra attune-env[trl])
    python examples/train_trl_grpo.py --quick         # a short warm-up and two steps, to see that it runs
    python examples/train_trl_grpo.py [--steps 60] [--seed 0] [--no-control] [--dev] [--out FOLDER]
    python examples/train_trl_grpo.py --size large --device cuda    # 17 million parameters, on a GPU
    python examples/train_trl_grpo.py --reward skill  # or another preset
    python examples/train_trl_grpo.py --mixture       # with the written corpus, tested on its test split
    python examples/train_trl_grpo.py --model Qwen/Qwen2.5-0.5B-Instruct [--vllm] [--control]    # on a GPU

Nothing is downloaded without `--model`. A Qwen2 of 0.6 million parameters and its tokenizer are made here and
warmed up on the answers of a careless rater: right in form, most fields from habit. From there three runs
start: GRPO on what simulated people said; GRPO on the same prompts under the answers of random others (the
control); and further supervised steps on the careless answers, for about as long. All are tested on people of
another world, whom nothing was tuned on (`--dev` is for tuning).

One part is named in advance. It prints which parts moved, and whether by reading; `curves.svg`, `curves.csv`
and `answers.md` show it. docs/learning.md shows a run.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the matrices are small: more threads gain little
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

import argparse
import time
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from grpo_from_scratch import measure, people, picture
from grpo_from_scratch.measure import PARTS
from grpo_from_scratch.runs import (
    CONTROL,
    GRPO,
    MIXED,
    QUICK,
    SIZES,
    SUPERVISED,
    Results,
    Say,
    from_scratch,
    pretrained,
)

from attune_env.statistics import Interval
from attune_rewards import PRESETS, RewardSpec

NAMED: Final = "emotion_va"
"""The part that is to rise, named before the people of the test were looked at."""
SHOWN: Final = 3
"""Conversations whose answers are shown: the first ones."""


def ended(results: Results) -> measure.End:
    """The scores that the verdicts are about, row by row."""
    last = {name: results.tester.earned(run.said).parts for name, run in results.runs.items()}
    return measure.End(
        before=results.tester.earned(results.before.said).parts,
        after=last[GRPO],
        control=last.get(CONTROL),
        supervised=last.get(SUPERVISED),
        prior=results.nulls["prior"].parts,
        asked=results.nulls["asked"].parts,
        others=results.others.parts,
    )


def report(results: Results, say: Say = print, *, brief: bool = False) -> dict[str, str]:
    """Prints the tables and what they come to, unless no answer could be read; part -> verdict.

    With `brief` only the first table, and no verdicts: after a few steps they would mean nothing.
    """
    if not any(run.curve[-1][2] for run in (results.before, *results.runs.values())):
        say("too short for readable answers: all rewards are equal, so nothing was learned; it only runs")
        return dict.fromkeys(PARTS, "no answer could be read")
    end, over = ended(results), results.tester.people.intervals
    say(f"\nmean scores of {len(results.tester.people)} unseen people, answers decoded greedily\n")
    columns = {"prior": end.prior, "asked": end.asked, "warm-up": end.before, "GRPO": end.after}
    columns |= {"control": end.control} if end.control is not None else {}
    columns |= {"supervised": end.supervised} if end.supervised is not None else {}
    means = {name: over(values) for name, values in columns.items()}
    _table(say, [*columns, "ceiling"], {
        part: [_mean(one[part].mean) for one in means.values()] + [_mean(results.ceiling.get(part))]
        for part in PARTS
    })  # fmt: skip
    if brief:
        return {}

    say("\nwhat GRPO changed, paired, with 95% intervals over participants\n")
    gains = {"over warm-up": end.after - end.before, "over prior": end.after - end.prior}
    gains |= {"over asked": end.after - end.asked, "over swapped texts": end.after - end.others}
    gains |= {"over control": end.after - end.control} if end.control is not None else {}
    gains |= {"over supervised": end.after - end.supervised} if end.supervised is not None else {}
    _differences(say, gains, over)
    if end.control is not None and end.supervised is not None:
        say("\nwhat the control and the supervised run changed\n")
        beside = {"control, over warm-up": end.control - end.before, "over prior": end.control - end.prior}
        beside |= {"supervised, over warm-up": end.supervised - end.before}
        _differences(say, beside | {"over prior ": end.supervised - end.prior}, over)
    say("\nthe same with answers sampled at temperature 1\n")
    drawn = {name: over(found.parts) for name, found in results.drawn.items()}
    gain = over(results.drawn["after"].parts - results.drawn["before"].parts)
    _table(say, ["warm-up", "GRPO", "gain"], {
        part: [f"{drawn['before'][part].mean:.3f}", f"{drawn['after'][part].mean:.3f}", _span(gain[part])]
        for part in PARTS
    })  # fmt: skip

    say("\nhabits of the answers, beside the people's own\n")
    said = {"people": results.tester.replies("oracle"), "warm-up": results.before.said}
    said |= {name: run.said for name, run in results.runs.items()}
    kept = {name: measure.habits(results.tester.rows, texts) for name, texts in said.items()}
    _table(say, list(next(iter(kept.values()))), {
        name: [f"{value:.2f}" if value < 10 else f"{value:.0f}" for value in values.values()]
        for name, values in kept.items()
    }, "answers")  # fmt: skip

    found = measure.verdicts(results.tester.people, end)
    say("")
    for part, verdict in found.items():
        say(f"{part}{' (named in advance)' if part == NAMED else ''}: {verdict}")
    for sign in measure.signs_of_gaming(results.tester.people, end, kept[GRPO], kept["people"]):
        say(f"gamed? {sign}")
    seconds = ", ".join(f"{name} {run.seconds:.0f} s" for name, run in results.runs.items())
    say(f"training alone: {seconds}; reward functions {100 * results.reward_share:.2f}% of GRPO's steps")
    for name in ("frac_reward_zero_std", "entropy", "completions/clipped_ratio"):
        logged = [f"{entry[name]:.3f}" for entry in results.log if name in entry]
        say(f"{name}: {' '.join(logged)}")
    return found


def _table(say: Say, columns: list[str], rows: dict[str, list[str]], first: str = "part") -> None:
    say(f"| {first} | {' | '.join(columns)} |")
    say("|---" * (len(columns) + 1) + "|")
    for name, cells in rows.items():
        say(f"| {name} | {' | '.join(cells)} |")


def _differences(say: Say, gains: dict[str, Any], over: Any) -> None:
    found = {name: over(values) for name, values in gains.items()}
    _table(say, list(found), {part: [_span(one[part]) for one in found.values()] for part in PARTS})


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _span(gain: Interval) -> str:
    return f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"


def write(results: Results, folder: Path, title: str, reward: RewardSpec) -> None:
    """The picture, the curves as CSV, and the answers to the first conversations."""
    folder.mkdir(parents=True, exist_ok=True)
    curves = {name: run.curve for name, run in results.runs.items()}
    lines = {name: _means(results, found) for name, found in results.nulls.items()}
    if results.ceiling:
        lines["ceiling"] = {part: results.ceiling[part] for part in PARTS}
    notes = {part: " (not rewarded)" for part in PARTS if part not in reward.parts}
    notes[NAMED] = " (named in advance)"
    picture.draw(folder / "curves.svg", curves, lines, notes, title)
    picture.write_curves(folder / "curves.csv", curves)
    rows = results.tester.rows
    first = list(dict.fromkeys(row["conversation_id"] for row in rows))[:SHOWN]
    chosen = [i for i, row in enumerate(rows) if row["conversation_id"] in first]
    told = results.tester.replies("oracle")
    columns = [[texts[i] for i in chosen] for texts in (results.before.said, results.runs[GRPO].said, told)]
    page = picture.compare_answers([rows[i] for i in chosen], *columns)
    (folder / "answers.md").write_text(page, encoding="utf-8")


def _means(results: Results, found: measure.Earned) -> dict[str, float]:
    means = {part: one.mean for part, one in results.tester.people.intervals(found.parts).items()}
    return {part: mean for part, mean in means.items() if mean is not None}


def options() -> argparse.ArgumentParser:
    """The flags."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--model", help="a Hugging Face id instead of a model made here")
    flags.add_argument("--level", default="clear", help="of the simulated people, for --model")
    flags.add_argument("--vllm", action="store_true", help="draw answers with vLLM, for --model")
    flags.add_argument(
        "--size", choices=SIZES, default="small", help="of the model made here: 0.6 or 17 million"
    )
    flags.add_argument("--device", choices=("cpu", "cuda"), help="cpu; for --model, a GPU where there is one")
    flags.add_argument("--steps", type=int, help="of GRPO; each recipe has its own number")
    flags.add_argument("--seed", type=int, default=0)
    flags.add_argument(
        "--reward", choices=PRESETS, help="a preset, instead of this example's reward without emotion_f1"
    )
    flags.add_argument(
        "--mixture", action="store_true",
        help="train on the written corpus too, and test on its test split (not with --model)",
    )  # fmt: skip
    flags.add_argument(
        "--control",
        action=argparse.BooleanOptionalAction,
        help="the run with shuffled truths (not for --model)",
    )
    flags.add_argument("--quick", action="store_true", help="a short warm-up and two steps: it runs")
    flags.add_argument("--dev", action="store_true", help="test on the people that recipes are tuned on")
    flags.add_argument(
        "--out", type=Path, help="where the results go; by default, outputs/learning or outputs/quick"
    )
    return flags


def main() -> None:
    """Trains, tests, prints and writes."""
    flags = options()
    given = flags.parse_args()
    if missing := [name for name in ("torch", "trl") if find_spec(name) is None]:
        flags.error(f'found no {" and no ".join(missing)}: pip install torch, then pip install ".[trl]"')
    base = size = SIZES[given.size]
    if given.quick or given.mixture:
        base = replace(QUICK if given.quick else MIXED, width=size.width, layers=size.layers)
    if given.reward:
        base = replace(base, reward=RewardSpec.preset(given.reward))
    steps = base.steps if given.steps is None else given.steps
    if steps < 1 or given.seed < 0:
        flags.error("steps are at least 1, and the seed at least 0")
    if given.mixture and given.model:
        flags.error("--mixture is for the model made here: leave --model out")
    import torch

    gpu = torch.cuda.is_available()
    if given.device == "cuda" and not gpu:
        flags.error("--device cuda: PyTorch finds no GPU")
    device = given.device or ("cuda" if given.model and gpu else "cpu")
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")  # TRL's calls, not ours
    out = given.out or Path("outputs/quick" if given.quick else "outputs/learning")
    started, spent = time.time(), time.process_time()

    def say(text: str) -> None:
        print(f"[{(time.process_time() - spent) / 60:4.1f} min of CPU] {text}", flush=True)

    say(f"making {base.people} people and the rows of what they said")
    how: dict[str, Any] = {"dev": given.dev, "device": device, "say": say}
    if given.model:
        recipe = replace(base, steps=steps, people=1000, tested=100, rate=2e-6)
        worlds = people.Worlds(given.seed, given.level)
        how |= {"control": bool(given.control), "vllm": given.vllm}
        results = pretrained(given.model, recipe, worlds, **how)
    else:
        recipe = replace(base, steps=steps)
        how["control"] = given.control is not False
        worlds = people.Mixed(given.seed) if given.mixture else people.Worlds(given.seed)
        results = from_scratch(recipe, worlds, **how)
    report(results, brief=given.quick)
    if given.quick:
        print(f"\nit works: {steps} GRPO steps were taken, too few to show whether anything was learned")
    title = f"{given.model or 'A model from scratch'} on unseen people, seed {given.seed}"
    write(results, out, title, recipe.reward)
    wall, cpu = (time.time() - started) / 60, (time.process_time() - spent) / 60
    print(f"\n{wall:.1f} minutes, {cpu:.1f} min of CPU; {out}: curves.svg, curves.csv, answers.md")


if __name__ == "__main__":
    main()
