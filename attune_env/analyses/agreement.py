"""Yes/no questions and comparisons of replies: agreement by question, bias by position and length."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from attune_data.codebook import Codebook
from attune_data.constants import BINARY_BRANCHES, BINARY_IDS, PAIRWISE_IDS
from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.answers import SILENT, answers_of, of_models, rates
from attune_env.analyses.study import Study
from attune_env.figures.heat import heat
from attune_env.figures.plots import dots
from attune_env.report.names import references
from attune_env.report.table import Column, Table

SIDES = {"OM": "did it (OM)", "HP": "wanted it (HP)"}
POOLED = {"OM": "pooled_binary_om_metrics", "HP": "pooled_binary_human_metrics"}
"""Side -> where aggregates hold its pooled precision, recall, F1 and MCC."""
POOLED_NAMES = ("precision", "recall", "f1", "mcc")
AGREEMENT = Column("agreement (%)", "agreement", places=1, scale=100)
ACCURACY = Column("accuracy (%)", "accuracy", places=1, scale=100)


def _judgements(study: Study) -> pd.DataFrame:
    """Judgements with what is counted: in the canonical variant a missing answer is a no, else wrong."""
    found = answers_of(study, "judgements", "no yes/no question was asked and annotated")
    right = (found["said"] == 1) == found["yes"]
    if study.variant == "strict":
        right &= found["said"] != SILENT
    return found.assign(right=right, n=1, given=found["said"] != SILENT, says_yes=found["said"] == 1)


def _majorities(study: Study) -> pd.DataFrame:
    """Per side and question: truths, share of yes, and what always giving the majority answer earns."""
    judged = answers_of(study, "judgements", "")
    once = judged[judged["key"] == judged["key"].mode()[0]]  # the truths are the same for all models
    found = once.groupby(["side", "question"])["yes"].agg(["size", "mean"])
    return found.assign(majority=np.maximum(found["mean"], 1 - found["mean"]))


def _binary(study: Study) -> list[Table]:
    judged = _judgements(study)
    truths = _majorities(study)
    book = Codebook.own()
    answers = Table(
        study.titled("Yes/no answers by model"),
        (
            "model",
            "asked about",
            AGREEMENT,
            "n",
            Column("majority", share=True),
            Column("says yes (%)", "says_yes", places=1, scale=100),
            Column("is yes", "true_yes_share", share=True),
            Column("answered here", share=True),
            *POOLED_NAMES,
        ),
        keys=2,
        name="binary_answers",
        notes=["precision, recall, f1, mcc: of yes, from the counts of all conversations together."],
    )
    questions = Table(
        study.titled("Yes/no questions, all models together"),
        ("id", "asked about", Column("question", prose=True), Column("branch", prose=True), "truths",
         Column("yes", "true_yes_share", share=True), Column("majority", share=True), AGREEMENT,
         Column("over majority (points)", "over_majority", places=1, scale=100)),
        keys=2, name="binary_questions",
    )  # fmt: skip
    by_model = Table(
        study.titled("Yes/no questions by model"),
        ("model", "id", "asked about", AGREEMENT, "n", Column("majority", share=True),
         Column("says yes", share=True), Column("answered", share=True),
         Column("over majority (points)", "over_majority", places=1, scale=100)),
        keys=3, name="binary_questions_by_model",
    )  # fmt: skip
    measures = {"right": ("right", "n"), "says": ("says_yes", "n"), "given": ("given", "n")}
    sides = rates(study, judged, measures, ["key", "side"])
    weighed = truths.assign(best=truths["majority"] * truths["size"], yes=truths["mean"] * truths["size"])
    totals = weighed.groupby("side")[["best", "yes", "size"]].sum()
    faint = references(study.keys)
    for place, key in enumerate(study.keys):
        for side, text in SIDES.items():
            if (one := sides.get((place, side))) is not None:
                total = totals.loc[side]
                pooled = study.aggregates[key]
                answers.rows.append((
                    key[0], text, one["right"], one["right"].n, total["best"] / total["size"], one["says"],
                    total["yes"] / total["size"], one["given"].mean,
                    *(pooled.get(f"{POOLED[side]}.{name}") for name in POOLED_NAMES),
                ))  # fmt: skip
    everyone = rates(study, of_models(study, judged), measures, ["side", "question"])
    singly = rates(study, judged, measures, ["key", "side", "question"])
    for question in ordered(BINARY_IDS, judged["question"]):
        for side, text in SIDES.items():
            if (side, question) not in truths.index:
                continue
            size, yes, majority = truths.loc[(side, question)]
            both = everyone.get((side, question))
            questions.rows.append((
                question, text, book.binary_text(question, observer=True),
                BINARY_BRANCHES.get(question, "").replace("_", " "), int(size), yes, majority,
                both["right"] if both else None, both["right"].mean - majority if both else None,
            ))  # fmt: skip
            for place, key in enumerate(study.keys):
                if (one := singly.get((place, side, question))) is not None:
                    if place in faint:
                        by_model.dim.add(len(by_model.rows))
                    right = one["right"]
                    over = None if right.mean is None else right.mean - majority
                    by_model.rows.append((
                        key[0], question, text, right, right.n, majority, one["says"].mean,
                        one["given"].mean, over,
                    ))  # fmt: skip
    answers.dim = {
        i for i, row in enumerate(answers.rows) if (str(row[0]), study.mode) in {study.keys[f] for f in faint}
    }
    questions.notes = missing(study)
    return [answers, questions, by_model]


def ordered(known_ids: tuple[str, ...], found: pd.Series) -> list[str]:
    """The ids that were found: the benchmark's in its order, then others by name."""
    names = set(found)
    return [*(name for name in known_ids if name in names), *sorted(names - set(known_ids))]


def missing(study: Study) -> list[str]:
    """A note on scored results that are not in an analysis of single answers."""
    number = study.answers.missing
    return [f"{number} scored results are left out: their file or conversation is not available."] * bool(
        number
    )


def _choices(study: Study) -> list[Table]:
    choices = answers_of(study, "choices", "no comparison with a winner was asked")
    choices = choices.assign(right=choices["pick"] == choices["winner"], n=1, given=choices["pick"] >= 0)
    measures = {"right": ("right", "n"), "given": ("given", "n")}
    everyone = rates(study, of_models(study, choices), measures, ["question"])
    singly = rates(study, choices, measures, ["key", "question"])
    book = Codebook.own()
    table = Table(
        study.titled("Comparisons by question, all models together"),
        ("id", Column("question", prose=True), "comparisons", ACCURACY,
         Column("lowest model", share=True), Column("highest model", share=True)),
        name="preference_questions",
    )  # fmt: skip
    by_model = Table(
        study.titled("Comparisons by question and model"),
        ("model", "id", ACCURACY, "n", Column("answered", share=True)),
        keys=2, name="preference_questions_by_model",
    )  # fmt: skip
    once = choices[choices["key"] == choices["key"].mode()[0]]["question"].value_counts()
    places = [study.keys.index(key) for key in study.models]
    for question in ordered(PAIRWISE_IDS, choices["question"]):
        values = [
            one["right"].mean
            for place in places
            if (one := singly.get((place, question))) is not None and one["right"].mean is not None
        ]
        both = everyone.get((question,))
        table.rows.append(
            (
                question,
                book.pairwise_text(question),
                int(once.get(question, 0)),
                both["right"] if both else None,
                min(values, default=None),
                max(values, default=None),
            )
        )
        for place, key in enumerate(study.keys):
            if (one := singly.get((place, question))) is not None:
                by_model.rows.append((key[0], question, one["right"], one["right"].n, one["given"].mean))
    table.notes = missing(study)
    return [table, by_model]


def _bias(study: Study) -> list[Table]:
    choices = answers_of(study, "choices", "no comparison with a winner was asked")
    choices = choices[choices["pick"] >= 0]
    if choices.empty:
        raise Absent("no comparison was answered")
    found = {}
    for kind in ("first", "longer"):
        some = choices[choices[kind] >= 0]
        some = some.assign(n=1, picked=some["pick"] == some[kind], won=some["winner"] == some[kind])
        some["excess"] = some["picked"].astype(int) - some["won"].astype(int)
        measures = {name: (name, "n") for name in ("picked", "won", "excess")}
        found[kind] = rates(study, some, measures, ["key"]) if len(some) else {}
    heads = [
        Column(text.format(word), key.format(field), places=1, scale=100)
        for word, field, bias in (("first", "first", "position"), ("longer", "longer", "length"))
        for text, key in (
            ("picks the {} (%)", "picks_{}"), ("person's is {} (%)", "person_{}"),
            (f"{bias} bias (points)", f"{bias}_bias"),
        )
    ]  # fmt: skip
    table = Table(
        study.titled("Position and length bias of picks"), ("model", *heads, "n first", "n longer"),
        dim=references(study.keys), name="preference_bias", notes=missing(study),
    )  # fmt: skip
    for place, key in enumerate(study.keys):
        first, longer = (found[kind].get((place,), {}) for kind in ("first", "longer"))
        counts = (one["excess"].n if one else 0 for one in (first, longer))
        cells = [one.get(name) for one in (first, longer) for name in ("picked", "won", "excess")]
        table.rows.append((key[0], *cells, *counts))
    if not found["first"]:
        table.notes.append("The result files do not say which reply was shown first: no position bias.")
    return [table]


BINARY = Analysis(
    "binary-questions",
    "Agreement per yes/no question",
    "On which questions do models agree with the person, and on which do they not?",
    "Share of right answers in observer wording, among judgements with a yes or no; a missing answer "
    "counts as a no (canonical) or as wrong (strict). Majority: what giving each question its more "
    "frequent true answer earns. Every answer counts the same; intervals over conversations. Wordings are "
    "this project's own.",
    _binary,
    {
        "binary-answers": partial(
            dots,
            table="binary_answers",
            columns=["agreement"],
            split="asked_about",
            mark="majority",
            unit="agreement with the person, %",
        ),
        "binary-questions": partial(
            dots,
            table="binary_questions",
            columns=["agreement"],
            label="question",
            split="asked_about",
            mark="majority",
            unit="agreement, all models, %",
        ),
        "binary-questions-by-model": partial(
            heat,
            table="binary_questions_by_model",
            rows="id",
            columns="model",
            value="over_majority",
            where=("asked_about", SIDES["HP"]),
            unit="what was wanted: agreement minus the majority's, points",
        ),
    },
)
CHOICES = Analysis(
    "preference-questions",
    "Preference per question",
    "On which questions do models predict which reply the person prefers?",
    "Share of comparisons with a winner whose pick is the person's; a missing pick is wrong. Chance is 50 %: "
    "picks are A or B. Every answer counts the same; intervals over conversations.",
    _choices,
    {
        "preference-questions": partial(
            dots,
            table="preference_questions",
            columns=["accuracy"],
            label="question",
            line=50.0,
            unit="picks that are the person's, all models, % (line: chance)",
        )
    },
)
BIAS = Analysis(
    "preference-bias",
    "Position and length bias",
    "Are picks moved by which reply comes first or is longer?",
    "Share of the model's picks that are the reply shown first, or the longer one, minus the same share "
    "of the person's choices in the same answered comparisons. 0 is no bias, whatever people prefer.",
    _bias,
    {
        "preference-bias": partial(
            dots,
            table="preference_bias",
            columns=["position_bias", "length_bias"],
            line=0.0,
            unit="share of picks minus the person's, points",
        )
    },
    signal="position_bias",
)
