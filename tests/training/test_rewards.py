"""Reward functions: the very scores of `score_row`, one part at a time, as trainers call them."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import datasets
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import DataError, SettingsError, UnknownNameError
from attune_data.format.constants import Q2_OPTIONS
from attune_data.version import SCORING_VERSION
from attune_episodes import Request, parse, score_row
from attune_episodes.training import (
    PartReward,
    check_rows,
    reward_functions,
    row_reward,
    scoring,
    training_dataset,
)
from attune_rewards import RewardSpec
from tests.play.players import example
from tests.rewards.builders import summing
from tests.training.batches import BROKEN, SPECS, called, messages, replies, rows_of

Row = dict[str, Any]


def by_name(spec: RewardSpec | str = "composite") -> dict[str, PartReward]:
    return {function.part: function for function in reward_functions(spec)}


def row_at(stage: str, reward: str = "composite") -> Row:
    rows: list[Row] = list(training_dataset([example().marked("own")], reward=reward))
    return next(row for row in rows if row["stage"] == stage)


def values(function: Any, row: Row, text: str) -> float | None:
    (value,) = function(**called([row], [text]))
    assert value is None or isinstance(value, float)
    return value


# --- by hand -------------------------------------------------------------------------------------


def test_weights_are_shares_of_a_row_of_the_stage() -> None:
    weights = {name: function.weight for name, function in by_name().items()}
    # assess holds .24/2, .24/2, .245/2, .245/2 of the Composite, .485 in all
    assert weights["emotion_f1"] == pytest.approx(0.12 / 0.485)
    assert weights["binary_hp"] == pytest.approx(0.1225 / 0.485)
    assert weights["pairwise"] == pytest.approx(1.0)
    # reflect: .4 PANAS in two, .3 questions in four, .3 branches in four
    assert weights["panas_pa"] == pytest.approx(0.2)
    assert weights["q1"] == weights["branch_managing"] == pytest.approx(0.075)


def test_where_parts_are_not_annotated_the_others_stand_for_them() -> None:
    # of PANAS only one side, of four questions one, of four branches one: shares .4, .3, .3 of the row
    text = json.dumps(
        {
            "post_panas": summing(35, 20),
            "q2_emotionClarity": Q2_OPTIONS[1],
            "fourBranchScores": {"perceiving": 3},
        }
    )
    got = {name: values(function, row_at("reflect"), text) for name, function in by_name().items()}
    assert {name: value for name, value in got.items() if value is not None} == pytest.approx({
        "panas_pa": 0.75 * 0.4 / 0.2,
        "q2": 0.0,
        "branch_perceiving": 2 / 3 * 0.3 / 0.075,
    })  # fmt: skip
    paid = sum(by_name()[name].weight * value for name, value in got.items() if value is not None)
    assert paid == pytest.approx(0.4 * 0.75 + 0.3 * 2 / 3)  # the row's reward: 0.5


# --- the same as the direct call ------------------------------------------------------------------


@pytest.mark.parametrize("wrapped", [True, False])
@pytest.mark.parametrize("name", sorted(SPECS))
def test_weighted_parts_sum_to_the_rows_reward_and_the_row_reward_is_it(name: str, wrapped: bool) -> None:
    pairs = [(row, text) for row in rows_of(name)[::4] for text in (*replies()[row["id"]], "no JSON")]
    rows = [row for row, _ in pairs]
    arguments = called(rows, [messages(text) if wrapped else text for _, text in pairs])
    functions = reward_functions(SPECS[name], rows_of(name))
    columns = [function(**arguments) for function in functions]
    whole = row_reward(**arguments)
    for index, (row, text) in enumerate(pairs):
        want = score_row(row, text)
        assert want.value is not None
        got = {f.part: column[index] for f, column in zip(functions, columns, strict=True)}
        assert {part for part, value in got.items() if value is not None} == set(want.parts)
        paid = sum(f.weight * (got[f.part] or 0.0) for f in functions)
        assert paid == pytest.approx(want.value, abs=1e-12)
        assert whole[index] == want.value


@given(
    text=st.text() | st.sampled_from(BROKEN) | st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(
            st.sampled_from(["emotions", "emotion", "observed", "B1", "picks", "1", "q1_lookingFor"]), inner
        ),
        max_leaves=12,
    ).map(json.dumps),
    row=st.sampled_from(rows_of("skill")),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_whatever_a_model_writes_is_scored_as_score_row_scores_it(text: str, row: Row) -> None:
    assert row_reward(completions=[messages(text)], truth=[row["truth"]]) == [score_row(row, text).value]
    for function in FUNCTIONS:
        (value,) = function(completions=[text], truth=[row["truth"]])
        assert value is None or isinstance(value, float)


FUNCTIONS = reward_functions("skill")


# --- how trainers call ------------------------------------------------------------------------------


def test_functions_and_their_pickles_are_equal_and_work() -> None:
    functions: list[Any] = [*reward_functions("skill"), row_reward]
    again = [pickle.loads(pickle.dumps(function)) for function in functions]
    assert again == functions
    assert len({hash(function) for function in functions[:-1]}) == len(functions) - 1
    row = rows_of("skill")[0]
    arguments = called([row], [messages("no JSON")])
    for one, other in zip(functions, again, strict=True):
        assert one(**arguments) == other(**arguments)


# --- logs -------------------------------------------------------------------------------------------


def test_parts_and_parse_rate_are_logged_once_for_all_functions_and_again_for_the_next_batch() -> None:
    rows = [row_at("assess"), row_at("assess"), row_at("prefer")]
    texts = ['{"emotions": [{"emotion": "Upset", "intensity": 5}]}', "sad", '{"picks": {}}']
    metrics: list[tuple[str, float]] = []
    extras: list[tuple[str, list[Any]]] = []
    logs = {
        "log_metric": lambda *entry: metrics.append(entry),
        "log_extra": lambda *entry: extras.append(entry),
    }
    for _ in range(2):
        for function in reward_functions("composite"):
            function(**called(rows, texts, **logs))
        # two of three were read; the tags of one of the two assess rows are right, and nothing else
        assert dict(metrics) == pytest.approx({
            "attune/parse_rate": 2 / 3, "attune/emotion_f1": 0.5, "attune/emotion_va": 0.5,
            "attune/binary_om": 0.0, "attune/binary_hp": 0.0, "attune/pairwise": 0.0,
        })  # fmt: skip
    assert len(metrics) == 2 * 6
    assert extras == [("attune_reason", ["ok", "unparsed:no_json", "ok"])] * 2
    row_reward(**called(rows, texts, **logs))
    assert metrics[12:] == metrics[:6]


def test_a_batch_is_read_once_however_many_functions_see_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(request: Request, text: str) -> Any:
        read.append(text)
        return parse(request, text)

    monkeypatch.setattr(scoring, "parse", counted)
    rows = rows_of("composite")[:3]
    for function in reward_functions("composite"):
        function(**called(rows, ["counted 1", "counted 2", "counted 3"]))
    assert read == ["counted 1", "counted 2", "counted 3"]


# --- refused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("spec", "error", "words"), [
    ("skil", UnknownNameError, r"no reward preset .*named .*skil.*did you mean 'skill'"),
    (RewardSpec.weighted("q", {"q1": 1}).terminal(), SettingsError, "terminal"),
    (3, TypeError, "RewardSpec or the name of a preset, got int"),
])  # fmt: skip
def test_a_reward_that_rows_cannot_have_is_refused(spec: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        reward_functions(spec)


def test_rows_without_the_column_are_refused_at_set_up_and_at_the_first_call() -> None:
    rows = training_dataset("sample", reward="composite")
    with pytest.raises(DataError, match=r"rows: truth: found the columns prompt, id, .*keep that column"):
        reward_functions("composite", rows.remove_columns(["truth"]))
    with pytest.raises(DataError, match="truth: found none"):
        row_reward(prompts=["x"], completions=["x"])
    without: Any
    for without in ([], [{"prompt": "x"}], [{"truth": None}], [{"truth": 3}], [{"truth": "{}"}]):
        with pytest.raises(DataError, match=r"rows: truth: found|row: truth: found"):
            check_rows(without)
    for other in ("sample", {"truth": ["x"]}, 3, iter(rows)):
        with pytest.raises(TypeError, match="expected a Dataset or a list of rows"):
            check_rows(other)


def test_a_row_deep_in_the_table_is_found() -> None:
    rows = [dict(row) for row in rows_of("composite")]
    check_rows(rows, "composite")
    rows[-1]["truth"] = rows[-1]["truth"].replace(f'"scoring":"{SCORING_VERSION}"', '"scoring":"v9"')
    with pytest.raises(DataError, match=r'found scoring version "v9".*make the rows again'):
        check_rows(rows)


def test_rows_of_another_reward_are_refused_at_set_up_and_at_the_first_call() -> None:
    skill, composite, emotion = (rows_of(name) for name in ("skill", "composite", "emotion"))
    stream = datasets.IterableDataset.from_generator(partial(iter, emotion))
    # the parts and nulls of emotion are among those of composite, only its weights are others
    for rows in (emotion, training_dataset("sample", reward="emotion"), stream):
        with pytest.raises(
            SettingsError, match=r'made with reward "emotion", the reward functions with "comp'
        ):
            reward_functions("composite", rows)
        check_rows(rows, "emotion")
        check_rows(rows)
    # without the name of their reward the parts and nulls are all that rows tell
    nameless = [{"truth": row["truth"]} for row in skill]
    with pytest.raises(SettingsError, match=r"'emotion_f1' measured from 0\.\d+, but reward 'composite'"):
        reward_functions("composite", nameless)
    with pytest.raises(SettingsError, match="reward 'emotion' has no such part"):
        reward_functions("emotion", [{"truth": row["truth"]} for row in composite])
    with pytest.raises(SettingsError, match="reward 'emotion' has no such part"):
        reward_functions("emotion")[0](**called(composite[:3], ["x"] * 3))


@pytest.mark.parametrize("completions", [None, "text", 3, [3], [["text"]]])
def test_completions_of_an_unknown_shape_are_refused(completions: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a (text|list)"):
        row_reward(completions=completions, truth=[rows_of("composite")[0]["truth"]])


def test_rows_of_another_task_are_none() -> None:
    row = row_at("assess")
    mixed: dict[str, Any] = {"completions": ["x", "y"], "truth": [row["truth"], None]}
    logged: dict[str, float] = {}
    functions = reward_functions("composite", [row, {"prompt": "2 + 2"}])
    assert functions[0](**mixed, log_metric=logged.__setitem__) == row_reward(**mixed) == [0.0, None]
    assert logged["attune/unscored"] == 0.5
    rows = [*rows_of("skill")[:2], {"truth": None, "reward": "exact match"}]
    check_rows(rows, "skill")
    check_rows(datasets.Dataset.from_list(rows), "skill")


WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(["attune_env", "datasets", "gymnasium", "pandas", "trl", "verifiers"]))
"""


def test_the_pages_block_on_training_with_the_lower_floors_alone_needs_no_framework() -> None:
    page = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    block = re.findall(r"(?ms)^```python\n(.*?)^```$", page)[-1]
    done = subprocess.run([sys.executable, "-c", WITHOUT + block], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout in page
