"""Emotions and ratings item by item: tags that are confused, PANAS change, the four branches."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from attune_data.affect import EMOTIONS, ITEMS, POLARITY
from attune_data.constants import BRANCHES
from attune_env.analyses.agreement import missing
from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.answers import INVENTED, MISSED, OTHER, answers_of, of_models, rates
from attune_env.analyses.study import Study
from attune_env.figures.heat import heat
from attune_env.figures.plots import dots
from attune_env.report.names import references
from attune_env.report.table import Cell, Column, Table
from attune_rewards.branches import MIDPOINT

POINT = {item.name: (item.valence, item.arousal) for item in ITEMS}
"""Item -> its valence and arousal, 0 to 1."""
PLANE = ("valence error", "arousal error", "distance")


def _tags(study: Study) -> pd.DataFrame:
    """The pairs of tags with the offset of the predicted from the felt one."""
    tags = answers_of(study, "tags", "no annotated turn was answered with tags")
    matched = (tags["felt"] != INVENTED) & ~tags["read"].isin([MISSED, OTHER])
    if not of_models(study, tags[matched]).size:
        raise Absent("no felt item was matched with a predicted one")
    felt, read = (
        np.array([POINT.get(name, (np.nan, np.nan)) for name in tags[side]]) for side in ("felt", "read")
    )
    offset = np.where(matched.to_numpy()[:, None], read - felt, 0.0)
    return tags.assign(
        matched=matched.astype(int), valence=offset[:, 0], arousal=offset[:, 1],
        distance=np.hypot(*offset.T), same=(tags["felt"] == tags["read"]) & matched,
        is_felt=tags["felt"] != INVENTED, missed=tags["read"] == MISSED,
    )  # fmt: skip


_MEASURES = {
    "valence": ("valence", "matched"), "arousal": ("arousal", "matched"),
    "distance": ("distance", "matched"), "same": ("same", "matched"), "missed": ("missed", "is_felt"),
}  # fmt: skip


def _feelings(study: Study) -> list[Table]:
    tags = _tags(study)
    turns = study.answers.tagged_turns.groupby("key")["answered"].agg(["sum", "mean"])
    by_model = Table(
        study.titled("Errors of feelings by model"),
        ("model", *(Column(head) for head in PLANE), "pairs", Column("same item", share=True),
         Column("missed", share=True), Column("invented per turn", places=2), "other names",
         Column("turns unanswered", share=True)),
        dim=references(study.keys), foldable=("other names", "turns unanswered"), name="feelings_by_model",
        notes=missing(study),
    )  # fmt: skip
    models = rates(study, tags, _MEASURES, ["key"])
    for place, key in enumerate(study.keys):
        if (one := models.get((place,))) is None:
            continue
        here = tags[tags["key"] == place]
        answered = float(turns.loc[place, "sum"])
        invented = float((here["felt"] == INVENTED).sum())
        by_model.rows.append((
            key[0], one["valence"], one["arousal"], one["distance"], one["valence"].n, one["same"].mean,
            one["missed"].mean, invented / answered if answered else None,
            int((here["read"] == OTHER).sum()), 1 - float(turns.loc[place, "mean"]),
        ))  # fmt: skip
    by_model.dim = {i for i, row in enumerate(by_model.rows) if (row[0], study.mode) not in study.models}
    everyone = of_models(study, tags)
    items = rates(study, everyone, _MEASURES, ["felt"])
    by_item = Table(
        study.titled("Errors by felt item, all models together"),
        ("felt", "valence", "arousal", *(Column(head) for head in PLANE[:2]), "pairs",
         Column("same item", share=True), Column("missed", share=True),
         Column("most often read as", "read_as", prose=True), Column("in", "read_as_share", share=True)),
        name="feelings_by_item",
    )  # fmt: skip
    counts = pd.crosstab(everyone["felt"], everyone["read"])
    for name in EMOTIONS:
        if (one := items.get((name,))) is None:
            continue
        found = counts.loc[name].drop(MISSED, errors="ignore")
        others = found.drop(name, errors="ignore").reindex([*EMOTIONS, OTHER], fill_value=0)
        top = others.idxmax() if others.max() else ""
        by_item.rows.append((
            name, *POINT[name], one["valence"], one["arousal"], one["valence"].n, one["same"].mean,
            one["missed"].mean, str(top) or "–", float(others[top] / found.sum()) if top else None,
        ))  # fmt: skip
    return [by_model, by_item, _confusion(study, tags, everyone)]


def _confusion(study: Study, tags: pd.DataFrame, everyone: pd.DataFrame) -> Table:
    """Counts in long form: pooled over models, and those of each model."""
    table = Table(
        study.titled("Which item is read as which: counts"),
        ("model", "felt", Column("read as", "read_as"), "count",
         Column("of the felt item", "share_of_felt", share=True)),
        keys=3, name="feelings_confusion",
    )  # fmt: skip
    blocks = [("all models", everyone)]
    blocks += [(key[0], tags[tags["key"] == place]) for place, key in enumerate(study.keys)]
    order = sorted(EMOTIONS, key=lambda name: (POINT[name][0], name))
    for model, some in blocks:
        counts = some.groupby(["felt", "read"]).size()
        for felt in (*order, INVENTED):
            for read in (*order, OTHER, MISSED):
                if (number := int(counts.get((felt, read), 0))) > 0:
                    part = number / int(counts[felt].sum()) if felt != INVENTED else None
                    table.rows.append((model, felt, read, number, part))
    return table


CHANGE = ("predicted change", "real change", "absolute error", "error of no change", "gain over no change")


def _panas(study: Study) -> list[Table]:
    found = answers_of(study, "affect", "no PANAS item is known before, after and predicted")
    said = found["said"].notna()
    values = {
        "predicted": found["said"] - found["before"],
        "real": found["after"] - found["before"],
        "error": (found["said"] - found["after"]).abs(),
        "naive": (found["after"] - found["before"]).abs(),
    }
    values["gain"] = values["naive"] - values["error"]
    found = found.assign(n=said, asked=1, **{name: one.where(said, 0.0) for name, one in values.items()})
    if not of_models(study, found)["n"].any():
        raise Absent("no PANAS item is known before, after and predicted")
    measures = {**{name: (name, "n") for name in values}, "answered": ("n", "asked")}
    columns: tuple[Column | str, ...] = (
        *(Column(head, "gain" if head == CHANGE[4] else "", places=2) for head in CHANGE),
        "n",
    )
    by_item = Table(
        study.titled("PANAS items, all models together, points of 1 to 7"), ("item", "side", *columns),
        keys=2, name="panas_items",
    )  # fmt: skip
    items = rates(study, of_models(study, found), measures, ["item"])
    for name in EMOTIONS:
        one = items.get((name,))
        if one and one["gain"].mean is not None:
            by_item.rows.append((name, POLARITY[name], *(one[m] for m in values), one["gain"].n))
    by_model = Table(
        study.titled("PANAS items by model, points of 1 to 7"),
        ("model", *columns, Column("answered here", share=True)),
        foldable=("answered here",), name="panas_items_by_model", notes=missing(study),
    )  # fmt: skip
    models = rates(study, found, measures, ["key"])
    _by_key(
        study, by_model, models, lambda one: (*(one[m] for m in values), one["gain"].n, one["answered"].mean)
    )
    return [by_model, by_item]


def _by_key(study: Study, table: Table, found: Any, cells: Any) -> None:
    """A row per model of a table, in the study's order; references are faint."""
    faint = references(study.keys)
    for place, key in enumerate(study.keys):
        if (one := found.get((place,))) is not None:
            if place in faint:
                table.dim.add(len(table.rows))
            table.rows.append((key[0], *cells(one)))


def _branches(study: Study) -> list[Table]:
    found = answers_of(study, "branches", "no branch score is both rated and predicted")
    said = found["said"].notna()
    error = (found["said"] - found["truth"]).where(said, 0.0)
    found = found.assign(n=said, asked=1, signed=error, absolute=error.abs())
    if not of_models(study, found)["n"].any():
        raise Absent("no branch score is both rated and predicted")
    once = found[found["key"] == found["key"].mode()[0]].groupby("branch")["truth"]
    median = once.agg(lambda rated: (rated - rated.median()).abs().mean())
    middle = once.agg(lambda rated: (rated - MIDPOINT).abs().mean())
    measures = {"signed": ("signed", "n"), "absolute": ("absolute", "n"), "answered": ("n", "asked")}
    table = Table(
        study.titled("Errors of branch scores, points of 1 to 7"),
        (
            "model",
            "branch",
            Column("signed error", places=2),
            Column("absolute error", places=2),
            Column("always the median", "median_mae", places=2),
            Column("always 4", "midpoint_mae", places=2),
            "n",
            Column("answered here", share=True),
        ),
        keys=2,
        foldable=("answered here",),
        name="four_branches",
        notes=missing(study),
    )
    everyone = rates(study, of_models(study, found), measures, ["branch"])
    singly = rates(study, found, measures, ["key", "branch"])
    faint = references(study.keys)

    def row(model: str, branch: str, one: Any, answered: float | None) -> tuple[Cell, ...]:
        constants = (float(median[branch]), float(middle[branch]))
        return model, branch, one["signed"], one["absolute"], *constants, one["signed"].n, answered

    if len(study.models) > 1:
        table.rows += [row("all models", one, everyone[one,], None) for one in BRANCHES if (one,) in everyone]
    for place, key in enumerate(study.keys):
        for branch in BRANCHES:
            one = singly.get((place, branch))
            if one and one["signed"].mean is not None:
                if place in faint:
                    table.dim.add(len(table.rows))
                table.rows.append(row(key[0], branch, one, one["answered"].mean))
    return [table]


FEELINGS = Analysis(
    "feelings",
    "Which feeling is read as which",
    "How far off are predicted feelings, and in which direction?",
    "Felt and predicted items are paired by the matching of the emotion VA metric, turn by turn; an error "
    "is predicted minus felt on the unit scales of valence and arousal. Felt items without a partner are "
    "missed, predicted ones without a partner invented, names outside the 20 items other; turns without a "
    "valid answer are left out.",
    _feelings,
    {
        "feelings-error": partial(
            dots,
            table="feelings_by_model",
            columns=["valence_error", "arousal_error"],
            line=0.0,
            unit="predicted minus felt, 0 to 1 (right: pleasanter, more aroused)",
        ),
        "feelings-confusion": partial(
            heat,
            table="feelings_confusion",
            rows="felt",
            columns="read_as",
            value="share_of_felt",
            where=("model", "all models"),
            range_=(0.0, 100.0),
            unit="felt (row) and predicted (column) items, % of the row, all models",
        ),
    },
)
PANAS = Analysis(
    "panas-items",
    "PANAS by item",
    "Do models predict how each feeling changes, or is assuming no change as good?",
    "Over items known before, after and predicted: change is after minus before; gain is the error of "
    "assuming no change minus the model's, above 0 where the model predicts more accurately.",
    _panas,
    {
        "panas-items-by-model": partial(dots, table="panas_items_by_model", columns=["gain"], line=0.0,
                                        unit="gain over assuming no change, points of 1 to 7"),
        "panas-items": partial(dots, table="panas_items", columns=["real_change", "predicted_change", "gain"],
                               line=0.0, unit="points of 1 to 7, all models"),
    },
    signal="gain",
)  # fmt: skip
FOUR_BRANCHES = Analysis(
    "four-branches",
    "Four-branch error by branch",
    "Do models over- or underrate how well a reply did?",
    "Predicted minus rated score of each branch (1 to 7), over conversations with both; missing "
    "predictions are left out here (the canonical metric counts them as 4). Always the median, always 4: "
    "the mean absolute error of such a constant answer.",
    _branches,
    {
        "four-branches": partial(
            dots,
            table="four_branches",
            columns=["signed_error"],
            split="branch",
            line=0.0,
            unit="predicted minus rated, points of 1 to 7",
        ),
        "four-branches-absolute": partial(
            dots,
            table="four_branches",
            columns=["absolute_error"],
            split="branch",
            mark="median_mae",
            unit="absolute error, points of 1 to 7",
        ),
    },
)
