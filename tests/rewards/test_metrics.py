"""What holds of every metric of the registry: names, range, gold, silence, order, stages, gaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversation
from attune_rewards import (
    LEAVES,
    STAGES,
    ConversationPrediction,
    Judged,
    Stage,
    TurnPrediction,
    flatten,
    score_conversation,
)
from attune_rewards.metrics.metric import Metric, ReflectMetric, TurnMetric
from attune_rewards.metrics.registry import METRICS, SHOWN, better
from attune_rewards.metrics.tree import LEAF
from attune_rewards.truth import truth_of
from tests.rewards.answers import corrected, silenced
from tests.rewards.builders import conversation, gold, judgement, prediction, turn
from tests.rewards.strategies import conversations, scored
from tools.metric_reference import PAGE, rewritten

FEW = settings(max_examples=20)
Played = tuple[Conversation, ConversationPrediction]
Found = dict[tuple[int | None, str], float | None]
NAMED = {metric.name: metric for metric in METRICS}
STRICT = {f"strict_parts.{name}" for name in LEAVES} | {
    "strict_emotion", "strict_evaluation", "strict_holistic", "composite_strict", "answered_share"
}  # fmt: skip
PAYS_NO_SILENCE = {"pairwise_accuracy", "response_similarity", "response_similarity_human_edited",
                   "draft_judge_score", "draft_binary_alignment"}  # fmt: skip
"""Of a turn, in the canonical reading: elsewhere no answer may count as right."""


def found_in(about: Conversation, said: ConversationPrediction) -> Found:
    """(turn number or None, name) -> value, of every number that is written."""
    scores = score_conversation(about, said)
    found: Found = {
        (turn["turnNumber"], name): value
        for turn in scores["turn_scores"]
        for name, value in turn.items()
        if name != "turnNumber"
    }
    whole = {**scores, **scores["post_score"]}
    for name, value in whole.items():
        if isinstance(value, Mapping) and name != "post_score":
            found |= {(None, f"{name}.{key}"): inner for key, inner in value.items()}
        elif name not in ("turn_scores", "post_score"):
            found[None, name] = value
    return found


def metric_of(name: str) -> Metric:
    return NAMED[name.removeprefix("avg_").partition(".")[0]]


def gains(before: Found, after: Found) -> Iterator[tuple[str, float | None]]:
    """Name -> how much better each number that was defined and has a better side got; None: undefined."""
    for place, old in before.items():
        way = metric_of(place[1]).better
        # a turn that is gone altogether is no turn whose numbers got better
        if old is not None and way and (place[0] is None or place in after):
            new = after.get(place)
            yield place[1], None if new is None else (new - old) * (1 if way == "higher" else -1)


def all_told(about: Conversation) -> Conversation:
    """With a yes and a no on both sides, an intensity of every tag and a human response in every turn."""
    record = about.to_record()
    for here in record["turns"]:
        for tag in here["moodShiftTags"]:
            tag["intensity"] = tag.get("intensity") or 4
        questions = here["annotations"]["binaryJudgements"]
        questions += [judgement("X1", "yes", "yes"), judgement("X2", "no", "no")]
        here["annotations"]["alternateResponses"]["humanEdited"] = "I hear you"
    return Conversation.model_validate(record)


def perfect(about: Conversation) -> ConversationPrediction:
    """The gold answers, with a judge who finds the draft perfect."""
    said, truth = gold(about), truth_of(about)
    judged = {t.turn: Judged({"helpfulness": 7}, dict(t.preferred)) for t in truth.turns}
    return replace(said, turns={n: replace(t, judged=judged[n]) for n, t in said.turns.items()})


IDEAL = conversations(full=True).map(all_told)


# --- the registry ---------------------------------------------------------------------------------------


def test_every_metric_says_what_reports_and_readers_need() -> None:
    assert {metric.name for metric in SHOWN} < NAMED.keys()
    for metric in METRICS:
        assert metric.formula
        assert bool(metric.label) == (metric.role is not None), metric.name
        assert metric.low < metric.high, metric.name
        assert set(metric.needs) <= set(STAGES), metric.name
    for leaf in LEAF.values():
        assert all(leaf.text[:4]), leaf.name
        assert leaf.canonical is None or leaf.canonical in {metric.column for metric in METRICS}


INPUTS = {
    "avg_emotion_f1", "avg_emotion_va_score", "avg_binary_om_accuracy", "avg_binary_human_accuracy",
    "avg_pairwise_accuracy", "panas_baseline_adjusted", "q1_looking_for_score", "q2_emotion_clarity_match",
    "q3_model_fit_match", "q3_follow_up_score", "four_branch_normalized",
    "pillar_emotion", "pillar_evaluation", "pillar_holistic",
}  # fmt: skip
"""What the benchmark's Composite is made of."""


def test_the_inputs_of_the_composite_are_the_benchmarks() -> None:
    assert {metric.column for metric in SHOWN if metric.role == "input"} == INPUTS
    assert [metric.column for metric in SHOWN if metric.role == "total"] == ["composite_score"]


def test_the_reference_page_is_current() -> None:
    page = PAGE.read_text("utf-8")
    assert rewritten(page) == page, "write it again: python -m tools.metric_reference"
    assert all(f"`{name}`" in page for name in (*NAMED, *LEAF))


@pytest.mark.parametrize(("column", "way"), [
    ("avg_emotion_f1", "higher"), ("avg_pairwise_kendall_tau", "higher"), ("strict_q2", "higher"),
    ("composite_score", "higher"), ("pooled_binary_om_metrics.mcc", "higher"),
    ("avg_emotion_intensity_mae", "lower"), ("panas_item_mae", "lower"),
    ("q3_model_fit_ordinal_distance", "lower"), ("four_branch_error_managing", "lower"),
    ("perspective_gap_om_hp", None), ("hp_perspective_gap", None),
])  # fmt: skip
def test_which_side_of_a_column_is_better(column: str, way: str | None) -> None:
    assert better(column) == way


# --- values ---------------------------------------------------------------------------------------------


@FEW
@given(scored())
def test_every_number_is_in_its_range_and_defined_unless_its_metric_says_so(pair: Played) -> None:
    for (_, name), value in found_in(*pair).items():
        metric = metric_of(name)
        assert value is not None or metric.undefined, name
        assert value is None or metric.low - 1e-12 <= value <= metric.high + 1e-9, name
    for name in flatten(score_conversation(*pair)):
        assert better(name) in ("higher", "lower", None)


def test_what_may_be_undefined_is_so_where_nothing_is_annotated() -> None:
    about = conversation(turn(texts=("the original", None, None)))
    found = found_in(about, prediction(TurnPrediction(1))) | found_in(about, prediction(not_asked=["prefer"]))
    undefined = {metric_of(name).name for (_, name), value in found.items() if value is None}
    may_be = {metric.name for metric in METRICS if metric.undefined or "prefer" in metric.needs}
    assert undefined == may_be


@FEW
@given(IDEAL)
def test_the_right_answers_earn_gold_on_a_fully_annotated_conversation(about: Conversation) -> None:
    for (_, name), value in found_in(about, perfect(about)).items():
        metric = metric_of(name)
        if metric.better is None or value is None or name.endswith((".tp", ".tn", ".fp", ".fn")):
            continue
        if metric.name == "draft_binary_alignment_read":
            continue  # nobody knows the draft in which a reader finds exactly what was wanted
        best = 1.0 if name.startswith("pooled") else metric.low if metric.better == "lower" else metric.high
        assert value == pytest.approx(best, abs=1e-9), name


MAY_FALL = {"pairwise_kendall_tau", "draft_binary_alignment_read"}
"""Metrics that a better answer may lower: one pair put right can break another, and in a draft nearer to the
person's edit a reader need not find more of what was wanted."""


@FEW
@given(scored())
def test_strict_numbers_never_pay_for_silence_and_never_punish_a_correction(pair: Played) -> None:
    about, said = pair
    before = found_in(about, said)
    for quieter in silenced(said):
        for name, gain in gains(before, found_in(about, quieter)):
            if name in STRICT | PAYS_NO_SILENCE:
                assert gain is None or gain <= 1e-9, name
                assert gain is not None or name in PAYS_NO_SILENCE, name
    for nearer in corrected(about, said):
        for name, gain in gains(before, found_in(about, nearer)):
            if name in STRICT or (name in NAMED and isinstance(NAMED[name], (TurnMetric, ReflectMetric))):
                assert gain is None or gain >= -1e-9 or name in MAY_FALL, name


@FEW
@given(scored(), st.sets(st.sampled_from(STAGES), min_size=1))
def test_a_number_is_none_without_its_stages_and_unmoved_by_others(pair: Played, left: set[Stage]) -> None:
    about, said = pair
    asked, found = found_in(about, said), found_in(about, replace(said, not_asked=frozenset(left)))
    rest: Any = {"answered_share", "composite_partial"}  # about what was asked, whichever that is
    for place, value in asked.items():
        name = place[1]
        leaf = name.partition("strict_parts.")[2]
        needs = {LEAF[leaf].stage} if leaf else set(metric_of(name).needs)
        if needs & left:
            assert found.get(place) is None, name
        elif name not in rest:
            assert found[place] == value, name
