"""Preference pairs and demonstrations, worked by hand and as properties."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from datasets import load_from_disk
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversation, Conversations, load
from attune_data.errors import DataError, SettingsError, UnknownNameError
from attune_data.importing.imported import ALTERNATES, MODEL_REPLIES
from attune_data.selection import select
from attune_data.source.guard import BenchmarkTrainingError
from attune_episodes.training import demonstrations, preference_pairs

LONG: Final = "long " * 20_000
TEXTS: Final = {
    "original": "J'ai noté : ça t'a blessée.",
    "alternate": "🫂 هذا مؤلم حقًا",
    "human": LONG,
}


def comparison(question: str, one: str, two: str, winner: str | None) -> dict[str, Any]:
    return {"questionId": question, "responseA": one, "responseB": two, "winner": winner}


def turn(number: int, comparisons: list[dict[str, Any]], **texts: str | None) -> dict[str, Any]:
    said: dict[str, str | None] = {**TEXTS, **texts}
    return {
        "turnNumber": number,
        "userMessage": f"message {number} \u202eé",
        "llmResponse": said["original"],
        "annotations": {
            "alternateResponses": {"llmImproved": said["alternate"], "humanEdited": said["human"]},
            "pairwiseComparisons": comparisons,
        },
    }


def conversation(*turns: dict[str, Any], name: str = "c", **more: Any) -> Conversation:
    record = {"conversationId": name, "provenance": "own", "turns": list(turns)}
    return Conversation.model_validate(record | more)


def told(rows: Any) -> list[tuple[str, str, str]]:
    return [(row["id"], row["chosen_response"], row["rejected_response"]) for row in rows]


def test_which_comparisons_make_a_pair() -> None:
    about = conversation(
        turn(
            1,
            [
                comparison("general", "original", "alternate", "B"),  # alternate over original
                comparison("general", "alternate", "original", "A"),  # the same again: one row
                comparison("general", "original", "human", "A"),
                comparison("general", "human", "original", "A"),  # the opposite: neither
                comparison("general", "alternate", "human", None),  # nobody won
                comparison("PW4", "original", "alternate", "A"),  # another question
            ],
        )
    )
    assert told(preference_pairs([about])) == [("c/1/general/0", "alternate", "original")]
    both = preference_pairs([about], ["PW4", "general", "PW4"])
    assert told(both) == [
        ("c/1/general/0", "alternate", "original"),
        ("c/1/PW4/5", "original", "alternate"),
    ]
    assert both["question"] == ["general", "PW4"]


@pytest.mark.parametrize("text", ["", " \n", None, f"\n{TEXTS['original']} "])
def test_texts_that_are_missing_or_the_same_make_no_pair(text: str | None) -> None:
    listed = [
        comparison("general", "original", "alternate", "B"),
        comparison("general", "original", "human", "B"),
    ]
    about = conversation(turn(1, listed, alternate=text))
    assert told(preference_pairs([about])) == [("c/1/general/1", "human", "original")]


def test_the_prompt_is_the_conversation_up_to_the_message() -> None:
    listed = [comparison("general", "original", "human", "B")]
    about = conversation(
        turn(1, listed, original="first"), turn(3, listed), turn(2, listed, original="second")
    )
    rows = preference_pairs([about], system="Be brief.")
    assert rows["id"] == ["c/1/general/0", "c/2/general/0", "c/3/general/0"]
    assert rows[2]["prompt"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "message 1 \u202eé"},
        {"role": "assistant", "content": "first"},
        {"role": "user", "content": "message 2 \u202eé"},
        {"role": "assistant", "content": "second"},
        {"role": "user", "content": "message 3 \u202eé"},
    ]
    assert rows[2]["chosen"] == [{"role": "assistant", "content": LONG}]
    assert rows[2]["rejected"] == [{"role": "assistant", "content": TEXTS["original"]}]
    assert rows[0]["prompt"][0]["role"] == "system"
    assert preference_pairs([about])[0]["prompt"] == rows[0]["prompt"][1:]


def test_whose_pair_it_is_survives_a_save(tmp_path: Path) -> None:
    listed = [comparison("general", "original", "alternate", "B")]
    mine = conversation(turn(1, listed), name="é/1", participant_profile={"participant_id": "P 🙂"})
    yours = conversation(turn(1, listed), name="2")
    preference_pairs([mine, yours]).save_to_disk(tmp_path / "pairs")
    rows: Any = load_from_disk(tmp_path / "pairs")
    assert rows["conversation_id"] == ["é/1", "2"]
    assert rows["participant_id"] == ["P 🙂", "2"]  # without an id each conversation is a person of its own
    assert set(rows["provenance"]) == {"own"}
    assert rows[0]["chosen"][0]["content"] == TEXTS["alternate"]
    assert "provenance own" in rows.info.description


def test_demonstrations_are_the_edited_replies_with_what_they_won() -> None:
    listed = [
        comparison("general", "human", "original", "A"),  # won
        comparison("general", "alternate", "human", "A"),  # lost
        comparison("general", "human", "alternate", "A"),  # won
        comparison("general", "original", "human", None),  # nobody won
        comparison("general", "original", "alternate", "A"),  # about others
        comparison("PW4", "human", "original", "B"),  # another question
    ]
    about = conversation(
        turn(1, listed, human="  edited "), turn(2, []), turn(3, [], human=" "), turn(4, [], human=None)
    )
    rows = demonstrations([about], system="Be kind.")
    assert [(row["id"], row["won"], row["lost"]) for row in rows] == [
        ("c/1/human", 2, 1),
        ("c/2/human", 0, 0),
    ]
    assert rows[0]["completion"] == [{"role": "assistant", "content": "  edited "}]
    assert [message["role"] for message in rows[1]["prompt"]] == ["system", "user", "assistant", "user"]
    assert rows["turn"] == [1, 2]


def test_replies_of_models_are_no_demonstrations_unless_asked_for() -> None:
    mark = {"metadata": {ALTERNATES: MODEL_REPLIES}}
    models = conversation(turn(1, [], human="by another model"), name="m", **mark)
    bare = conversation(turn(1, [], human=None), name="bare", **mark)  # none in that slot
    edited = conversation(turn(1, []), name="c")
    with pytest.raises(DataError, match=r'"replies of models" in 1 of 3, the first "m"') as caught:
        demonstrations([edited, models, bare])
    advice = "alternates=unknown"
    assert advice in str(caught.value)
    left = select(Conversations([edited, models, bare]), advice)
    assert demonstrations(left)["id"] == demonstrations([edited, bare])["id"] == ["c/1/human"]
    rows = demonstrations([edited, models, bare], allow_model_replies=True)
    assert rows["id"] == ["c/1/human", "m/1/human"]
    assert "of 1 conversations: replies of models" in rows.info.description
    assert "replies of models" not in demonstrations([edited]).info.description


RESPONSES = st.sampled_from(["original", "alternate", "human"])
COMPARISONS = st.lists(
    st.builds(
        comparison,
        st.sampled_from(["general", "PW1"]),
        RESPONSES,
        RESPONSES,
        st.sampled_from(["A", "B", None]),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(COMPARISONS, st.lists(st.sampled_from(["a", "b", " a", ""]), min_size=3, max_size=3))
def test_pairs_are_what_was_chosen_and_never_told_both_ways(
    listed: list[dict[str, Any]], texts: list[str]
) -> None:
    said = dict(zip(TEXTS, texts, strict=True))
    about = conversation(turn(1, listed, **said), turn(2, [comparison("general", "original", "human", "A")]))
    chosen = set()
    for one in listed:
        if one["winner"] is not None:
            pair = (one["responseA"], one["responseB"])
            better, worse = (said[name].strip() for name in (pair if one["winner"] == "A" else pair[::-1]))
            if better and worse and better != worse:
                chosen.add((one["questionId"], better, worse))
    wanted = {(q, better, worse) for q, better, worse in chosen if (q, worse, better) not in chosen}
    rows = [row for row in preference_pairs([about], ["general", "PW1"]) if row["turn"] == 1]
    made = [
        (r["question"], r["chosen"][0]["content"].strip(), r["rejected"][0]["content"].strip()) for r in rows
    ]
    assert len(made) == len(set(made))
    assert set(made) == wanted
    assert len({row["id"] for row in rows}) == len(rows)


@pytest.mark.parametrize("make", [preference_pairs, demonstrations])
def test_benchmark_records_are_refused_or_marked(make: Any) -> None:
    unmarked = [about.model_copy(update={"provenance": None}) for about in load("sample")[:2]]
    with pytest.raises(BenchmarkTrainingError, match="sample-01"):
        make(unmarked)
    rows = make([*unmarked, *load("sample")[2:3]], allow_benchmark_training=True)
    assert rows["provenance"][0] == "benchmark"
    assert rows["provenance"][-1] == "own"
    assert "forbid training" in rows.info.description


NO_QUESTIONS: Final[list[Any]] = ["general", [], None]
BARE: Final = [conversation(turn(1, [comparison("PW4", "original", "human", "B")], human=""))]


@pytest.mark.parametrize(("make", "given", "error", "words"), [
    *((make, given, TypeError, "must be a sequence")
      for make in (preference_pairs, demonstrations)
      for given in ("sample", load("sample")[0], iter(load("sample")), 3, None)),
    (partial(preference_pairs, questions=["PW01"]), BARE, UnknownNameError, r"did you mean 'PW1'.*general"),
    *((partial(preference_pairs, **{"questions": none}), BARE, SettingsError, "general")
      for none in NO_QUESTIONS),
    (preference_pairs, [], DataError, "at least one"),
    (preference_pairs, BARE, DataError, "comparison on general with a winner"),
    (demonstrations, BARE, DataError, "human-edited reply"),
])  # fmt: skip
def test_what_makes_no_row_is_refused_with_what_was_looked_for(
    make: Any, given: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        make(given)
