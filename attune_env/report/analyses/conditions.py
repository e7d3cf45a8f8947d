"""How models were asked and at what cost: modes, cost, training steps."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import numpy as np

from attune_data.selection.means import finite
from attune_env.report.analyses.analysis import Analysis
from attune_env.report.analyses.answer_tables import SPENT, answer_table
from attune_env.report.analyses.leaderboard import PILLARS, scaled
from attune_env.report.analyses.study import PRIMARY, Absent, Study, label_of, over_models
from attune_env.report.figures.dots import Dots
from attune_env.report.figures.lines import Lines
from attune_env.statistics.score_table import Key
from attune_env.tables.cells import Cell, Column, points
from attune_env.tables.groups import INPUTS, LEADERBOARD, METRICS
from attune_env.tables.labels import mode_text, role_of
from attune_env.tables.table import Table
from attune_rewards.record.marks import mapping, marks_of


def _modes(study: Study) -> list[Table]:
    table = study.table
    scored: dict[str, set[str]] = defaultdict(set)
    for model, mode in table.keys:
        scored[mode].add(model)
    base = PRIMARY if PRIMARY in scored else study.mode
    rows: list[tuple[Cell, ...]] = []
    for mode in sorted(scored.keys() - {base}):
        both = sorted(scored[base] & scored[mode])
        models = [m for m in both if role_of(m) == "model"] or both
        for metric in (study.leading, *INPUTS, METRICS["avg_draft_judge_score"]):
            before, after = (table.metric(metric.column, [(m, one) for m in models]) for one in (base, mode))
            differences = after - before
            if np.isnan(differences).all():
                continue
            every = np.column_stack([differences, over_models(differences)])
            share = 0.01 if metric == study.leading else 1.0
            for model, found in zip((*models, "all models"), table.kernel.intervals(every), strict=True):
                rows.append((mode_text(mode), label_of(metric), model, scaled(found, share), found.n))
    if not rows:
        raise Absent(f"no model was scored in {base} and another mode on the same conversations")
    title = f"Modes minus {mode_text(base)}, points of 100, paired by conversation"
    columns = ("mode", "metric", "model", points("difference"), "n")
    return [Table(title, columns, rows, keys=3, name="mode_differences")]


def _cost(study: Study) -> list[Table]:
    if study.results is None:
        raise Absent("costs are in the result files; name their folder with --results")
    spent = answer_table(study, "spent", "no result file was found")
    names = [name for name in SPENT if spent[name].notna().any()]
    if not names:
        raise Absent("neither calls nor costs are recorded")
    metric = study.leading
    priced = [Column("total cost", "cost_in_all", places=2)] if "cost" in names else []
    rows: list[tuple[Cell, ...]] = []
    for key, score in zip(study.models, study.table.intervals(metric.column, study.models), strict=True):
        here = spent[spent["key"] == study.keys.index(key)]
        values = np.full((len(study.table.ids), len(names)), np.nan)
        values[here["row"]] = here[names]
        found = study.table.kernel.intervals(values)
        total = float(here["cost"].sum()) or None
        rows.append((key[0], score, *found, *(total for _ in priced), max(one.n for one in found)))
    table = study.sheet(
        "cost",
        "Cost and calls, means per conversation",
        (
            "model",
            Column(label_of(metric), metric.column, places=1),
            *(Column(name.replace("_", " "), name, places=4 if name == "cost" else 1) for name in names),
            *priced,
            "n",
        ),
        rows,
        notes=["cost is in US dollars; n = conversations whose result file records calls, tokens or cost."],
    )
    return [table]


def _learning(study: Study) -> list[Table]:
    runs: dict[str, dict[float, Key]] = {}
    for entry in sorted(study.entries, key=lambda e: str(e["em_model"])):
        training = mapping(marks_of(entry).get("training"))
        step = finite(training.get("step"))
        if step is not None and entry["mode"] == study.mode:
            steps = runs.setdefault(str(training.get("run") or "run"), {})
            steps.setdefault(step, (entry["em_model"], entry["mode"]))
    if not runs:
        raise Absent("no result records its training run and step (`attune.training`)")
    leading, *pillars = LEADERBOARD[study.variant]
    means = study.means((leading, *pillars), study.keys)
    rows: list[tuple[Cell, ...]] = []
    for run, steps in sorted(runs.items()):
        first = study.table.metric(leading, [steps[min(steps)]])
        for step, key in sorted(steps.items()):
            (gain,) = study.table.kernel.intervals(study.table.metric(leading, [key]) - first)
            since = gain if step > min(steps) else None
            rows.append((run, step, key[0], *means[key].values(), since, means[key][leading].n))
    table = study.sheet(
        "learning_curves",
        "Training steps, points of 100",
        (
            "run",
            Column("training step", "step", places=0),
            "model",
            Column(label_of(study.leading), leading, places=1),
            *map(points, PILLARS, pillars),
            Column("gain since the first checkpoint", "gain", places=1),
            "n",
        ),
        rows,
        keys=3,
    )
    return [table]


MODES = Analysis(
    "modes",
    "Modes",
    "What changes if a model reasons aloud or knows the profile?",
    "Score in each mode minus the score in the base mode, within each conversation scored in both. Only "
    "default is the primary mode.",
    _modes,
    {"modes": Dots("mode_differences", ["difference"], split="metric", label="model", line=0.0,
                   unit="points of 100, with 95% interval")},
    signal="difference",
    chapter="Modes, cost and training",
    place=1,
)  # fmt: skip
COST = Analysis(
    "cost",
    "Cost against score",
    "How many calls and tokens does a score take, and at what price?",
    "Means over conversations of the recorded cost, the calls (without judges) and the tokens as counted by "
    "the server, all from the result files. A model without a recorded cost may be local, or its prices may "
    "be unknown.",
    _cost,
    {"cost": Dots("cost", ["composite_score", "composite_strict", "cost", "tokens_out", "calls"],
                  unit="points of 100; US dollars, tokens and calls per conversation")},
    chapter="Modes, cost and training",
    place=2,
    inputs="result files",
)  # fmt: skip
LEARNING = Analysis(
    "learning-curves",
    "Learning curves",
    "Do scores rise with training?",
    "Each checkpoint is scored like any model, on the same conversations; the gain is paired by "
    "conversation.",
    _learning,
    {"learning-curves": Lines("learning_curves", ["composite_score", "composite_strict"], x="step",
                              series="run", unit="training step; points of 100")},
    chapter="Modes, cost and training",
    place=3,
)  # fmt: skip
ANALYSES: Final = (MODES, COST, LEARNING)
