"""PRISM: which reply stands in the thread, who won which comparison, and whose demographics are imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attune_data import Conversation
from attune_data.format.schema import PairwiseComparison, Turn
from attune_data.importing import Imported, import_prism
from tests.data.builders import Json
from tests.data.importing.exports import (
    first_turn,
    message,
    real_prism,
    real_survey,
    reply,
    tree,
    write_prism,
)
from tests.data.importing.test_esconv import counts, texts


def imported(folder: Path, *trees: Any, survey: Any = None, pairs: Any = "all") -> Imported:
    return import_prism(write_prism(folder / "prism", trees, survey), pairs=pairs)


def one(folder: Path, *history: Json) -> Conversation:
    (conversation,) = imported(folder, tree("c0", *history)).conversations
    return conversation


def won(comparison: PairwiseComparison) -> str | None:
    """The name of the response that won."""
    if comparison.winner is None:
        return None
    return comparison.response_a if comparison.winner == "A" else comparison.response_b


def outcomes(turn: Turn) -> dict[frozenset[str], str | None]:
    """The two responses of each comparison -> the winner."""
    return {frozenset([c.response_a, c.response_b]): won(c) for c in turn.comparisons}


def test_a_real_export_loads_whole_and_is_counted(tmp_path: Path) -> None:
    result = imported(tmp_path, *real_prism(), survey=real_survey())
    assert [c.conversation_id for c in result.conversations] == ["prism-c0", "prism-c1"]
    assert counts(result) == {
        "turns with comparisons": 2,  # of c0; c1 has one reply alone, and two of the same words
        "comparisons with a winner": 3,  # of the first turn's three one is a tie; one of the second
        "comparisons without a winner": 1,
        "demographics": 1,
        "replies beyond two alternates": 1,
        "replies with the text of another": 1,
        "performance attributes": 2,
        "choice attributes": 2,
        "open feedback": 2,
        "conversations without demographics": 1,
        "other answers of the survey": 2,  # religion, self_description
        "other fields": 10,  # opening_prompt, conversation_turns, datetime, timing, subset; twice
    }
    assert result.conversations.left_out == ()
    told, slot = result.notes
    assert told.startswith("the reply in the thread wins 2 of the 2 comparisons that it stands in")
    assert slot.startswith("humanEdited holds a model's reply in 1 of 4 turns")


def test_the_chosen_reply_stands_in_the_thread_and_two_others_beside_it(tmp_path: Path) -> None:
    first, second = one(tmp_path, *real_prism()[0]["conversation_history"]).turns
    assert first.responses == {"original": "first 1", "alternate": "first 0", "human": "first 2"}
    assert second.responses == {
        "original": "Say goodbye warmly.",
        "alternate": "Then stay a little.",
        "human": None,
    }
    assert [turn.turn_number for turn in (first, second)] == [1, 2]


def test_the_higher_score_wins_and_equal_scores_have_no_winner(tmp_path: Path) -> None:
    (turn,) = one(tmp_path, *first_turn(40, 90, 90, chosen=1)).turns
    assert outcomes(turn) == {
        frozenset(["original", "alternate"]): "original",
        frozenset(["original", "human"]): None,
        frozenset(["alternate", "human"]): "human",
    }
    assert {c.question_id for c in turn.comparisons} == {"general"}
    assert turn.annotations is not None
    assert turn.annotations.selected_pairwise_questions == ("general",)


def test_what_was_not_scored_is_not_compared(tmp_path: Path) -> None:
    result = imported(tmp_path, tree("c0", *first_turn(40, None, 90, chosen=2)))
    (turn,) = result.conversations[0].turns
    assert outcomes(turn) == {frozenset(["original", "alternate"]): "original"}
    assert counts(result)["comparisons without both scores"] == 2


def test_the_winner_stands_on_both_sides_about_equally_often(tmp_path: Path) -> None:
    trees = [tree(f"c{i}", *first_turn(90, 10)) for i in range(200)]
    winners = [c.turns[0].comparisons[0].winner for c in imported(tmp_path, *trees).conversations]
    assert 70 <= winners.count("A") <= 130  # 100 ± 4.2 standard deviations of 7.07
    again = imported(tmp_path, *trees).conversations
    assert [c.turns[0].comparisons[0].winner for c in again] == winners


def test_pairs_of_alternates_alone_leave_the_thread_out(tmp_path: Path) -> None:
    trees = real_prism()
    result = imported(tmp_path, *trees, pairs="alternates")
    first, second = result.conversations[0].turns
    assert outcomes(first) == {frozenset(["alternate", "human"]): "human"}
    assert second.comparisons == ()
    assert counts(result)["comparisons with the reply in the thread"] == 3
    assert [note.split()[0] for note in result.notes] == ["humanEdited"]


@pytest.mark.parametrize("unknown", [
    [reply(1, 0, "x", 5), reply(1, 1, "y", 9)],  # none is chosen
    [reply(1, 0, "x", 5, chosen=True), reply(1, 1, "y", 5, chosen=True)],  # two different ones are
    [],  # nobody replied
])  # fmt: skip
def test_a_conversation_ends_where_its_thread_is_not_known(tmp_path: Path, unknown: list[Json]) -> None:
    later = [message(2, "c"), reply(2, 0, "z", 5, chosen=True)]
    result = imported(tmp_path, tree("c0", *first_turn(9, 5), message(1, "b"), *unknown, *later))
    assert len(result.conversations[0].turns) == 1
    assert counts(result)["turns from where the thread is not known"] == 2


def test_a_conversation_without_any_known_reply_is_left_out_and_counted(tmp_path: Path) -> None:
    result = imported(tmp_path, tree("c0", message(0, "a")), tree("c1"), tree("c2", *first_turn(1)))
    assert [c.conversation_id for c in result.conversations] == ["prism-c2"]
    assert counts(result)["conversations that make none"] == 2
    assert [p.severity for p in result.conversations.left_out] == ["warning", "warning"]


def test_blank_and_repeated_alternates_are_counted_and_not_compared(tmp_path: Path) -> None:
    history = [message(0, "a"), *(reply(0, i, text, i, chosen=i == 0) for i, text in enumerate(["b", "b"]))]
    history += [reply(0, 2, " ", 4), reply(0, 3, "c", 5)]
    result = imported(tmp_path, tree("c0", *history))
    assert result.conversations[0].turns[0].responses == {"original": "b", "alternate": "c", "human": None}
    assert (counts(result)["blank alternates"], counts(result)["replies with the text of another"]) == (1, 1)


def test_the_model_is_named_where_the_whole_thread_is_its_own(tmp_path: Path) -> None:
    first, second = imported(tmp_path, *real_prism()).conversations
    assert first.metadata is not None
    assert second.metadata is not None
    # first turn by model-1, as the second; in the other conversation model-0, then model-a
    assert (first.metadata.model, second.metadata.model) == ("model-1", None)


def test_demographics_are_those_that_mean_the_same(tmp_path: Path) -> None:
    first, second = imported(tmp_path, *real_prism(), survey=real_survey()).conversations
    assert first.to_record()["participant_profile"] == {
        "participant_id": "prism-user0",
        "demographics": {
            "country": "Côte d'Ivoire",  # where they live; "Prefer not to say" in education is nothing said
            "gender": "Non-binary / third gender",
            "age_range": "25-34",
            "english_proficiency": "Fluent",
        },
    }
    assert second.to_record()["participant_profile"] == {"participant_id": "prism-user1"}


def test_what_may_be_missing_may_be_missing_and_turns_stand_by_their_numbers(tmp_path: Path) -> None:
    history = [part for turn in (2, 0, 1) for part in (reply(turn, 0, f"r{turn}"), message(turn, f"m{turn}"))]
    bare = {"conversation_id": "c9", "conversation_history": history}
    (conversation,) = imported(tmp_path, bare).conversations
    assert texts(conversation) == [("m0", "r0"), ("m1", "r1"), ("m2", "r2")]
