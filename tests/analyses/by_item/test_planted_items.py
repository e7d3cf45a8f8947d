"""Effects planted in single answers are found, and where nothing was planted nothing is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from attune_env.analyses import Study
from attune_env.analyses.by_item.binary import binary_questions
from attune_env.analyses.by_item.feelings import feelings
from attune_env.analyses.by_item.four_branches import four_branches
from attune_env.analyses.by_item.preference import preference_bias
from attune_env.analyses.by_item.stance import wordings
from attune_env.analyses.by_score.wording import excludes_zero
from attune_env.statistics.bootstrap import Interval
from tests.analyses.by_item.build import drawn, made, mean, row, rows, study_of
from tests.analyses.planted import people, reader, results_of
from tests.data.builders import Json

NUMBER = 40
HOSTILE = "<script>alert(1)</script>/$x^{ \u202e🏝️" + "long " * 40


def _nervous_as_hostile(record: Json) -> None:
    for turn in record["turns"]:
        for tag in turn["em_emotion_tags"] or ():
            if tag["emotion"] == "Nervous":
                tag["emotion"] = "Hostile"


def _always_no(record: Json) -> None:
    for turn in record["turns"]:
        for key in [key for key in turn if key.startswith("em_binary_")]:
            turn[key] = dict.fromkeys(turn[key], "no")


def _harsh(record: Json) -> None:
    wide = record["post_conversation"]["predicted_conversation_wide"]
    wide["fourBranchScores"]["managing"] = 1


CHANGED: dict[str, Callable[[Json], None]] = {
    "planted/calls-nervous-hostile": _nervous_as_hostile,
    "planted/always-no": _always_no,
    HOSTILE: _harsh,
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    talks = people(NUMBER)
    found = list(results_of(talks, [reader(n) for n in ("good", "good-twin", "position-biased", "no-gap")]))
    records: list[Json] = [dict(one.record) for one in found]
    for name, change in CHANGED.items():
        for one in found[:NUMBER]:
            copy: Json = json.loads(json.dumps(one.record)) | {"em_model": name}
            change(copy)
            records.append(copy)
    return study_of(tmp_path_factory.mktemp("planted"), talks, records)


def interval(cell: object) -> Interval:
    assert isinstance(cell, Interval)
    return cell


def test_the_models_that_like_a_side_or_a_length_are_found_and_no_others(study: Study) -> None:
    table = rows(made(preference_bias(study)), "preference_bias")
    first = {str(r["model"]): interval(r["position_bias"]) for r in table}
    longer = {str(r["model"]): interval(r["length_bias"]) for r in table}
    # half of the picks are the first reply: 1/2 - 1/2 x 1/2 more than people's half
    assert first["planted/position-biased"].mean == pytest.approx(0.25, abs=0.03)
    assert [name for name, one in first.items() if excludes_zero(one)] == ["planted/position-biased"]
    assert longer["planted/no-gap"].mean == pytest.approx(0.25, abs=0.05)
    assert [name for name, one in longer.items() if excludes_zero(one)] == ["planted/no-gap"]


def test_the_model_that_calls_nervous_hostile_is_found(study: Study) -> None:
    found = made(feelings(study))
    shares = {
        str(r["model"]): r["share_of_felt"]
        for r in rows(found, "feelings_confusion")
        if (r["felt"], r["read_as"]) == ("Nervous", "Hostile")
    }
    largest = max(shares, key=lambda name: float(str(shares[name])))
    assert largest == "planted/calls-nervous-hostile"
    assert float(str(shares[largest])) > 0.5


def test_the_model_that_always_says_no_is_found(study: Study) -> None:
    found = made(binary_questions(study))
    table = rows(found, "binary_answers")
    assert {r["model"] for r in table if mean(r["says_yes"]) == 0} == {"planted/always-no"}
    one = row(found, "binary_answers", model="planted/always-no", asked_about="did it (OM)")
    # it agrees as often as no is the truth
    assert mean(one["agreement"]) == pytest.approx(1 - float(str(one["true_yes_share"])))
    assert one["answered_here"] == 1.0


def test_the_model_that_underrates_one_branch_is_found(study: Study) -> None:
    table = rows(made(four_branches(study)), "four_branches")
    worst = min(table, key=lambda r: mean(r["signed_error"]))
    assert (worst["model"], worst["branch"]) == (HOSTILE, "managing")
    assert mean(worst["signed_error"]) < -2


def test_answers_that_change_with_the_wording_are_counted(study: Study) -> None:
    changed = made(wordings(study))
    fixed = row(changed, "wordings", model="planted/always-no", asked_about="wanted it (HP)")
    assert (mean(fixed["changed"]), mean(fixed["difference"])) == (0.0, 0.0)
    # good errs in one of six answers, each time anew: two answers differ in 2 x 1/6 x 5/6 = 28 % of them
    anew = row(changed, "wordings", model="planted/good", asked_about="wanted it (HP)")
    assert mean(anew["changed"]) == pytest.approx(0.28, abs=0.05)


def test_figures_and_tables_hold_whatever_a_model_is_called(study: Study) -> None:
    found = [made(analysis(study)) for analysis in (feelings, binary_questions, preference_bias)]
    named = ("feelings-error", "binary-questions-by-model", "preference-bias")  # these have models on an axis
    drawn([replace(one, figures=tuple(f for f in one.figures if f[0] in named)) for one in found])
    for analysis in found:
        for table in analysis.tables:
            assert "\u202e" not in table.csv_text()
        assert "\u202e" not in analysis.reading
