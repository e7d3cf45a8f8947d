"""The sentences that open a report."""

from __future__ import annotations

from attune_env.report.analyses.strengths import PRIOR, profile_tables
from attune_env.report.analyses.study import Absent, Study
from attune_env.report.analyses.verdict import (
    ABOVE,
    BELOW,
    FEW,
    SAME,
    best_of,
    compared,
    deciding,
    rests_on,
    verdict_of,
    verdict_tables,
)
from attune_env.tables.labels import READER, counted, listed, quoted, role_of, short_names
from attune_env.tables.table import Table
from attune_rewards.bootstrap import Interval

MUCH = 0.05
"""Share of unreadable replies from which the summary mentions them."""
NEEDED = ("builtin/surface", "builtin/asked", PRIOR)
"""Baselines whose absence the summary mentions."""
SEEN = {"builtin/lexicon": "sample"}
"""Policy -> the data that its rules were written with in view."""


def summary(study: Study) -> list[str]:
    """At most six sentences with names in backquotes; the score stands in the first one."""
    try:
        (table,) = verdict_tables(study)
    except Absent as reason:
        return [f"There is no verdict: {reason}."]
    models = [str(model) for model in table.column("model")]
    names = [quoted(name) for name in short_names(models)]
    baseline = quoted(str(table.column("baseline")[0]))
    reads = study.baseline and role_of(study.baseline) != "baseline"
    blind = "" if reads else ", which understands no text"
    says = {
        ABOVE: ("scores", "score", "significantly above", ""),
        SAME: ("is", "are", "indistinguishable from", ", on these conversations"),
        BELOW: ("scores", "score", "significantly below", blind),
        FEW: ("has", "have", "too little data for a test against", ""),
    }
    first, *others = map(str, table.column("verdict"))
    one, _, relation, more = says[first]
    joined = ", " if one == "scores" else f" and {one} "
    score = _score(study, models[0], table)
    lines = [f"{names[0]} {score}{joined}{relation} {baseline}, {_standing(study)}{more}."]
    difference = table.intervals("difference")[0]
    if difference.mean is not None:
        points, way = apart(difference)
        where = f"On {counted(difference.n, 'conversation')}, its" if first == FEW else "Its"
        equal = f"equal to that baseline's: {points}."
        lines.append(f"{where} score is {f'{points} {way} that baseline.' if way else equal}")
    for verdict, (one, several, relation, more) in says.items():
        if these := [name for name, said in zip(names[1:], others, strict=True) if said == verdict]:
            verb = one if len(these) == 1 else several
            lines.append(f"{listed(these)} {verb} {relation} {baseline}{more}.")
    return [*lines, *_beside_reader(study, models, names[0]), *_unreadable(study), *_parts(study, models)][:6]


def _score(study: Study, model: str, table: Table) -> str:
    """`scores 55.2 of 100`, and what that rests on where it is not every conversation."""
    score = table.intervals(deciding(study).column)[0].mean
    part = f" on {rests_on(study, [model])}" if (model, study.mode) in study.partial else ""
    return f"scores {score:.1f} of 100{part}"


def apart(difference: Interval) -> tuple[str, str]:
    """`8.8 points (5.9 to 11.6)` and `above` or `below`; neither if it rounds to 0.

    With a second decimal where an end would round to 0 and hide on which side of it it lies.
    """
    mean, ends = difference.mean or 0.0, (difference.low or 0.0, difference.high or 0.0)
    places = 2 if any(end and round(end, 1) == 0 for end in ends) else 1
    way = "" if round(mean, places) == 0 else "above" if mean > 0 else "below"
    sign = -1 if way == "below" else 1
    low, high = sorted(round(sign * end, places) + 0.0 for end in ends)
    between = (
        f" ({low:.{places}f} to {high:.{places}f})"
        if difference.meaningful and (low < high or not way)
        else ""
    )
    return f"{round(sign * mean, places) + 0.0:.{places}f} points{between}", way


def _standing(study: Study) -> str:
    """The place of the verdict's baseline among those scored."""
    if study.baseline:
        return "the chosen baseline"
    scored = {key[0] for key in study.keys if role_of(key[0]) == "baseline"}
    missing = [quoted(name.partition("/")[2]) for name in NEEDED if name not in scored]
    without = f" ({listed(missing)} {'was' if len(missing) == 1 else 'were'} not)" if missing else ""
    rank = f"the best of the {len(scored)} baselines" if len(scored) > 1 else "the only baseline"
    return f"{rank} scored{without}"


def _beside_reader(study: Study, models: list[str], first: str) -> list[str]:
    """The highest model against the built-in reader, unless that is what all are compared with.

    Where the reader itself is judged, its rules' acquaintance with the data.
    """
    reader = best_of(study, "reader")
    if reader is None or reader[0] == study.baseline:
        return []
    name = quoted(short_names([reader[0]])[0])
    seen = SEEN.get(reader[0]) == study.data_name
    what = f"{READER} written with the {study.data_name} in view" if seen else READER
    if reader[0] in models:
        return [f"{name} is {what}."] if seen else []
    difference, _, p = compared(study, [(model, study.mode) for model in models], reader)[0]
    who, other = "It" if len(models) == 1 else first, f"{name}, {what}"
    points, way = apart(difference)
    if difference.mean == difference.low == difference.high == 0:
        return [
            f"{who} scores the same as {other}, in every conversation: does the endpoint serve your model?"
        ]
    said = {
        ABOVE: f"{who} scores significantly above {other}, by {points}.",
        SAME: f"{who} is indistinguishable from {other}: {' '.join(filter(None, (points, way)))}.",
        BELOW: f"{who} scores significantly below {other}, by {points}.",
    }
    return [said[verdict]] if (verdict := verdict_of(difference, p)) in said else []


def _parts(study: Study, models: list[str]) -> list[str]:
    """The parts that some model predicts better than the baseline on each, worse, and the others."""
    try:
        (table,) = profile_tables(study)
    except Absent:
        return []
    parts = [f"“{name[:1].lower()}{name[1:]}”" for name in map(str, table.column("part"))]
    tests = zip(table.intervals("over_best"), table.column("p_holm"), strict=True)
    found = [verdict_of(over, p) if isinstance(p, float) else FEW for over, p in tests]
    held, said = dict.fromkeys(parts), set(zip(parts, found, strict=True))
    better, worse = ([part for part in held if (part, way) in said] for way in (ABOVE, BELOW))
    rest = [part for part in held if part not in {*better, *worse}]
    one = len(set(table.column("model"))) == 1
    does = "it does" if one else "at least one model does"
    nobody = "it shows no significant difference" if one else "no model shows a significant difference"
    against = f"Against {study.words['baseline']} on each part"
    people = f"with {counted(study.participants_of(models), 'participant')}"
    claims = [
        f"significantly {way} on {listed(those, 5)}"
        for way, those in (("better", better), ("worse", worse))
        if those
    ]
    if not claims:
        where = f"on any of them, {people} (see the profile)"
        return [f"{against}, {nobody} {where}."] if rest else []
    lines = [f"{against}, {does} {', and '.join(claims)}."]
    if rest:
        lines.append(f"{people[:1].upper()}{people[1:]}, {nobody} on {listed(rest, 5)} (see the profile).")
    return lines


def _unreadable(study: Study) -> list[str]:
    rates = {key[0]: study.aggregates[key].get("parse_rate") for key in study.models}
    bad = {name: 1 - rate for name, rate in rates.items() if rate is not None and 1 - rate >= MUCH}
    if not bad:
        return []
    if len(bad) == 1:
        ((name, share),) = bad.items()
        of = f"{share:.0%} of the replies from {quoted(short_names([name])[0])}"
    else:
        of = f"Up to {max(bad.values()):.0%} of the replies from {counted(len(bad), 'model')}"
    return [f"{of} were unreadable and count as unanswered."]
