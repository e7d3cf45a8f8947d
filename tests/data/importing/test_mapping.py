"""Import by mapping: the ready-made maps on tables in their corpora's shape, and what a map can say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest

from attune_data import Conversation, load
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
    joy, disgust, guilt, lie = result.conversations
    assert texts(joy) == [("When the exam was over and the sun was out.", "")]
    # 1 + 6 (x - 1) / 3 for x of 1 to 4: 4 -> 7, 2 -> 3, 1 -> 1
    # an intensity of 0 was not given
    assert [tags(one) for one in (joy, disgust, guilt, lie)] == [
        [[("Enthusiastic", 7)]], [[("Hostile", 3)]], [[("Guilty", 1)]], [[("Guilty", None)]],
    ]  # fmt: skip
    people = ["isear-11", "isear-11", "isear-12", "isear-13"]
    assert [one.participant for one in result.conversations] == people
    assert left(result) == {'SIT "[ No response.]"': 1, 'SIT "[ Never felt the emotion.]"': 1}
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
    assert result.conversations[0].conversation_id == "crowd-envent-crowd-enVent_generation-7"
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
     {"ties": 1, "rows whose replies are equal": 1, "system messages": 1}),
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


def test_arena_votes_are_of_people_where_the_table_names_them(tmp_path: Path) -> None:
    table = tables.arena(tmp_path)
    result = import_preferences(table, "arena")
    assert [one.participant for one in result.conversations] == ["chatbot-arena-user_1"] * 2
    rows = [json.loads(line) for line in table.read_text().splitlines()]
    table = tables.lines(table, *({key: row[key] for key in row if key != "judge"} for row in rows))
    assert len({one.participant for one in import_preferences(table, "arena").conversations}) == 2


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


def test_empty_cells_and_whole_floats_are_named_by_the_map(tmp_path: Path) -> None:
    mapping = own(
        tmp_path,
        """dataset = "D"
licence = "CC0-1.0"
columns = {text = "t", labels = "l"}
labels = {0 = "Upset", 1 = "Proud"}
skip = {l = [""]}
""",
    )
    rows = [{"t": "a", "l": 0.0}, {"t": "b", "l": [1, 0]}, {"t": "c", "l": None}]
    result = import_feelings(tables.lines(tmp_path / "t.jsonl", *rows), mapping)
    assert list(map(tags, result.conversations)) == [
        [[("Upset", None)]], [[("Proud", None), ("Upset", None)]],
    ]  # fmt: skip
    assert left(result) == {'l ""': 1}
    result = import_feelings(write(tmp_path / "t.csv", "t,l\na,1.0\na,1\n"), mapping)
    assert list(map(tags, result.conversations)) == [[[("Proud", None)]]] * 2
    assert "conversations with the texts of an earlier one: 1" in result.notes


CHATS = """dataset = "D"
licence = "CC0-1.0"
columns = {text = "t", labels = "l", conversation = "c", speaker = "s"}
labels = {h = "Excited"}
"""


def test_messages_of_a_chat_may_stand_apart(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "c,s,t,l\n1,a,x,h\n2,d,q,h\n,d,n,h\n1,b,y,h\n2,a,r,h\n")
    problem = only_problem(lambda: import_feelings(table, own(tmp_path, CHATS)))
    assert (problem.file, problem.place, problem.found) == (f"{table}:4", "c", "nothing")
    result = import_feelings(table, own(tmp_path, CHATS), skip_invalid=True)
    assert list(map(texts, result.conversations)) == [[("x", "y")], [("q", "r")]]
    assert result.conversations.left_out == (problem,)


RATED = """dataset = "D"
licence = "CC0-1.0"
columns = {text = "t", labels = "l"}
labels = {h = "Proud"}
ratings = {r = "Excited"}
scale = [1, 5]
felt = 2
"""


def test_ratings_besides_labels(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "t,l,r\na,h,4\nb,h,1\n")
    result = import_feelings(table, own(tmp_path, RATED))
    # 1 + 6 (4 - 1) / 4 = 5.5, rounded to 5; 1 is below felt
    assert list(map(tags, result.conversations)) == [
        [[("Proud", None), ("Excited", 5)]], [[("Proud", None)]],
    ]  # fmt: skip
    mapping = own(tmp_path, RATED.replace(', labels = "l"', "").replace('labels = {h = "Proud"}', ""))
    table = write(tmp_path / "t.csv", "t,r\na,1\nb,1\n")
    problem = only_problem(lambda: import_feelings(table, mapping))
    told = "no conversations; left out are rows in which no rating is high enough: 2"
    assert problem.found == told


FOUR = """dataset = "D"
licence = "CC0-1.0"
columns = {messages = "p", replies = ["a", "b", "c", "d"], ratings = ["ra", "rb", "rc", "rd"]}
"""


@pytest.mark.parametrize(("changed", "replies", "won"), [
    ({}, ["1", "2", "4"], {("1", "2"): "2", ("1", "4"): "4", ("2", "4"): "4"}),
    ({"ra": 9}, ["1", "2", "4"], {("1", "2"): "1", ("1", "4"): "1", ("2", "4"): "4"}),
    ({"a": None, "rb": None}, ["3", "4"], {("3", "4"): "4"}),
])  # fmt: skip
def test_the_best_of_several_replies_is_kept_and_missing_ones_are_not_compared(
    tmp_path: Path, changed: dict[str, Any], replies: list[str], won: dict[tuple[str, str], str]
) -> None:
    row = {"p": "[{ what?", "a": "1", "b": "2", "c": "3", "d": "4", "ra": 1, "rb": 2, "rc": 3, "rd": 4}
    table = tables.lines(tmp_path / "t.jsonl", row | changed)
    (conversation,) = import_preferences(table, own(tmp_path, FOUR)).conversations
    (turn,) = conversation.turns
    assert turn.user_message == "[{ what?"
    assert [text for text in turn.responses.values() if text] == replies
    found = {}
    for pair in turn.comparisons:
        sides = [str(turn.responses[name]) for name in (pair.response_a, pair.response_b)]
        found[min(sides), max(sides)] = sides[pair.winner == "B"]
    assert found == won


def test_a_split_is_in_the_ids(tmp_path: Path) -> None:
    rows = datasets.Dataset.from_list([{"who": "", "entry": "a", "felt": "happy"}])
    datasets.DatasetDict({"train": rows, "test": rows}).save_to_disk(str(tmp_path / "d"))
    ids = [
        import_feelings(tmp_path / "d", own(tmp_path), split=split).conversations[0].conversation_id
        for split in ("train", "test")
    ]
    assert ids == ["diary-d-train-1", "diary-d-test-1"]


def test_the_command_says_what_travels_and_what_comes_after_works(tmp_path: Path) -> None:
    own(tmp_path)
    rows = ENTRIES + [{"who": f"p{i}", "entry": f"day {i}", "felt": "happy"} for i in range(3)]
    tables.lines(tmp_path / "diary.jsonl", *rows)
    printed, _ = attune_here("data import feelings diary.jsonl --map map.toml -o diary", tmp_path)
    for line in (
        "turns with emotion tags\t6\tof 6 turns",
        "wrote 6 conversations to diary: Diary, provenance imported",
        "non-commercial: no commercial use of these conversations, or of what you make from them",
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
