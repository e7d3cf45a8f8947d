"""Import by mapping: what does not fit is named by table, row and column, and by the key of the map."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data import SettingsError, UnknownNameError
from attune_data.importing import import_feelings, import_preferences
from tests.data.builders import only_problem, write
from tests.data.importing import tables
from tests.data.importing.test_mapping import AS_CSV, CHATS, ENTRIES, OWN, own, texts


@pytest.mark.parametrize(("rows", "where", "place", "found", "expected"), [
    ("who,entry,felt\n", 0, "", "no rows", "a table with at least one row"),
    ("who,entry,felt\na,b,happy\na,b,grumpy\n", 3, "felt", '"grumpy"',
     "one of the map's labels: happy, angry, nothing"),
    ("who,entry,feelings\na,b,happy\n", 0, "", 'no column "felt" (columns.labels of map.toml)',
     "one; the table has who, entry, feelings"),
    ("who,entry,felt,felt\na,b,happy,happy\n", 0, "", 'several columns "felt" (columns.labels of map.toml)',
     "one; the table has who, entry, felt, felt"),
    ("who,entry,felt\na,b,happy\n,,\na,,happy\n", 4, "entry", "nothing",
     "a value (columns.text of map.toml)"),
    ("who,entry,felt\na,b,happy,c\n", 2, "", "4 cells", "at most 3, one per column"),
    ('who,entry,felt\na,b,happy\na,"he said no\nb,c,happy\n', 3, "",
     "a quotation mark that opens a cell and is not closed", "quotation marks around whole cells only"),
    ('who,entry,felt\na,"I got it!" I cried,happy\n', 2, "",
     "text after the quotation mark that closes a cell", "quotation marks around whole cells only"),
])  # fmt: skip
def test_what_differs_is_named_by_row_and_column(
    tmp_path: Path, rows: str, where: int, place: str, found: str, expected: str
) -> None:
    table = write(tmp_path / "diary.csv", rows)
    problem = only_problem(lambda: import_feelings(table, own(tmp_path)))
    assert (problem.file, problem.place) == (f"{table}:{where}" if where else str(table), place)
    assert (problem.found, problem.expected) == (found, expected)


def test_a_column_that_occurs_in_no_object_is_named(tmp_path: Path) -> None:
    rows = [{"whoo": "a", "entry": "b", "felt": "happy"}, {"entry": "c", "felt": "happy"}]
    for table in (tables.lines(tmp_path / "d.jsonl", *rows), write(tmp_path / "d.json", rows)):
        with pytest.raises(ValueError, match=r"d\.json.*; did you mean \"whoo\"\?") as caught:
            import_feelings(table, own(tmp_path))
        assert 'no column "who" (columns.person of map.toml)' in str(caught.value)
    # one that occurs in some is empty in the others
    table = tables.lines(tmp_path / "d.jsonl", rows[1], {"who": "a", "entry": "b", "felt": "happy"})
    result = import_feelings(table, own(tmp_path))
    assert [one.participant for one in result.conversations] == ["diary-d-1", "diary-a"]


def test_how_to_go_on_with_other_delimiters_and_encodings(tmp_path: Path) -> None:
    text = AS_CSV.splitlines()[0].replace(",", ";")
    table = write(tmp_path / "d.csv", f"{text}\na;b;happy\n")
    advice = only_problem(lambda: import_feelings(table, own(tmp_path))).advice
    assert advice == 'if this is not one column, set delimiter = ";" in [table] of map.toml'
    (conversation,) = import_feelings(table, own(tmp_path, OWN + '[table]\ndelimiter = ";"')).conversations
    assert texts(conversation) == [("b", "")]
    table.write_text(AS_CSV, encoding="utf-16")
    assert 'encoding = "utf-16"' in only_problem(lambda: import_feelings(table, own(tmp_path))).advice
    # the delimiter is of CSV files alone, and endings may be in capitals
    table = tables.lines(tmp_path / "d.JSONL", *ENTRIES)
    assert len(import_feelings(table, own(tmp_path, OWN + '[table]\ndelimiter = ";"')).conversations) == 3


def test_what_no_table_or_map_is_says_what_would_be_one(tmp_path: Path) -> None:
    assert ".tsv" in only_problem(lambda: import_feelings("nofile.csv", own(tmp_path))).expected
    empty = write(tmp_path / "e.json", "")
    assert "a list of objects" in only_problem(lambda: import_feelings(empty, own(tmp_path))).expected
    assert only_problem(lambda: import_feelings(empty, "nofile.toml")).found == "no such file"
    with pytest.raises(SettingsError, match="use attune data import prism"):
        import_feelings(empty, "prism")
    with pytest.raises(SettingsError, match=r"e\.csv has no splits"):
        import_feelings(write(tmp_path / "e.csv", AS_CSV), own(tmp_path), split="train")
    nothing = only_problem(lambda: import_feelings(empty, own(tmp_path, "")))
    assert (nothing.found, nothing.expected) == ("an empty file", "a map")


def test_a_third_speaker_is_refused(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "c,s,t,l\n1,a,x,h\n1,b,y,h\n1,z,w,h\n")
    problem = only_problem(lambda: import_feelings(table, own(tmp_path, CHATS)))
    assert (problem.file, problem.found) == (f"{table}:4", 'a third one, "z"')


@pytest.mark.parametrize(("old", "new", "place", "told"), [
    ('"Excited"', '"Cheerful"', "labels.happy", "one of the 20 PANAS items"),
    ('labels = "felt"', "", "", "columns.labels with [labels]"),
    ('text = "entry"', 'txt = "entry"', "columns.text", "this field"),
    ("[columns]", "[columns", "", "a map"),
    ('labels = "felt"', 'labels = "felt"\nintensity = "how"', "", "scale = [lowest, highest]"),
    ('text = "entry"', 'text = "entry"\nspeker = "x"', "columns.speker", "speaker"),
    ('happy = "Excited"', 'happy = "Excited"\nHappy = "Proud"', "", "whatever its case"),
    ("[labels]", '[replace]\n"" = "x"\n[labels]', "", "some text to replace"),
    ("[columns]", "scale = [1, inf]\n[columns]", "scale[1]", "a finite number"),
    ("[labels]", '[ratings]\nr = "Proud"\n[labels]', "", "scale"),
    ("[labels]", '[table]\ndelimiter = ";;"\n[labels]', "table.delimiter", "one character"),
    ("[labels]", '[table]\nencoding = "utf-9"\n[labels]', "table.encoding", "name of an encoding"),
    ("[labels]", '[table]\nencoding = "a\\u0000"\n[labels]', "table.encoding", "name of an encoding"),
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
