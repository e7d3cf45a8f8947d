"""Import by mapping: the ready-made maps on tables in their corpora's shape, the formats, and wrong maps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest

from attune_data import Conversation, UnknownNameError, load
from attune_data.importing import Imported, import_feelings, import_preferences
from attune_data.importing.mapping import FeelingsMap, PreferencesMap, ready_made
from attune_env import rollout, training_dataset
from attune_env.ladder.tasks import items
from attune_episodes import builtin_policy
from attune_episodes.training import demonstrations, preference_pairs
from tests.command import attune_here
from tests.data.builders import only_problem, write
from tests.data.importing import tables

OWN = """dataset = "Diary"
licence = "research only"
non_commercial = true

[columns]
text = "entry"
labels = "felt"
person = "who"

[labels]
happy = "Excited"
angry = ["Hostile", "Irritable"]
nothing = []
"""
ENTRIES = [
    {"who": "ana", "entry": "أخيرًا انتهيت 🎉", "felt": "Happy "},
    {"who": "ben", "entry": "line, " * 40_000, "felt": "angry"},
    {"who": "ben", "entry": "I slept.", "felt": "nothing"},
]

AS_CSV = tables.csv_text(list(ENTRIES[0]), *(list(row.values()) for row in ENTRIES))


def tags(conversation: Conversation) -> list[Any]:
    """The feelings of each turn; None if it is not annotated."""
    return [
        None
        if turn.mood_shift_tags is None
        else [(tag.emotion, tag.intensity) for tag in turn.mood_shift_tags]
        for turn in conversation.turns
    ]


def texts(conversation: Conversation) -> list[tuple[str, str]]:
    return [(turn.user_message, turn.llm_response) for turn in conversation.turns]


def left(result: Imported) -> dict[str, int]:
    return {count.what: count.count for count in result.left}


def own(folder: Path, text: str = OWN) -> Path:
    return write(folder / "map.toml", text)


def test_every_ready_made_map_has_a_table_here() -> None:
    assert ready_made(FeelingsMap) == ("crowd-envent", "empathetic-dialogues", "isear", "worry")
    assert ready_made(PreferencesMap) == ("arena", "helpsteer3")


def test_isear(tmp_path: Path) -> None:
    result = import_feelings(tables.isear(tmp_path), "isear")
    joy, disgust, guilt = result.conversations
    assert texts(joy) == [("When the exam was over and the sun was out.", "")]
    # 1 + 6 (x - 1) / 3 for x of 1 to 4: 4 -> 7, 2 -> 3, 1 -> 1
    assert [tags(one) for one in (joy, disgust, guilt)] == [
        [[("Enthusiastic", 7)]], [[("Hostile", 3)]], [[("Guilty", 1)]],
    ]  # fmt: skip
    assert [one.participant for one in result.conversations] == ["isear-11", "isear-11", "isear-12"]
    assert left(result) == {'SIT "[ No response.]"': 1}
    assert joy.to_record()["metadata"] == {
        "dataset": "ISEAR", "licence": "CC BY-NC-SA 3.0", "non_commercial": True, "record": "isear.csv:2",
        "labels": ["joy"], "replies": "none",
    }  # fmt: skip


def test_isear_in_an_older_encoding(tmp_path: Path) -> None:
    path = tables.isear(tmp_path)
    path.write_bytes(path.read_text(encoding="utf-8").encode("latin-1"))
    assert "«best»" in import_feelings(path, "isear").conversations[1].turns[0].user_message


def test_crowd_envent(tmp_path: Path) -> None:
    result = import_feelings(tables.crowd_envent(tmp_path), "crowd-envent")
    # 1 + 6 (x - 1) / 4: 5 -> 7, 2 -> 2.5, rounded to 3; no emotion is a list without feelings
    assert list(map(tags, result.conversations)) == [[[("Proud", 7)]], [[]], [[("Afraid", 3)]]]
    assert result.conversations[0].conversation_id == "crowd-enVent_generation-7"
    assert left(result) == {'emotion "surprise"': 1}


def test_empathetic_dialogues_labels_the_first_message_alone(tmp_path: Path) -> None:
    result = import_feelings(tables.empathetic(tmp_path), "empathetic-dialogues")
    steps, tomatoes = result.conversations
    assert texts(steps) == [
        ('I heard steps, and "nobody" was there', "How awful! When?"), ("Last night", "Are you safe now?"),
    ]  # fmt: skip
    assert tags(steps) == [[("Scared", None)], None]
    assert (texts(tomatoes), tags(tomatoes)) == ([("My first tomatoes 🍅", "")], [[("Proud", None)]])
    assert left(result) == {'context "nostalgic"': 1, "messages after the last reply": 1}
    assert "replies" not in steps.to_record()["metadata"]


def test_worry_counts_ratings_from_six_up(tmp_path: Path) -> None:
    result = import_feelings(tables.worry(tmp_path), "worry")
    first, third = result.conversations
    assert first.turns[0].user_message == "First line,\nsecond line."
    # 1 + 6 (x - 1) / 8: anger 6 -> 4.75 -> 5, disgust 7 -> 5.5 -> 5, the higher counts; anxiety 9 -> 7
    assert dict(tags(first)[0]) == {"Hostile": 5, "Nervous": 7}
    assert tags(third) == [[("Enthusiastic", 5)]]
    assert left(result) == {"rows in which no rating is high enough": 1}


@pytest.mark.parametrize(("make", "name", "expected", "out"), [
    (tables.helpsteer3, "helpsteer3",
     [(2, "Mir ist kalt.", "Nimm eine Decke.", "Aha."), (1, "Darf ich?", "Ja, gern.", "Nein.")],
     {"ties": 1, "rows of which replies are equal or blank": 1, "system messages": 1}),
    (tables.arena, "arena",
     [(1, "Is it rude to leave early? 🥳", "Not if you say bye.", "Yes."), (1, "سؤال", "جواب", "لا")],
     {'winner "tie (bothbad)"': 1, "chats that differ before the last reply": 1}),
])  # fmt: skip
def test_the_preferred_reply_is_the_chosen_one(
    tmp_path: Path, make: Callable[[Path], Path], name: str, expected: Any, out: dict[str, int]
) -> None:
    result = import_preferences(make(tmp_path), name)
    pairs = list(preference_pairs(result.conversations))
    assert left(result) == out
    replies = ("prompt", "chosen", "rejected")
    assert [(row["turn"], *(row[name][-1]["content"] for name in replies)) for row in pairs] == expected
    # the first reply of the row stands in the thread, whether it won or not
    assert {row["chosen_response"] for row in pairs} == {"original", "alternate"}


def test_ratings_of_three_replies(tmp_path: Path) -> None:
    mapping = own(
        tmp_path,
        """dataset = "D"
licence = "CC0-1.0"
[columns]
messages = "prompt"
replies = ["a", "b", "c"]
ratings = ["ra", "rb", "rc"]
""",
    )
    table = tables.lines(
        tmp_path / "t.jsonl", {"prompt": "p", "a": "1", "b": "2", "c": "3", "ra": 1, "rb": "2", "rc": 2}
    )
    (conversation,) = import_preferences(table, mapping).conversations
    won = {
        frozenset({pair.response_a, pair.response_b}): (pair.response_a, pair.response_b)[pair.winner == "B"]
        for pair in conversation.turns[0].comparisons
    }
    # b and c are equal, and so not compared
    assert won == {
        frozenset({"original", "alternate"}): "alternate",
        frozenset({"original", "human"}): "human",
    }
    with pytest.raises(ValueError, match="replies of models"):  # nobody edited what humanEdited holds
        demonstrations([conversation])


def saved(path: Path) -> str:
    datasets.Dataset.from_list(ENTRIES).save_to_disk(str(path))
    return str(path)


def parquet(path: Path) -> str:
    datasets.Dataset.from_list(ENTRIES).to_parquet(f"{path}.parquet")
    return f"{path}.parquet"


@pytest.mark.parametrize("make", [
    lambda path: str(tables.lines(Path(f"{path}.jsonl"), *ENTRIES)),
    lambda path: str(write(Path(f"{path}.json"), ENTRIES)),
    lambda path: str(write(Path(f"{path}.csv"), AS_CSV)),
    saved,
    parquet,
])  # fmt: skip
def test_every_format_gives_the_same_conversations(tmp_path: Path, make: Callable[[Path], str]) -> None:
    result = import_feelings(make(tmp_path / "diary"), own(tmp_path))
    assert [texts(one) for one in result.conversations] == [[(row["entry"].strip(), "")] for row in ENTRIES]
    assert list(map(tags, result.conversations)) == [
        [[("Excited", None)]], [[("Hostile", None), ("Irritable", None)]], [[]],
    ]  # fmt: skip
    assert [one.participant for one in result.conversations] == ["diary-ana", "diary-ben", "diary-ben"]


@pytest.mark.parametrize(("rows", "where", "place", "found", "expected"), [
    ("entry,felt\n", 1, None, None, None),
    ("who,entry,felt\na,b,happy\na,b,grumpy\n", 3, "felt", '"grumpy"',
     "one of the map's labels: happy, angry, nothing"),
    ("who,entry,feelings\na,b,happy\n", 2, "felt", "no such column; the table has who, entry, feelings",
     "the column of columns.labels"),
    ("who,entry,felt\na,,happy\n", 2, "entry", "nothing", "a value as columns.text"),
    ("who,entry,felt\na,b,happy,c\n", 2, "", "4 cells", "at most 3, one per column"),
])  # fmt: skip
def test_what_differs_is_named_by_row_and_column(
    tmp_path: Path, rows: str, where: int, place: str | None, found: str | None, expected: str | None
) -> None:
    table = write(tmp_path / "diary.csv", rows)
    problem = only_problem(lambda: import_feelings(table, own(tmp_path)))
    if place is None:
        assert (problem.file, problem.found) == (str(table), "no conversations")
    else:
        assert (problem.file, problem.place) == (f"{table}:{where}", place)
        assert (problem.found, problem.expected) == (found, expected)


@pytest.mark.parametrize(("old", "new", "place", "told"), [
    ('"Excited"', '"Cheerful"', "labels.happy", "one of the 20 PANAS items"),
    ('labels = "felt"', "", "", "columns.labels with [labels]"),
    ('text = "entry"', 'txt = "entry"', "columns.text", "this field"),
    ("[columns]", "[columns", "", "a map"),
    ('labels = "felt"', 'labels = "felt"\nintensity = "how"', "", "scale = [lowest, highest]"),
])  # fmt: skip
def test_a_wrong_map_says_where(tmp_path: Path, old: str, new: str, place: str, told: str) -> None:
    path = own(tmp_path, OWN.replace(old, new))
    with pytest.raises(ValueError, match=r"map\.toml") as caught:
        import_feelings("nowhere.csv", path)
    problems = caught.value.problems  # type: ignore[attr-defined]
    assert any(one.place.startswith(place) and told in one.expected for one in problems), problems


def test_a_map_of_the_other_kind_and_an_unknown_one_are_told(tmp_path: Path) -> None:
    assert (
        "import feelings takes it" in only_problem(lambda: import_preferences("x.csv", own(tmp_path))).advice
    )
    with pytest.raises(UnknownNameError, match="did you mean 'isear'"):
        import_feelings("x.csv", "isaer")


def test_the_command_says_what_travels_and_what_comes_after_works(tmp_path: Path) -> None:
    own(tmp_path)
    rows = ENTRIES + [{"who": f"p{i}", "entry": f"day {i}", "felt": "happy"} for i in range(3)]
    tables.lines(tmp_path / "diary.jsonl", *rows)
    printed, _ = attune_here("data import feelings diary.jsonl --map map.toml -o diary", tmp_path)
    for line in (
        "turns with emotion tags\t6\tof 6 turns",
        "wrote 6 conversations to diary: Diary, provenance imported",
        "non-commercial: neither these conversations nor what you make from them may be sold",
    ):
        assert line in printed.splitlines()
    assert "Diary: research only (non-commercial) 6" in attune_here("data stats diary", tmp_path)[0]
    assert "problems 0, warnings 0" in attune_here("data validate diary", tmp_path)[0]
    data = load(tmp_path / "diary")
    assert {row["stage"] for row in training_dataset(data, stages=["assess"], reward="composite")} == {
        "assess"
    }
    assert [round(rollout(one, builtin_policy("oracle", data)).total, 6) for one in data] == [1.0] * 6
    assert [item.yes for item in items(data)["valence", ""]] == [True, False, True, True, True]
