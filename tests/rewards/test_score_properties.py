"""What the table of written numbers claims holds, and it lists every number that is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversation
from attune_rewards import STAGES, ConversationPrediction, Judged, Stage, TurnPrediction, score_conversation
from attune_rewards.truth import truth_of
from tests.rewards.answers import copied, corrected, reordered, silenced
from tests.rewards.builders import gold, judgement, prediction
from tests.rewards.score_table import (
    ABOUT,
    NAMES,
    OVER_WHAT_WAS_ASKED,
    QUIETER,
    RIGHTER,
    TABLE,
    UNANNOTATED,
    Name,
    written,
)
from tests.rewards.strategies import conversations, scored

QUICK = settings(max_examples=50)
Played = tuple[Conversation, ConversationPrediction]
Found = dict[int | None, dict[str, float | None]]


def found_in(about: Conversation, said: ConversationPrediction) -> Found:
    return written(score_conversation(about, said))


def each(found: Found) -> Iterator[tuple[Name, float | None]]:
    for values in found.values():
        for name, value in values.items():
            assert name in TABLE, f"{name} is written; declare it in tests/rewards/score_table.py"
            yield TABLE[name], value


def moves(before: Found, after: Found) -> Iterator[tuple[Name, float | None, float | None]]:
    """Every number with a better side that was defined, then and now (in the turns that are in both)."""
    for place in before.keys() & after.keys():
        for name, old in before[place].items():
            if TABLE[name].gold is not None and old is not None:
                yield TABLE[name], old, after[place].get(name)


def in_range(row: Name, value: float | None) -> bool:
    return value is None or row.low - 1e-12 <= value <= row.high + 1e-9


def gain(row: Name, old: float, new: float) -> float:
    return old - new if row.lower else new - old


def paid_for_silence(about: Conversation, said: ConversationPrediction) -> set[str]:
    """Names that got better or undefined, where the prediction said less."""
    before = found_in(about, said)
    return {
        row.name
        for quieter in silenced(said)
        for row, old, new in moves(before, found_in(about, quieter))
        if old is not None and (new is None or gain(row, old, new) > 1e-9)
    }


def hurt_by_fixing(about: Conversation, said: ConversationPrediction) -> set[str]:
    """Names that got worse where an answer was made right."""
    before = found_in(about, said)
    return {
        row.name
        for better in corrected(about, said)
        for row, old, new in moves(before, found_in(about, better))
        if old is not None and new is not None and gain(row, old, new) < -1e-9
    }


def names_of(rows: Iterable[Name]) -> set[str]:
    return {row.name for row in rows}


def all_told(about: Conversation) -> Conversation:
    """With a yes and a no on both sides, an intensity of every tag and a human response in every turn."""
    record = about.to_record()
    for turn in record["turns"]:
        for tag in turn["moodShiftTags"]:
            tag["intensity"] = tag.get("intensity") or 4
        turn["annotations"]["binaryJudgements"] += [
            judgement("X1", "yes", "yes"),
            judgement("X2", "no", "no"),
        ]
        turn["annotations"]["alternateResponses"]["humanEdited"] = "I hear you"
    return Conversation.model_validate(record)


IDEAL = conversations(full=True).map(all_told)


def perfect(about: Conversation) -> ConversationPrediction:
    """The gold answers, with a judge who finds the draft perfect."""
    said, truth = gold(about), truth_of(about)
    judged = {t.turn: Judged({"helpfulness": 7}, dict(t.preferred)) for t in truth.turns}
    return replace(said, turns={n: replace(t, judged=judged[n]) for n, t in said.turns.items()})


# --- the table and what is written -------------------------------------------------------------------------


def test_the_table_lists_what_is_written_and_nothing_else() -> None:
    some = replace(perfect(ABOUT), not_asked=frozenset({"reflect"}))
    names = {name for said in (perfect(ABOUT), some) for v in found_in(ABOUT, said).values() for name in v}
    annotated_only = {f"strict_parts/{leaf}" for leaf in ("q2", "q3")}  # not annotated in ABOUT
    assert len(TABLE) == len(NAMES)
    assert names == set(TABLE) - annotated_only


def test_no_strict_number_pays_for_silence_or_punishes_a_right_answer() -> None:
    strict = [row for row in NAMES if row.kind == "strict"]
    assert len(strict) > 15
    assert not any(row.silence_pays or row.fixing_hurts for row in strict)


@given(scored())
def test_every_number_stays_in_its_range_and_is_defined_unless_declared(pair: Played) -> None:
    for row, value in each(found_in(*pair)):
        assert in_range(row, value), row.name
        assert value is not None or row.undefined, row.name


def test_what_may_be_undefined_is_so_where_nothing_is_annotated() -> None:
    silent, absent = found_in(UNANNOTATED, prediction(TurnPrediction(1))), found_in(UNANNOTATED, prediction())
    defined = [silent[1] | silent[None], silent[1] | absent[None]]
    undefined = {name for name in TABLE if any(values.get(name) is None for values in defined)}
    assert undefined == names_of(row for row in NAMES if row.undefined)


@QUICK
@given(IDEAL)
def test_the_right_answers_earn_gold_on_a_fully_annotated_conversation(about: Conversation) -> None:
    for row, value in each(found_in(about, perfect(about))):
        if row.gold is not None:
            assert (value is None and row.undefined) or value == pytest.approx(row.gold, abs=1e-9), row.name


@QUICK
@given(conversations())
def test_the_right_answers_earn_gold_in_the_strict_reading_whatever_is_annotated(about: Conversation) -> None:
    for row, value in each(found_in(about, gold(about))):
        if row.kind == "strict" and value is not None:
            assert value == pytest.approx(row.gold, abs=1e-9), row.name


# --- the same answers ------------------------------------------------------------------------------------


@QUICK
@given(scored())
def test_the_same_answers_always_give_the_same_numbers(pair: Played) -> None:
    first = score_conversation(*pair)
    assert score_conversation(*copied(*pair)) == first
    assert score_conversation(*pair) == first


@QUICK
@given(scored(), st.integers(0, 999))
def test_the_order_of_annotations_and_answers_moves_no_number(pair: Played, seed: int) -> None:
    before, after = found_in(*pair), found_in(*reordered(*pair, seed))
    assert before.keys() == after.keys()
    for place, values in before.items():
        assert after[place] == pytest.approx(values, abs=1e-9)


# --- one answer more or less -------------------------------------------------------------------------------


@QUICK
@given(scored())
def test_silence_pays_only_where_the_table_says_so(pair: Played) -> None:
    assert paid_for_silence(*pair) <= names_of(row for row in NAMES if row.silence_pays)


def test_where_silence_is_said_to_pay_it_does() -> None:
    assert paid_for_silence(ABOUT, QUIETER) == names_of(row for row in NAMES if row.silence_pays)


@QUICK
@given(scored())
def test_a_right_answer_costs_only_where_the_table_says_so(pair: Played) -> None:
    assert hurt_by_fixing(*pair) <= names_of(row for row in NAMES if row.fixing_hurts)


def test_where_a_right_answer_is_said_to_cost_it_does() -> None:
    assert hurt_by_fixing(ABOUT, RIGHTER) == names_of(row for row in NAMES if row.fixing_hurts)


@QUICK
@given(scored(), st.sets(st.sampled_from(STAGES), min_size=1))
def test_a_number_is_none_without_its_stages_and_unmoved_by_others(pair: Played, left: set[Stage]) -> None:
    about, said = pair
    asked, found = found_in(about, said), found_in(about, replace(said, not_asked=frozenset(left)))
    assert asked.keys() == found.keys()
    assert all(in_range(row, value) for row, value in each(found))
    for place in asked:
        for name in asked[place].keys() - OVER_WHAT_WAS_ASKED:
            if TABLE[name].needs & left:
                assert found[place].get(name) is None, name
            else:
                assert found[place][name] == asked[place][name], name
