"""Yes/no questions and comparisons of replies: agreement by question, bias by position and length."""

from __future__ import annotations

from typing import Final

import numpy as np

from attune_data.format.codebook import Codebook
from attune_data.format.constants import BINARY_BRANCHES
from attune_env.report.analyses.analysis import Analysis
from attune_env.report.analyses.answer_tables import (
    SILENT,
    answer_table,
    answer_tables,
    of_models,
    of_one,
    rates,
)
from attune_env.report.analyses.study import Absent, Study
from attune_env.report.figures.dots import Dots
from attune_env.report.figures.heat import Heat
from attune_env.tables.cells import Column, points, share
from attune_env.tables.table import Table
from attune_rewards.bootstrap import Interval

SIDES: Final = {"OM": "did it (OM)", "HP": "wanted it (HP)"}
POOLED: Final = {"OM": "pooled_binary_om_metrics", "HP": "pooled_binary_human_metrics"}
"""Side -> where aggregates hold its pooled precision, recall, F1 and MCC."""
POOLED_NAMES: Final = ("precision", "recall", "f1", "mcc")
AGREEMENT = points("agreement (%)", "agreement")
ACCURACY = points("accuracy (%)", "accuracy")
OVER = points("over majority (points)", "over_majority")


def _over(rate: Interval, majority: float) -> float | None:
    return None if rate.mean is None else rate.mean - majority


def _binary(study: Study) -> list[Table]:
    found = answer_table(study, "judgements", "no yes/no question was both asked and annotated")
    given = found["said"] != SILENT
    right = ((found["said"] == 1) == found["yes"]) & (given | (study.variant != "strict"))
    found = found.assign(right=right, n=1, given=given, says=found["said"] == 1)
    measures = {name: (name, "n") for name in ("right", "says", "given")}
    truths = of_one(found).groupby(["question", "side"], observed=True)["yes"].agg(["size", "mean"])
    truths["majority"] = np.maximum(truths["mean"], 1 - truths["mean"])
    sides = dict(list(truths.groupby("side", observed=True)))
    book = Codebook.own()
    answers = study.sheet(
        "binary_answers",
        "Yes/no answers by model",
        ("model", "asked about", AGREEMENT, "n", share("majority"), points("says yes (%)", "says_yes"),
         share("truth is yes", "true_yes_share"), share("answered here"), *POOLED_NAMES),
        (
            (study.keys[key][0], SIDES[side], one["right"], one["right"].n,
             np.average(sides[side]["majority"], weights=sides[side]["size"]), one["says"],
             np.average(sides[side]["mean"], weights=sides[side]["size"]), one["given"].mean,
             *(study.aggregates[study.keys[key]].get(f"{POOLED[side]}.{name}") for name in POOLED_NAMES))
            for (key, side), one in rates(study, found, measures, ["key", "side"]).items()
        ),
        keys=2,
        notes=["precision, recall, f1 and mcc are for yes and use the pooled counts of all conversations."],
    )  # fmt: skip
    everyone = rates(study, of_models(study, found), measures, ["question", "side"])
    rows = []
    for (question, side), (size, yes, majority) in truths.iterrows():
        one = everyone.get((question, side), {"right": Interval()})["right"]
        branch = BINARY_BRANCHES.get(question, "").replace("_", " ")
        text = book.binary_text(question, observer=True)
        rows.append(
            (question, SIDES[side], text, branch, int(size), yes, majority, one, _over(one, majority))
        )
    questions = study.sheet(
        "binary_questions",
        "Yes/no questions, all models together",
        ("id", "asked about", "question", "branch", Column("judgements", "truths"),
         share("truth is yes", "true_yes_share"), share("majority"), AGREEMENT, OVER),
        rows,
        keys=2,
        notes=answer_tables(study).notes,
    )  # fmt: skip
    majorities = truths["majority"]
    singly = rates(study, found, measures, ["question", "side", "key"])
    by_model = study.sheet(
        "binary_questions_by_model",
        "Yes/no questions by model",
        ("model", "id", "asked about", AGREEMENT, "n", share("majority"), share("says yes"),
         share("answered"), OVER),
        (
            (study.keys[key][0], question, SIDES[side], one["right"], one["right"].n,
             majorities[question, side], one["says"].mean, one["given"].mean,
             _over(one["right"], majorities[question, side]))
            for (question, side, key), one in singly.items()
        ),
        keys=3,
    )  # fmt: skip
    return [answers, questions, by_model]


def _choices(study: Study) -> list[Table]:
    found = answer_table(study, "choices", "no comparison with a winner was asked")
    found = found.assign(right=found["pick"] == found["winner"], n=1, given=found["pick"] != SILENT)
    measures = {"right": ("right", "n"), "given": ("given", "n")}
    singly = rates(study, found, measures, ["question", "key"])
    everyone = rates(study, of_models(study, found), measures, ["question"])
    counts = of_one(found)["question"].value_counts()
    book = Codebook.own()
    rows = []
    for question in found["question"].cat.categories:
        shares = [
            one["right"].mean
            for (asked, key), one in singly.items()
            if asked == question and study.keys[key] in study.models and one["right"].mean is not None
        ]
        both = everyone.get((question,), {"right": None})["right"]
        ends = min(shares, default=None), max(shares, default=None)
        rows.append((question, book.pairwise_text(question), int(counts[question]), both, *ends))
    table = study.sheet(
        "preference_questions",
        "Comparisons by question, all models together",
        ("id", "question", "comparisons", ACCURACY, share("lowest model"), share("highest model")),
        rows,
        notes=answer_tables(study).notes,
    )
    by_model = study.sheet(
        "preference_questions_by_model",
        "Comparisons by question and model",
        ("model", "id", ACCURACY, "n", share("answered")),
        (
            (study.keys[key][0], question, one["right"], one["right"].n, one["given"].mean)
            for (question, key), one in singly.items()
        ),
        keys=2,
    )
    return [table, by_model]


def _bias(study: Study) -> list[Table]:
    choices = answer_table(study, "choices", "no comparison with a winner was asked")
    choices = choices[choices["pick"] != SILENT]
    if choices.empty:
        raise Absent("no comparison was answered")
    notes = answer_tables(study).notes
    if (choices["first"] < 0).all():
        notes.append("The result files do not say which reply was shown first, so position bias is unknown.")
    parts = []
    for kind in ("first", "longer"):
        some = choices[choices[kind] >= 0]
        picked, won = some["pick"] == some[kind], some["winner"] == some[kind]
        some = some.assign(n=1, picked=picked, won=won, excess=picked.astype(int) - won)
        measures = {name: (name, "n") for name in ("picked", "won", "excess")}
        parts.append(rates(study, some, measures, ["key"]) if len(some) else {})
    rows = []
    for place, key in enumerate(study.keys):
        found = [part.get((place,), {}) for part in parts]
        cells = [one.get(name) for one in found for name in ("picked", "won", "excess")]
        rows.append((key[0], *cells, *(one["excess"].n if one else 0 for one in found)))
    heads = [
        points(text, field)
        for kind, bias in (("first", "position"), ("longer", "length"))
        for text, field in (
            (f"picks the {kind} (%)", f"picks_{kind}"), (f"person's choice is {kind} (%)", f"person_{kind}"),
            (f"{bias} bias (points)", f"{bias}_bias"),
        )
    ]  # fmt: skip
    columns: tuple[Column | str, ...] = ("model", *heads, "n first", "n longer")
    return [study.sheet("preference_bias", "Position and length bias of picks", columns, rows, notes=notes)]


BINARY = Analysis(
    "binary-questions",
    "Agreement per yes/no question",
    "On which questions do models agree with the person, and on which do they not?",
    "Share of correct answers among judgements with a yes or no. A missing answer counts as no (canonical) "
    "or as wrong (strict). Majority is the score for always giving the more frequent true answer to a "
    "question. All answers count equally; intervals are over {units}. Questions are in the observer wording, "
    "in this project's own words.",
    _binary,
    {
        "binary-answers": Dots("binary_answers", ["agreement"], split="asked_about", mark="majority",
                               unit="agreement with the person, %"),
        "binary-questions": Dots("binary_questions", ["agreement"], label="question", split="asked_about",
                                 mark="majority", unit="agreement, all models, %"),
        "binary-questions-by-model": Heat(
            "binary_questions_by_model", "id", "model", "over_majority", where=("asked_about", SIDES["HP"]),
            unit="what was wanted: agreement minus the majority's, points",
        ),
    },
    chapter="Answer by answer",
    place=1,
    inputs="conversations and result files",
)  # fmt: skip
CHOICES = Analysis(
    "preference-questions",
    "Preference per question",
    "On which questions do models predict the reply that the person prefers?",
    "Share of comparisons with a winner in which the model picks the person's choice. A missing pick counts "
    "as wrong. Chance is 50%, since there are two replies to pick from. "
    "All answers count equally; intervals are over {units}.",
    _choices,
    {"preference-questions": Dots("preference_questions", ["accuracy"], label="question", line=50.0,
                                  unit="picks that match the person's choice, all models, % (line: chance)")},
    chapter="Answer by answer",
    place=2,
    inputs="conversations and result files",
)  # fmt: skip
BIAS = Analysis(
    "preference-bias",
    "Position and length bias",
    "Do models favour the reply that comes first or is longer?",
    "Share of the model's picks that are the reply shown first (or the longer one), minus the corresponding "
    "share of the person's choices in the same answered comparisons. 0 means no bias, regardless of what "
    "people prefer.",
    _bias,
    {"preference-bias": Dots("preference_bias", ["position_bias", "length_bias"], line=0.0,
                             unit="share of picks minus that of the person's choices, points")},
    signal="position_bias",
    chapter="Answer by answer",
    place=3,
    inputs="conversations and result files",
)  # fmt: skip
ANALYSES: Final = (BINARY, CHOICES, BIAS)
