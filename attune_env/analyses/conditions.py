"""How it was asked and what it took: modes, cost, training steps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from attune_data.means import finite
from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.answers import SPENT, answers_of
from attune_env.analyses.comparisons import INPUTS
from attune_env.analyses.leaderboard import PILLARS, scaled
from attune_env.analyses.study import PRIMARY, Study, label_of, over_models
from attune_env.figures.plots import dots, lines
from attune_env.report.groups import LEADERBOARD, METRICS
from attune_env.report.names import mode_text, role_of
from attune_env.report.table import Column, Table
from attune_env.statistics.score_table import Key


def _modes(study: Study) -> list[Table]:
    table = study.table
    present = sorted({mode for _, mode in table.keys})
    base = PRIMARY if PRIMARY in present else study.mode
    metrics = [study.leading, *INPUTS, METRICS["avg_draft_judge_score"]]
    found = Table(
        f"Modes minus {mode_text(base)}, points of 100, paired by conversation",
        ("mode", "metric", "model", Column("difference", places=1, scale=100), "n"),
        keys=3, name="mode_differences",
    )  # fmt: skip
    for mode in present:
        both = sorted(
            {m for m, one in table.keys if one == base} & {m for m, one in table.keys if one == mode}
        )
        models = [m for m in both if role_of(m) == "model"] or both
        if mode == base or not models:
            continue
        for metric in metrics:
            before, after = (table.metric(metric.name, [(m, one) for m in models]) for one in (base, mode))
            differences = after - before
            if np.isnan(differences).all():
                continue
            columns = np.concatenate([differences, over_models(differences)[:, None]], axis=1)
            shares = 0.01 if metric == study.leading else 1.0
            intervals = [scaled(one, shares) for one in table.kernel.intervals(columns)]
            found.rows += [
                (mode_text(mode), label_of(metric), model, one, one.n)
                for model, one in zip((*models, "all models"), intervals, strict=True)
            ]
    if not found.rows:
        raise Absent(f"no model was scored in {base} and another mode on the same conversations")
    return [found]


def _cost(study: Study) -> list[Table]:
    if study.results is None:
        raise Absent("costs stand in the result files; give them with --results")
    spent = answers_of(study, "spent", "no result file was found")
    names = [name for name in SPENT if spent[name].notna().any()]
    if not names:
        raise Absent("no calls and no costs are recorded")
    metric = study.leading
    table = Table(
        study.titled("Cost and calls, means per conversation"),
        ("model", Column(label_of(metric), metric.name, places=1),
         *(Column(name.replace("_", " "), name, places=4 if name == "cost" else 1) for name in names),
         *((Column("cost in all", places=2),) if "cost" in names else ()), "n"),
        notes=["cost in US dollars; n = conversations whose result file says what it took."], name="cost",
    )  # fmt: skip
    scores = study.table.intervals(metric.name, study.models)
    for key, score in zip(study.models, scores, strict=True):
        here = spent[spent["key"] == study.keys.index(key)]
        values = np.full((len(study.table.ids), len(names)), np.nan)
        values[here["row"]] = here[names]
        found = study.table.kernel.intervals(values)
        total = (
            (float(here["cost"].sum()) if here["cost"].notna().any() else None,) if "cost" in names else ()
        )
        table.rows.append((key[0], score, *found, *total, max(one.n for one in found)))
    return [table]


def _learning(study: Study) -> list[Table]:
    runs: dict[str, dict[float, Key]] = {}
    for entry in sorted(study.entries, key=lambda e: str(e["em_model"])):
        marks = entry.get("attune")
        training = marks.get("training") if isinstance(marks, Mapping) else None
        if not isinstance(training, Mapping) or entry["mode"] != study.mode:
            continue
        if (step := finite(training.get("step"))) is not None:
            steps = runs.setdefault(str(training.get("run") or "run"), {})
            steps.setdefault(step, (entry["em_model"], entry["mode"]))
    if not runs:
        raise Absent("no result names a training run and step (`attune.training`)")
    leading, *pillars = LEADERBOARD[study.variant]
    table = Table(
        study.titled("Training steps, points of 100"),
        ("run", Column("step", places=0), "model", Column(label_of(study.leading), leading, places=1),
         *(Column(head, name, places=1, scale=100) for head, name in zip(PILLARS, pillars, strict=True)),
         Column("gain since the first step", "gain", places=1), "n"),
        keys=3, name="learning_curves",
    )  # fmt: skip
    means = study.means((leading, *pillars), study.keys)
    for run, steps in sorted(runs.items()):
        first = study.table.metric(leading, [steps[min(steps)]])
        for step in sorted(steps):
            key = steps[step]
            (gain,) = study.table.kernel.intervals(study.table.metric(leading, [key]) - first)
            found = means[key]
            table.rows.append(
                (run, step, key[0], *found.values(), gain if step > min(steps) else None, found[leading].n)
            )
    return [table]


MODES = Analysis(
    "modes",
    "Modes",
    "What do reasoning aloud or knowing the profile change?",
    "Mode minus the base mode within each conversation that was scored in both. Only the mode default is "
    "primary.",
    _modes,
    {"modes": partial(dots, table="mode_differences", columns=["difference"], split="metric", label="model",
                      line=0.0, unit="points of 100, with 95 % interval")},
    signal="difference",
)  # fmt: skip
COST = Analysis(
    "cost",
    "Cost against score",
    "What does a score cost?",
    "Means over conversations of what result files say: recorded cost, calls (without judges) and tokens "
    "as the server counted them. A model without a recorded cost may be local, or its prices were unknown.",
    _cost,
    {
        "cost": partial(
            dots,
            table="cost",
            columns=["composite_score", "composite_strict", "cost", "tokens_out", "calls"],
            unit="points of 100; US dollars, tokens and calls per conversation",
        )
    },
)
LEARNING = Analysis(
    "learning-curves",
    "Learning curves",
    "Do scores rise with training?",
    "Each checkpoint is scored like any model, on the same conversations; the gain is paired by "
    "conversation.",
    _learning,
    {"learning-curves": partial(lines, table="learning_curves", x="step", series="run",
                                columns=["composite_score"], unit="training step; points of 100")},
)  # fmt: skip
