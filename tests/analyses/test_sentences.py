"""What an analysis says is what its own tables hold: every count and every name, recomputed from the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from attune_env.analyses import ANALYSES, Analysis, Study
from attune_env.analyses.by_score.wording import (
    counted,
    few_named,
    how_many,
    names_of,
    number_text,
    of_all,
    percent,
    with_interval,
)
from attune_env.report.cells import Cell, DataTable
from attune_env.results.scores import aggregates_of
from attune_env.statistics.bootstrap import Interval
from attune_episodes import Settings, builtin_policy, rollout
from tests.analyses.by_item.build import study_of
from tests.analyses.planted import NAMES, people, reader, results_of
from tests.data.builders import Json

Row = Mapping[str, Cell]
Rows = Sequence[Row]
PEOPLE = 24
SETS: Mapping[str, Sequence[str]] = {
    "eleven": [f"planted/{name}" for name in NAMES],
    "three": ["planted/worse", "planted/no-gap", "planted/tuned-0"],
    "two": ["planted/worse", "planted/tuned-0"],
    "one below the baseline": ["planted/tuned-0"],
    "one": ["planted/position-biased"],
    "policies": [],
}
"""Models beside the policies; the last has nothing else."""
POLICIES = ("prior", "asked", "longest", "oracle")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """All planted readers and some policies, with their result files."""
    talks = people(PEOPLE)
    records: list[Json] = [dict(one.record) for one in results_of(talks, [reader(name) for name in NAMES])]
    for name in POLICIES:
        policy = builtin_policy(name, talks, Settings())
        records += [
            dict(rollout(talk, policy, Settings(), em_model=f"builtin/{name}").result) for talk in talks
        ]
    return study_of(tmp_path_factory.mktemp("sentences"), talks, records)


def narrowed(study: Study, models: Sequence[str], conversations: int) -> Study:
    """The study of these models and all policies, on its first conversations."""
    ids = sorted({entry["conversationId"] for entry in study.entries})[:conversations]
    entries = [
        entry
        for entry in study.entries
        if entry["conversationId"] in ids
        and (entry["em_model"] in models or entry["em_model"].startswith("builtin/"))
    ]
    return replace(
        study, scores={**study.scores, "conversations": entries, "aggregates": aggregates_of(entries)}
    )


def rows(table: DataTable) -> list[Row]:
    return [dict(zip([c.key for c in table.columns], row, strict=True)) for row in table.rows]


def mean(cell: Cell) -> float:
    assert isinstance(cell, Interval)
    assert cell.mean is not None
    return cell.mean


def known(found: Rows, column: str) -> list[Row]:
    return [row for row in found if isinstance(one := row[column], Interval) and one.mean is not None]


def clear(cell: Cell) -> bool:
    return isinstance(cell, Interval) and cell.leaves_out_zero


def clear_in(found: Rows, column: str, sign: int = 0) -> list[Row]:
    """The rows in which the interval leaves out 0, on one side of it if `sign` says which."""
    return [row for row in found if clear(row[column]) and (not sign or sign * mean(row[column]) > 0)]


def models_of(found: Rows, study: Study) -> list[Row]:
    return [row for row in found if row["model"] in {model for model, _ in study.models}]


def groups(one: Analysis, study: Study, what: str) -> list[str]:
    told = [r for r in rows(one.tables[0]) if isinstance(d := r["difference"], Interval) and d.meaningful]
    sure = clear_in(told, "difference")
    tested = [row for row in sure if isinstance(p := row["p_holm"], float) and p < 0.05]
    if not told:
        return ["too few to tell a difference"]
    left_out = len(one.tables[0].rows) - len(told)
    return [
        f"{how_many(len(sure))} of {counted(len(told), what)} differ",
        f"{how_many(len(tested))} after Holm's correction",
        *([f"({counted(left_out, what)} with fewer"] if left_out else []),
    ]


def leaderboard(one: Analysis, study: Study) -> list[str]:
    found = rows(one.tables[0])
    compared = models_of(found, study)
    nulls = [mean(row["composite_score"]) for row in found if row["kind"] == "null" and row not in compared]
    named = names_of(study.models)
    below = [
        name
        for name, row in zip(named, compared, strict=True)
        if nulls and mean(row["composite_score"]) < max(nulls)
    ]
    said = [named[0]]
    if len(below) == len(named) > 1:
        said.append("reaches the baseline")
    elif below:
        said.append(f"{few_named(below)} lie" if len(named) > 1 else "it lies below the baseline")
    return said


def pairs_separated(one: Analysis, study: Study) -> list[str]:
    first, *inputs = rows(one.tables[0])
    pairs = int(str(first["pairs"]))
    one_by_one, corrected = (int(str(first[column])) for column in ("by_interval", "by_holm"))
    said = [of_all(one_by_one, pairs, "pair"), f"({how_many(corrected)} "]
    numbers = {str(row["metric"]).partition(" (")[0]: int(str(row["by_interval"])) for row in inputs}
    if pairs > 1 and max(numbers.values()) > min(numbers.values()):
        ends = {max(numbers.values()), min(numbers.values())}
        said += few([name for name, number in numbers.items() if number == max(ends)])
        said += few([name for name, number in numbers.items() if number == min(ends)])
    return said


def few(names: Sequence[str]) -> list[str]:
    """The names that a list of so many writes out."""
    return list(names) if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"]


def metrics(one: Analysis, study: Study) -> list[str]:
    if len(study.models) == 1:
        return [counted(sum(len(table.columns) - 4 for table in one.tables[:-1]), "metric")]
    names, first = names_of(study.models), []
    compared = [models_of(rows(table), study) for table in one.tables[:2]]
    for table, found in zip(one.tables[:2], compared, strict=True):
        for column in table.columns:
            if column.name.endswith("(input)"):
                values = [m.mean if isinstance(m := row[column.key], Interval) else None for row in found]
                best = max(value for value in values if value is not None)
                first += [names[values.index(best)]] if values.count(best) == 1 else []
    times = {name: first.count(name) for name in names}
    if not first or max(times.values()) == len(first):
        return []
    return few([name for name in names if times[name] == max(times.values())])


def perspective_gap(one: Analysis, study: Study) -> list[str]:
    found = known(rows(one.tables[0]), "gap")
    above = [row for row in found if mean(row["gap"]) > 0]
    other = clear_in(found, "gap", -1)
    said = [f"by {of_all(len(above), len(found), 'policy' if study.models[0][0][0] == 'b' else 'model')}"]
    return said + ([f"the other way round beyond the interval in {len(other)}"] if other else [])


def wordings(one: Analysis, study: Study) -> list[str]:
    found = [r for r in models_of(rows(one.tables[0]), study) if r["asked_about"] == "wanted it (HP)"]
    changed = [100 * mean(row["changed"]) for row in known(found, "changed")]
    return [
        f"{how_many(len(clear_in(found, 'difference', -1)))} less",
        *([number_text(min(changed)), number_text(max(changed))] if changed else []),
    ]


def binary_questions(one: Analysis, study: Study) -> list[str]:
    found = [row for row in rows(one.tables[1]) if row["over_majority"] is not None]
    named = [row for row in found if int(str(row["truths"])) >= 20]
    ends = sorted(100 * float(str(row["over_majority"])) for row in named)
    said = [f"{number_text(end, signed=True)} (" for end in (ends[0], ends[-1])] if ends else []
    return said + (["over questions with 20 truths or more"] if ends and len(named) < len(found) else [])


def feelings(one: Analysis, study: Study) -> list[str]:
    found = rows(one.tables[0])
    (pairs,) = [sum(int(str(row["pairs"])) for row in models_of(found, study))]
    said = [f"{pairs:,} matched pair"]
    felt = [row for row in rows(one.tables[1]) if int(str(row["pairs"])) >= 10]
    confused = [share for row in felt if isinstance(share := row["read_as_share"], float)]
    return said + ([f"({percent(max(confused))} of "] if confused else [])


def panas_items(one: Analysis, study: Study) -> list[str]:
    found = rows(one.tables[1])
    better, worse = (how_many(len(clear_in(found, "gain_over_no_change", sign))) for sign in (1, -1))
    return [f"of {counted(len(found), 'item')} {better} ", f"{worse} worse"]


def four_branches(one: Analysis, study: Study) -> list[str]:
    found = rows(one.tables[0])
    pooled = [row for row in found if row["model"] == "all models"] or models_of(found, study)
    sure = clear_in(pooled, "signed_error")
    most = max(sure or pooled, key=lambda row: abs(mean(row["signed_error"])))
    return [f"{most['branch']} {'is the branch' if sure else 'most nearly'}"]


def preference_wins(one: Analysis, study: Study) -> list[str]:
    found = known(rows(one.tables[0]), "tau")
    negative = [row for row in found if mean(row["tau"]) < 0]
    most = max(int(str(row["beats"])) for row in found)
    if len(found) == 1:
        return []
    names = [n for n, row in zip(names_of(study.models), rows(one.tables[0]), strict=True)
             if int(str(row["beats"])) == most > 0]  # fmt: skip
    return [f"negative for {of_all(len(negative), len(found), '')[:4]}", *few(names)]


def preference_questions(one: Analysis, study: Study) -> list[str]:
    found = rows(one.tables[0])
    sure = [r for r in known(found, "accuracy") if isinstance(a := r["accuracy"], Interval)
            and (a.low or 0) > 0.5 and a.meaningful]  # fmt: skip
    named = [row for row in known(found, "accuracy") if int(str(row["comparisons"])) >= 20]
    ends = sorted(100 * mean(row["accuracy"]) for row in named)
    said = [of_all(len(sure), len(found), "question")]
    said += [f"({number_text(end)} [" for end in (ends[0], ends[-1])] if len(ends) > 1 else []
    return said + (["20 comparisons or more"] if 1 < len(named) < len(known(found, "accuracy")) else [])


def preference_bias(one: Analysis, study: Study) -> list[str]:
    found, said = models_of(rows(one.tables[0]), study), []
    for column in ("position_bias", "length_bias"):
        told, sure = known(found, column), clear_in(found, column)
        most = max(sure or told, key=lambda row: abs(mean(row[column])))
        name = names_of([(str(most["model"]), "")])[0]
        if len(told) > 1:
            said.append(f"{name} {'most' if sure else 'most nearly'} (")
        else:
            said += ["less often"] if mean(most[column]) < 0 else ["more often"]
    return said


def clinical_affect_gap(one: Analysis, study: Study) -> list[str]:
    pooled, by_model = rows(one.tables[0]), models_of(rows(one.tables[1]), study)
    apart = {str(row["metric"]): row["difference"] for row in clear_in(pooled, "difference")}
    large = [d for row in pooled if isinstance(d := row["difference"], Interval) and d.meaningful]
    if not large:
        return ["too few to tell"]
    said = [] if "Emotion VA" in apart else ["No difference of Emotion VA"]
    others = set(apart) - {"Emotion VA", "Emotion VA, tagged turns only", "neutral turns (of the data)"}
    for name in others:
        difference = apart[name]
        assert isinstance(difference, Interval)
        said.append(f"{name} ({with_interval(difference, scale=100, signed=True)})")
    said += [] if others else ["no other score differs"]
    for sign, word in ((-1, "lower"), (1, "higher")):
        sure = clear_in(by_model, "difference", sign)
        if len(by_model) > 1 and sure:
            names = names_of([(str(row["model"]), "") for row in sure])
            said += [f"; {word} for ", f"beyond the interval for {few_named(names)}"]
    return said


def turn_drift(one: Analysis, study: Study) -> list[str]:
    found = rows(one.tables[0])
    sure = clear_in(found, "change")
    left = [str(row["metric"]) for row in found if row not in sure]
    if not sure:
        return ["no metric changes".capitalize()]
    return [str(row["metric"]) for row in sure] + (
        [f"no change beyond the interval in {', '.join(left)}"] if left else []
    )


def difficulty(one: Analysis, study: Study) -> list[str]:
    found = rows(one.tables[0])
    return [f"{row['mean']:.1f} ({row['conversation']})" for row in (found[0], found[-1])]


def cost(one: Analysis, study: Study) -> list[str]:
    if "cost" not in [column.key for column in one.tables[0].columns]:
        return []
    found = known(rows(one.tables[0]), "cost")
    return [f"{mean(pick(found, key=lambda row: mean(row['cost']))['cost']):#.3g} (" for pick in (min, max)]


def learning_curves(one: Analysis, study: Study) -> list[str]:
    found = rows(one.tables[0])
    return [f"from step {found[0]['step']:g} to {found[-1]['step']:g}" if len(found) > 1 else "1 checkpoint"]


def metric_correlations(one: Analysis, study: Study) -> list[str]:
    found = known(rows(one.tables[0]), "rho")
    return [f"in {len(clear_in(found, 'rho'))} of {counted(len(found), 'pair')}"]


def turn_against_composite(one: Analysis, study: Study) -> list[str]:
    found = known(rows(one.tables[0]), "rho")
    values = [mean(row["rho"]) for row in found]
    high, low = ([str(row["metric"]).partition(" (")[0] for row in found if mean(row["rho"]) == end]
                 for end in (max(values), min(values)))  # fmt: skip
    return [
        *few(high),
        *few(low),
        f"{len(clear_in(found, 'rho'))} of {counted(len(found), 'metric')}",
    ]


def variance(one: Analysis, study: Study) -> list[str]:
    found = rows(one.tables[0])
    more = sum(float(str(row["conversation"])) > float(str(row["model"])) for row in found)
    first = [percent(float(str(found[0][part]))) for part in ("model", "conversation", "rest")]
    return [f"{more} of {counted(len(found), 'metric')}", *first]


def top_models(one: Analysis, study: Study) -> list[str]:
    return [f"beyond the interval on {how_many(len(clear_in(rows(one.tables[0]), 'lead')))}"]


CHECKS: dict[str, Callable[[Analysis, Study], list[str]]] = {
    "traits": lambda one, study: groups(one, study, "split"),
    "topics": lambda one, study: groups(one, study, "category"),
} | {
    check.__name__.replace("_", "-"): check
    for check in (
        leaderboard, pairs_separated, metrics, perspective_gap, wordings, binary_questions, feelings,
        panas_items, four_branches, preference_wins, preference_questions, preference_bias,
        clinical_affect_gap, turn_drift, difficulty, cost, learning_curves, metric_correlations,
        turn_against_composite, variance, top_models,
    )
}  # fmt: skip
"""Analysis -> what its sentence must say, by its tables."""


@pytest.mark.parametrize("number", [24, 7], ids=lambda n: f"{n} conversations")
@pytest.mark.parametrize("models", SETS)
def test_sentences_say_what_tables_hold(whole: Study, models: str, number: int) -> None:
    study = narrowed(whole, SETS[models], number)
    if not SETS[models]:
        assert all(model.startswith("builtin/") for model, _ in study.models)
    wrong = []
    for analyse in ANALYSES:
        one = analyse(study)
        if not isinstance(one, Analysis):
            continue
        missing = [text for text in CHECKS[one.name](one, study) if text not in one.reading]
        wrong += [(one.name, text, one.reading) for text in missing]
    assert wrong == []
