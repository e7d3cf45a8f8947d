"""Emotions and ratings item by item: confused tags, PANAS change, the four branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from attune_data.extras import needs_extra
from attune_data.format.affect import EMOTIONS, ITEMS, POLARITY
from attune_env.report.analyses.analysis import Analysis
from attune_env.report.analyses.answer_tables import (
    INVENTED,
    MISSED,
    OTHER,
    answer_table,
    answer_tables,
    of_models,
    of_one,
    rates,
)
from attune_env.report.analyses.study import Absent, Study
from attune_env.report.figures.dots import Dots
from attune_env.report.figures.heat import Heat
from attune_env.tables.cells import DASH, Cell, Column, share
from attune_env.tables.table import Table
from attune_rewards.metrics.branches import MIDPOINT

if TYPE_CHECKING:
    import pandas as pd

POINT: Final = {item.name: (item.valence, item.arousal) for item in ITEMS}
"""Item -> its valence and arousal, 0 to 1."""


def _feelings(study: Study) -> list[Table]:
    with needs_extra("report", "pandas"):
        import pandas as pd
    tags = answer_table(study, "tags", "no annotated turn was answered with tags")
    felt, read = tags["felt"].astype(str), tags["read"]
    matched = (felt != INVENTED) & ~read.isin([MISSED, OTHER])
    if of_models(study, tags[matched]).empty:
        raise Absent("no felt item was matched with a predicted one")
    points = [np.array([POINT.get(name, (np.nan, np.nan)) for name in side]) for side in (felt, read)]
    offset = np.where(matched.to_numpy()[:, None], points[1] - points[0], 0.0)
    tags = tags.assign(
        matched=matched, valence=offset[:, 0], arousal=offset[:, 1], distance=np.hypot(*offset.T),
        same=(felt == read) & matched, is_felt=felt != INVENTED, missed=read == MISSED,
    )  # fmt: skip
    measures = {name: (name, "matched") for name in ("valence", "arousal", "distance", "same")}
    measures["missed"] = "missed", "is_felt"
    turns = answer_tables(study).tagged_turns.groupby("key")["answered"].agg(["sum", "mean"])
    rows: list[tuple[Cell, ...]] = []
    for (key,), one in rates(study, tags, measures, ["key"]).items():
        here, (answered, part) = tags[tags["key"] == key], turns.loc[key]
        rows.append((
            study.keys[key][0], one["valence"], one["arousal"], one["distance"], one["valence"].n,
            one["same"].mean, one["missed"].mean, (here["felt"] == INVENTED).sum() / answered,
            int((here["read"] == OTHER).sum()), 1 - part,
        ))  # fmt: skip
    by_model = study.sheet(
        "feelings_by_model",
        "Errors in predicted feelings by model",
        ("model", "valence error", "arousal error", "distance", "pairs", share("same item"), share("missed"),
         Column("invented per turn", places=2), "other names", share("turns unanswered")),
        rows,
        foldable=("other names", "turns unanswered"),
        notes=answer_tables(study).notes,
    )  # fmt: skip
    everyone = of_models(study, tags)
    counts = pd.crosstab(everyone["felt"], everyone["read"]).reindex(columns=[*EMOTIONS, OTHER], fill_value=0)
    rows = []
    for (name,), one in rates(study, everyone, measures, ["felt"]).items():
        if name in POINT:
            found = counts.loc[name]
            others = found.drop(name)
            top = others.idxmax() if others.any() else None
            as_other = (top, others[top] / found.sum()) if top else (DASH, None)
            means = one["valence"], one["arousal"], one["valence"].n, one["same"].mean, one["missed"].mean
            rows.append((name, *POINT[name], *means, *as_other))
    by_item = study.sheet(
        "feelings_by_item",
        "Errors by felt item, all models together",
        ("felt", "valence", "arousal", "valence error", "arousal error", "pairs", share("same item"),
         share("missed"), Column("most often read as", "read_as"), share("how often", "read_as_share")),
        rows,
    )  # fmt: skip
    return [by_model, by_item, _confusion(study, tags, everyone)]


def _confusion(study: Study, tags: pd.DataFrame, everyone: pd.DataFrame) -> Table:
    """Counts in long form, for all models together and for each; items are ordered by valence."""
    order = [*sorted(EMOTIONS, key=lambda name: (POINT[name][0], name)), INVENTED, OTHER, MISSED]
    rows: list[tuple[Cell, ...]] = []
    blocks = [("all models", everyone)]
    blocks += [(key[0], tags[tags["key"] == place]) for place, key in enumerate(study.keys)]
    for model, some in blocks:
        counts = some.groupby(["felt", "read"], observed=True).size()
        sums = counts.groupby("felt", observed=True).sum()
        for felt, read in sorted(counts.index, key=lambda pair: [order.index(name) for name in pair]):
            number = int(counts[felt, read])
            rows.append((model, felt, read, number, None if felt == INVENTED else number / int(sums[felt])))
    columns = ("model", "felt", "read as", "count", share("of the felt item", "share_of_felt"))
    return study.sheet("feelings_confusion", "How each felt item is read: counts", columns, rows, keys=3)


def _panas(study: Study) -> list[Table]:
    reason = "no PANAS item was rated both before and after and also predicted"
    found = answer_table(study, "affect", reason)
    said = found["said"].notna()
    values = {
        "predicted": found["said"] - found["before"],
        "real": found["after"] - found["before"],
        "error": (found["said"] - found["after"]).abs(),
        "naive": (found["after"] - found["before"]).abs(),
    }
    values["gain"] = values["naive"] - values["error"]
    found = found.assign(n=said, asked=1, **{name: one.where(said, 0.0) for name, one in values.items()})
    everyone = of_models(study, found)
    if not everyone["n"].any():
        raise Absent(reason)
    measures = {**{name: (name, "n") for name in values}, "answered": ("n", "asked")}
    columns = (
        Column("predicted change", places=2),
        Column("real change", places=2),
        Column("absolute error", places=2),
        Column("error of no change", places=2),
        Column("gain over no change", "gain", places=2),
        "n",
    )

    def cells(one: dict[str, Any]) -> tuple[Cell, ...]:
        return *(one[name] for name in values), one["gain"].n

    by_item = study.sheet(
        "panas_items",
        "PANAS items, all models together, points of 1 to 7",
        ("item", "side", *columns),
        (
            (item, POLARITY[item], *cells(one))
            for (item,), one in rates(study, everyone, measures, ["item"]).items()
            if one["gain"].n
        ),
        keys=2,
    )
    by_model = study.sheet(
        "panas_items_by_model",
        "PANAS items by model, points of 1 to 7",
        ("model", *columns, share("answered here")),
        (
            (study.keys[key][0], *cells(one), one["answered"].mean)
            for (key,), one in rates(study, found, measures, ["key"]).items()
        ),
        foldable=("answered here",),
        notes=answer_tables(study).notes,
    )
    return [by_model, by_item]


def _branches(study: Study) -> list[Table]:
    reason = "no branch was both rated and predicted"
    found = answer_table(study, "branches", reason)
    said = found["said"].notna()
    error = (found["said"] - found["truth"]).where(said, 0.0)
    found = found.assign(n=said, asked=1, signed=error, absolute=error.abs())
    everyone = of_models(study, found)
    if not everyone["n"].any():
        raise Absent(reason)
    truths = of_one(found).groupby("branch", observed=True)["truth"]
    median = truths.agg(lambda rated: (rated - rated.median()).abs().mean())
    middle = truths.agg(lambda rated: (rated - MIDPOINT).abs().mean())
    measures = {"signed": ("signed", "n"), "absolute": ("absolute", "n"), "answered": ("n", "asked")}
    pooled = rates(study, everyone, measures, ["branch"]) if len(study.models) > 1 else {}
    blocks: list[Any] = [("all models", branch, one, None) for (branch,), one in pooled.items()]
    blocks += [
        (study.keys[key][0], branch, one, one["answered"].mean)
        for (key, branch), one in rates(study, found, measures, ["key", "branch"]).items()
        if one["signed"].n
    ]
    table = study.sheet(
        "four_branches",
        "Errors of branch scores, points of 1 to 7",
        ("model", "branch", Column("signed error", places=2), Column("absolute error", places=2),
         Column("always the median", "median_mae", 2), Column("always 4", "midpoint_mae", 2), "n",
         share("answered here")),
        (
            (model, branch, one["signed"], one["absolute"], median[branch], middle[branch], one["signed"].n,
             answered)
            for model, branch, one, answered in blocks
        ),
        keys=2,
        foldable=("answered here",),
        notes=answer_tables(study).notes,
    )  # fmt: skip
    return [table]


FEELINGS = Analysis(
    "feelings",
    "How feelings are read",
    "How far off are predicted feelings, and in which direction?",
    "Felt and predicted items are paired turn by turn, as in the emotion VA metric. An error is the "
    "predicted minus the felt value on the unit scales of valence and arousal. Felt items without a partner "
    "are 'missed', predicted items without a partner are 'invented', and predicted names outside the 20 "
    "items are 'another name'. Turns without a valid answer are left out.",
    _feelings,
    {
        "feelings-error": Dots("feelings_by_model", ["valence_error", "arousal_error"], line=0.0,
                               unit="predicted minus felt, 0 to 1 (right: more pleasant, more aroused)"),
        "feelings-confusion": Heat(
            "feelings_confusion", "felt", "read_as", "share_of_felt", where=("model", "all models"),
            range_=(0.0, 100.0), unit="felt (row) and predicted (column) items, % of the row, all models",
        ),
    },
    chapter="Answer by answer",
    place=4,
    inputs="conversations and result files",
)  # fmt: skip
PANAS = Analysis(
    "panas-items",
    "PANAS by item",
    "Do models predict how each feeling changes, or is assuming no change as good?",
    "Only items that the person rated before and after and that the model predicted. Change is after minus "
    "before. Gain is the error of assuming no change minus the model's error: above 0, the model is more "
    "accurate.",
    _panas,
    {
        "panas-items-by-model": Dots("panas_items_by_model", ["gain"], line=0.0,
                                     unit="gain over assuming no change, points of 1 to 7"),
        "panas-items": Dots("panas_items", ["real_change", "predicted_change", "gain"], line=0.0,
                            unit="points of 1 to 7, all models"),
    },
    signal="gain",
    chapter="Answer by answer",
    place=5,
    inputs="conversations and result files",
)  # fmt: skip
FOUR_BRANCHES = Analysis(
    "four-branches",
    "Four-branch error by branch",
    "Do models over- or underrate how well a reply did?",
    "Predicted minus rated score for each branch (1 to 7), over conversations that have both. Missing "
    "predictions are left out here (the canonical metric counts them as 4). 'Always the median' and 'always "
    "4' are the mean absolute errors of these constant answers.",
    _branches,
    {
        "four-branches": Dots("four_branches", ["signed_error"], split="branch", line=0.0,
                              unit="predicted minus rated, points of 1 to 7"),
        "four-branches-absolute": Dots("four_branches", ["absolute_error"], split="branch",
                                       mark="median_mae", unit="absolute error, points of 1 to 7"),
    },
    chapter="Answer by answer",
    place=6,
    inputs="conversations and result files",
)  # fmt: skip
ANALYSES: Final = (FEELINGS, PANAS, FOUR_BRANCHES)
