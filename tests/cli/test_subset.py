"""`attune subset`: the official flags, every filter of the data, and the difference to all others."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attune_data import Conversations, load
from attune_data.format.validate import conversation_from
from attune_data.selection.where import Where
from attune_env.report.analyses.sources import Sources, read_parts
from attune_env.report.analyses.subset import sides, subset_answer, subset_contrast, where_of
from attune_env.tables.groups import GROUPS
from attune_rewards.bootstrap import Interval
from tests.command import attune_here, names, own, read, scores_file, table_rows
from tests.data.builders import Json, folder, replaced
from tests.report.analyses.made import entry, study

DIAGNOSES = [["ADHD"], ["None of the above"], ["ADHD", "Anxiety"], None, ["Anxiety"], ["Prefer not to say"]]
STRICT = "composite_strict"
INSIDE, OUTSIDE = {"c-1", "c-3"}, {"c-2", "c-5"}  # c-4 and c-6 do not say


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six conversations of six people, three of whom state a diagnosis; two policies."""
    place = tmp_path_factory.mktemp("subset")
    where = ("participant_profile", "demographics", "diagnoses")
    made = {n: replaced(own(f"c-{n}", f"P{n}"), where, found) for n, found in enumerate(DIAGNOSES, 1)}
    return scores_file(place, load(folder(place / "data", made)), "oracle", "random").parent


def values(place: Path, inside: set[str], metric: str = "composite_score") -> list[float]:
    return [
        entry[metric]
        for entry in read(place / "scores.json")["conversations"]
        if entry["em_model"] == "builtin/random" and entry["conversationId"] in inside
    ]


def test_the_official_command_word_for_word_and_alone_without_compare(place: Path) -> None:
    out, err = attune_here("subset -s ./scores.json -d data --diagnosis ADHD --compare", place)
    assert err == "2 of 6 scored conversations match diagnosis=ADHD\n"
    tables = table_rows(out)
    (title,) = [title for title in tables if title.startswith("Composite: diagnosis=ADHD against the others")]
    header, *rows = tables[title]
    (row,) = [
        dict(zip(header, r, strict=True)) for r in rows if r[2].startswith("Composite") and "random" in r[0]
    ]
    ours, theirs, strict = values(place, INSIDE), values(place, OUTSIDE), values(place, INSIDE, STRICT)
    assert (row["n subset"], row["n others"]) == ("2", "2")
    assert row["subset"].startswith(f"{np.mean(ours):.2f} [")
    assert row["difference"].startswith(f"{np.mean(ours) - np.mean(theirs):.2f} [")
    assert row["difference"].endswith("†")  # four people
    assert "# 2 conversations on neither side, because the field is not stated there." in out
    assert sorted(names(place)) == ["data", "results", "scores.json"]  # nothing is written
    out, _ = attune_here("subset scores.json --where diagnosis=ADHD", place)
    tables = table_rows(out)
    sentence, *_ = out.splitlines()
    mean, apart = np.mean(strict), np.mean(strict) - np.mean(values(place, OUTSIDE, STRICT))
    way = "above" if apart > 0 else "below"
    assert sentence == (
        f"On the 2 of 6 conversations with diagnosis=ADHD, `random` scores {mean:.1f} of 100, "
        f"{abs(apart):.1f} points {way} the 2 that are known not to match: too few conversations to tell."
    )
    assert [title.partition(";")[0] for title in tables][1:] == [title for title, _ in GROUPS]
    (leader,) = [r for r in next(iter(tables.values())) if r[0] == "builtin/random"]
    assert leader[3].startswith(f"{np.mean(ours):.1f} [")


def test_who_does_not_say_is_on_neither_side(place: Path) -> None:
    ((part,), _) = read_parts(Sources([place / "scores.json"], str(place / "data")), "x")
    ids = np.array(part.study.table.ids)
    for text, ours, theirs in (
        ("diagnosis=ADHD", INSIDE, OUTSIDE),
        ("diagnosis=any", {"c-1", "c-3", "c-5"}, {"c-2"}),
        ("diagnosis=unknown", {"c-4", "c-6"}, {"c-1", "c-2", "c-3", "c-5"}),
        ("diagnosis=ADHD,turns>99", set(), {"c-1", "c-2", "c-3", "c-4", "c-5", "c-6"}),
    ):
        inside, outside = sides(part.study, Where.parse(text))
        assert (set(ids[inside]), set(ids[outside])) == (ours, theirs), text


def test_differences_are_those_of_the_means(place: Path) -> None:
    ((part,), _) = read_parts(Sources([place / "scores.json"], str(place / "data")), "x")
    tables = subset_contrast(part.study, Where.parse("diagnosis=ADHD")).run(part.study).tables
    rows = [row for table in tables.values() for row in table.rows if row[0] == "builtin/random"]
    assert any(note.startswith("† fewer than 5") for note in tables["subset_composite"].footnotes)
    strict, clarity = (
        next(row for row in rows if row[2] == metric)
        for metric in ("Strict Composite (0-100)", "Clarity of feelings (Q2)")
    )
    wanted = np.mean(values(place, INSIDE, STRICT)) - np.mean(values(place, OUTSIDE, STRICT))
    assert isinstance(strict[8], Interval)
    assert strict[8].mean == pytest.approx(wanted)
    for *_, difference, p in (strict[:10], clarity[:10]):
        assert isinstance(difference, Interval)
        # two people on either side: fewer than five carry the difference
        assert (difference.units, difference.meaningful) == (2, False)
        assert isinstance(p, float)
        assert 0 < p <= 1


def test_flags_are_conditions() -> None:
    assert str(where_of({"diagnosis": ["ADHD", "Anxiety"], "gender": []}, "who_5<13")) == (
        "diagnosis=ADHD|Anxiety,who_5<13"
    )
    assert str(where_of({"category": ['Work, "school"']}, None)) == 'category="Work, ""school"""'
    assert str(where_of({"diagnosis": ["any"]}, None)) == "diagnosis=any"


def test_the_answer_says_whether_models_differ() -> None:
    people = {n: own(f"c-{n:02}", f"P{n}") for n in range(24)}
    data = Conversations(
        [conversation_from(one | {"turns": one["turns"][: 1 + n % 2]}, "memory") for n, one in people.items()]
    )

    def entries(model: str, gap: float) -> list[Json]:
        scores = [40.0 + gap * (n % 2) + n // 2 % 3 for n in people]
        return [
            entry(f"c-{n:02}", model, composite_score=score, composite_strict=score)
            for n, score in enumerate(scores)
        ]

    made = replace(study([*entries("lab/even", 0.0), *entries("lab/odd", 20.0)]), conversations=data)
    first, second = subset_answer(made, Where.parse("turns=2"))
    head, tail = (
        "On the 12 of 24 conversations with turns=2, `odd` scores 61.0 of 100, 20.0 points (",
        ") above",
    )
    assert first.startswith(head)
    assert first.endswith(f"{tail} the 12 others: a clear difference.")
    assert second.startswith("`even` scores 41.0 of 100, 0.0 points (")
    assert second.endswith(") from the 12 others: no clear difference.")
    assert subset_answer(made, Where.parse("turns>0")) == [
        "On the 24 of 24 conversations with turns>0, `odd` scores 51.0 of 100.", "`even` scores 41.0 of 100.",
    ]  # fmt: skip


@pytest.mark.parametrize(("options", "said"), [
    ("", "no condition: choose conversations"),
    ("--diagnosis ADHS", 'no diagnosis is "ADHS"; did you mean "ADHD"?'),
    ("--where who5<13", 'no field named "who5"'),
    ("--diagnosis ADHD -d nowhere", "nowhere"),
    ("--where turns>0 --compare", "nothing to compare"),
])  # fmt: skip
def test_bad_requests_say_what_is_wrong(place: Path, options: str, said: str) -> None:
    code = 1 if "nowhere" in options else 2
    _, err = attune_here(f"subset -s scores.json {options}", place, code)
    assert said in err


def test_a_folder_holds_page_and_tables_with_the_numbers(place: Path, tmp_path: Path) -> None:
    options = "--diagnosis ADHD --compare --resample conversation --seed 3 --formats svg -o"
    attune_here(["subset", "-s", "scores.json", *options.split(), tmp_path / "out"], place)
    with (tmp_path / "out" / "tables" / "subset_composite.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    (row,) = [r for r in rows if (r["model"], r["metric"]) == ("builtin/random", "Composite (0-100)")]
    ours, theirs = values(place, INSIDE), values(place, OUTSIDE)
    assert float(row["difference"]) == pytest.approx(np.mean(ours) - np.mean(theirs))
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert 'id="subset"' in page
    command = "attune subset --scores scores.json --where diagnosis=ADHD --resample conversation --seed 3"
    assert f"{command} --compare" in page
    assert (tmp_path / "out" / "figures" / "subset_composite.svg").is_file()
