"""The report's verdict: each model against a baseline and the oracle."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import numpy as np

from attune_env.report.analyses.analysis import Analysis
from attune_env.report.analyses.study import Absent, Study, label_of
from attune_env.results.samples import sample_spread, split_sample
from attune_env.statistics.comparisons import ALPHA, TESTABLE
from attune_env.statistics.score_table import Key
from attune_env.tables.cells import HOLM, Column
from attune_env.tables.groups import LEADERBOARD, METRICS
from attune_env.tables.labels import counted, quoted, role_of, short_names
from attune_env.tables.table import Table
from attune_rewards.bootstrap import Interval
from attune_rewards.metrics.metric import Metric

ABOVE, SAME, BELOW, FEW = "above", "indistinguishable", "below", "too little data"
Compared = tuple[Interval, float | None, float | None]
"""(difference, p, p Holm-corrected)"""
NECESSARY = (
    f"Beating {quoted('surface')}, which uses surface cues and understands nothing, is necessary but not "
    "sufficient to show that a model reads."
)


def deciding(study: Study) -> Metric:
    """The Composite that decides: the strict one, since the canonical one ignores what is not answered.

    In files without strict scores, the leading one; that of the stages asked where there is no Composite.
    """
    if study.no_composite:
        return study.leading
    strict = METRICS[LEADERBOARD["strict"][0]]
    return strict if study.defined([strict]) else study.leading


def by_score(study: Study, keys: Iterable[Key]) -> list[Key]:
    """The keys that have a deciding Composite, the highest mean first, partial ones last.

    Ties stay in their order.
    """
    values = study.table.metric(deciding(study).column, keys := list(keys))
    means = {key: column[~np.isnan(column)] for key, column in zip(keys, values.T, strict=True)}
    return sorted(
        (key for key in keys if means[key].size), key=lambda key: (key in study.partial, -means[key].mean())
    )


def best_of(study: Study, role: str) -> Key | None:
    """The policy of a role with the highest deciding Composite."""
    return next(iter(by_score(study, (key for key in study.keys if role_of(key[0]) == role))), None)


def judged(study: Study) -> list[Key]:
    """The models; if only policies were scored and no baseline was chosen, those that read the text.

    Of several samples of a model, only the first: others would count as models when p is corrected.
    """
    first: dict[str, Key] = {}
    for key in sorted(study.models, key=lambda key: split_sample(key[0])[1]):
        first.setdefault(split_sample(key[0])[0], key)
    models = [key for key in study.models if key in first.values()]
    if study.baseline:
        return models
    readers = [key for key in models if role_of(key[0]) not in ("baseline", "oracle")]
    return readers or models


def compared(study: Study, keys: Sequence[Key], other: Key) -> list[Compared]:
    """The deciding Composite of each key minus that of another, paired by conversation, with both p."""
    values = study.table.metric(deciding(study).column, [*keys, other])
    differences = values[:, :-1] - values[:, -1:]
    intervals = study.table.kernel.intervals(differences)
    return [(one, *p) for one, p in zip(intervals, study.tested(differences), strict=True)]


def verdict_tables(study: Study) -> list[Table]:
    """The deciding Composite of each model minus that of a baseline, paired by conversation.

    The baseline is the study's, or else the best one, in which case models that read nothing are left out.
    """
    chosen = (study.baseline, study.mode) if study.baseline else None
    baseline, oracle = chosen or best_of(study, "baseline"), best_of(study, "oracle")
    if baseline is None:
        raise Absent("no baseline was scored: run `attune run builtin all DATA` and score them too")
    keys = [key for key in by_score(study, judged(study)) if key != baseline]
    if not keys:
        raise Absent("nothing else was scored" if chosen else "only baselines were scored")
    metric = deciding(study)
    means = study.table.intervals(metric.column, keys)
    low = _on_the_same(study, keys, baseline)
    top = _on_the_same(study, keys, oracle) if oracle else [Interval()] * len(keys)
    rows = [
        (key[0], verdict_of(difference, p), short_names([baseline[0]])[0], mean, of_baseline, difference, p,
         None if best.mean is None or mean.mean is None else best.mean - mean.mean, difference.n)
        for key, mean, of_baseline, best, (difference, _, p) in zip(
            keys, means, low, top, compared(study, keys, baseline), strict=True
        )
    ]  # fmt: skip
    table = study.sheet(
        "verdict",
        f"Verdict: each model against {study.words['baseline']}, points of 100",
        (
            "model",
            "verdict",
            "baseline",
            Column(label_of(metric), metric.column, places=1),
            Column("baseline's score", "baseline_mean", places=1),
            Column("difference", places=2),
            HOLM,
            Column("below the oracle", "below_oracle", places=1),
            Column("conversations", "n"),
        ),
        rows,
        notes=_limits(study, keys, baseline),
        foldable=("baseline",),
    )
    return [table]


def _on_the_same(study: Study, keys: Sequence[Key], other: Key) -> list[Interval]:
    """The deciding Composite of `other` on the conversations of each key."""
    values = study.table.metric(deciding(study).column, [*keys, other])
    return study.table.kernel.intervals(np.where(np.isnan(values[:, :-1]), np.nan, values[:, -1:]))


def rests_on(study: Study, models: Collection[str]) -> str:
    """`3 of 20 conversations (3 participants)`, of all these models together."""
    number, whole = study.conversations_of(models), study.conversations_of()
    conversations = f"{number} of {whole} conversations" if number < whole else counted(whole, "conversation")
    return f"{conversations} ({counted(study.participants_of(models), 'participant')})"


def _limits(study: Study, keys: Sequence[Key], baseline: Key) -> list[str]:
    """The participants that the numbers rest on, the randomness they leave out, and what they do not show."""
    about = rests_on(study, [model for model, _ in keys])
    notes = [f"{about} in all; intervals and p are over {study.table.unit}s."]
    if fewer := [key for key in keys if key in study.partial]:
        said = "; ".join(f"{quoted(short_names([key[0]])[0])}: {rests_on(study, [key[0]])}" for key in fewer)
        notes.append(f"Scored on a part, and compared on that part: {said}.")
    spread = [one for one in sample_spread(study.scores, deciding(study).column) if one.mode == study.mode]
    notes += [
        f"{quoted(short_names([one.em_model])[0])} was sampled {one.samples} times: mean {one.mean:.1f}, "
        f"standard deviation over samples {one.sd_samples:.2f}. The verdict and the profile are about the "
        "first sample."
        for one in spread
    ]
    if not study.only_policies and not spread:
        notes.append(
            "Each reply was sampled once, so intervals and tests leave out the model's own randomness "
            "(measure it with `attune run … --samples 3`)."
        )
    if len(study.asked) > 1:
        notes.append("The models were not all asked with the same settings: see “About these numbers”.")
    if role_of(baseline[0]) == "baseline":
        notes.append(NECESSARY)
    return notes


def verdict_of(difference: Interval, p: float | None) -> str:
    """Above, indistinguishable, below or too little data, by the corrected p."""
    if difference.units < TESTABLE:
        return FEW
    if p is None or p >= ALPHA:
        return SAME
    return ABOVE if (difference.mean or 0.0) > 0 else BELOW


VERDICT = Analysis(
    "verdict",
    "Verdict",
    "Does a model do better than answers given without understanding the conversation?",
    "Each model's strict Composite, in which an unanswered question earns 0, minus that of {baseline}, "
    "paired by conversation, with a 95% interval over {units}. "
    "'Above' and 'below' mean p < 0.05 in a sign-flip test over {units}, Holm-corrected over the models; "
    f"with fewer than {TESTABLE} {{units}} no difference could, so there is too little data.",
    verdict_tables,
    against="Does a model do better than {baseline}?",
    chapter="The answer",
    place=1,
)
ANALYSES: Final = (VERDICT,)
