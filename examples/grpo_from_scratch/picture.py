"""Write the results of a run: its curves as a plot and as CSV, and answers before and after training."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attune_env import score_row
from attune_env.statistics import Interval
from grpo_from_scratch.measure import PARTS

Curve = Sequence[tuple[int, Mapping[str, Interval], float]]
"""(step, part -> interval, share that could be read)"""

LOOKS: Final = {
    "GRPO": ("#0072B2", "o", "-"),
    "GRPO, shuffled truths (control)": ("#D55E00", "s", "-"),
    "supervised, equal compute": ("#009E73", "^", "-"),
}
"""Run -> colour (from Okabe and Ito's colour-blind-safe palette), marker, line style."""


def draw(
    path: Path,
    curves: Mapping[str, Curve],
    lines: Mapping[str, Mapping[str, float]],
    notes: Mapping[str, str],
    title: str,
) -> None:
    """Plot each part over the steps, with 95% intervals.

    `lines` (prior, asked, ceiling: part -> mean) are drawn horizontally; `notes` follow the names of parts.
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "attune"  # so that the same run gives the same file
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(11, 6.4), sharex=True, layout="constrained")
    across = {"ceiling": ("black", ":"), "asked": ("#CC79A7", "-."), "prior": ("gray", "--")}
    for axis, part in zip(axes.flat, PARTS, strict=False):
        for name, values in lines.items():
            if part in values:
                colour, style = across[name]
                axis.axhline(values[part], color=colour, linestyle=style, linewidth=1, label=name)
        for number, (name, curve) in enumerate(curves.items()):
            colour, mark, style = LOOKS[name]
            shift = (number - 1) * 0.008 * curve[-1][0]  # so that intervals do not overlap
            known = [(step, found[part]) for step, found, _ in curve if found[part].mean is not None]
            means = [found.mean for _, found in known]
            axis.errorbar(
                [step + shift for step, _ in known],
                means,
                yerr=[
                    [(found.mean or 0) - (found.low or 0) for _, found in known],
                    [(found.high or 0) - (found.mean or 0) for _, found in known],
                ],
                color=colour, marker=mark, linestyle=style, markersize=4, elinewidth=1, capsize=2, label=name,
            )  # fmt: skip
        axis.set_title(part + notes.get(part, ""), fontsize=10)
        axis.set_ylabel("mean score, unseen people")
        axis.grid(alpha=0.3)
    last = axes.flat[len(PARTS)]
    for name, curve in curves.items():
        colour, mark, style = LOOKS[name]
        last.plot(
            [step for step, _, _ in curve], [read for *_, read in curve],
            color=colour, marker=mark, linestyle=style, markersize=4,
        )  # fmt: skip
    last.set_title("answers that could be read", fontsize=10)
    last.set_ylabel("share")
    last.set_ylim(0, 1.05)
    last.grid(alpha=0.3)
    for axis in axes[-1]:
        axis.set_xlabel("GRPO steps, or as much compute")
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), fontsize=8)
    figure.suptitle(title, fontsize=11)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def write_curves(path: Path, curves: Mapping[str, Curve]) -> None:
    """One line for each run, step and part: mean, interval, rows."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["run", "step", "part", "mean", "low", "high", "rows"])
        for name, curve in curves.items():
            for step, found, read in curve:
                for part, one in found.items():
                    if one.mean is not None:
                        bounds = [f"{value:.4f}" for value in (one.mean, one.low, one.high)]
                        table.writerow([name, step, part, *bounds, one.n])
                table.writerow([name, step, "parsed", f"{read:.4f}", "", "", ""])


def compare_answers(
    rows: Sequence[Mapping[str, Any]], before: Sequence[str], after: Sequence[str], truths: Sequence[str]
) -> str:
    """The prompts, the answers before and after training and the person's own, as Markdown."""
    pages = ["# Answers before and after", ""]
    for row, *said in zip(rows, before, after, truths, strict=True):
        pages += [f"## {row['id']}", "", "```text", row["prompt"][-1]["content"].strip(), "```", ""]
        pages += ["| | answer | parts |", "|---|---|---|"]
        for name, text in zip(("before", "after", "the person"), said, strict=True):
            parts = ", ".join(f"{part} {value:.2f}" for part, value in score_row(row, text).parts.items())
            pages.append(f"| {name} | {shortened(text)} | {parts} |")
        pages.append("")
    return "\n".join(pages)


def shortened(text: str) -> str:
    """Shorten an answer, if possible, to its feelings and the questions answered with yes."""
    try:
        said = json.loads(text)
        if "picks" in said:
            return "picks " + "".join(said["picks"].values())
        felt = ", ".join(f"{tag['emotion']} {tag['intensity']}" for tag in said["emotions"]) or "no feeling"
        yes = {
            side: " ".join(key for key, value in said.get(side, {}).items() if value == "yes") or "nothing"
            for side in ("observed", "preferred")
        }
        return f"{felt}; observed: {yes['observed']}; wanted: {yes['preferred']}"
    except (AttributeError, KeyError, TypeError, ValueError):
        return "`" + text.replace("|", "\\|").replace("`", "'").replace("\n", " ")[:300] + "`"
