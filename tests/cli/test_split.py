"""`attune data split` and `attune data subset`."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data import load
from attune_data.selection import SUBSETS, select, split
from tests.command import attune_here, names, own, snapshot, table_rows
from tests.data.builders import folder, record, replaced, write

GROUPS = (["ADHD"], ["None of the above"])


def data(path: Path, people: int = 10, first: int = 3) -> Path:
    """Conversations from file number `first` on; every other participant has ADHD, one owns two of them."""
    records = {}
    for number in range(people + 1):
        who = max(number, 1)
        value = own(f"c-{number}", f"P{who}")
        records[first + number] = replaced(
            value, ("participant_profile", "demographics", "diagnoses"), GROUPS[who % 2]
        )
    return folder(path, records)


def split_up(cwd: Path, words: str, code: int = 0) -> tuple[str, str]:
    return attune_here(f"data split {words}", cwd, code)


def test_parts_are_folders_of_whole_participants(tmp_path: Path) -> None:
    data(tmp_path / "my data")
    shares = "train=0.6,dev=0.2,test=0.2"
    out, err = split_up(tmp_path, f"'my data' --into {shares} --seed 5 --stratify diagnosis -o out")
    assert err == ""
    whole = load(tmp_path / "my data")
    wanted = split(whole, {"train": 0.6, "dev": 0.2, "test": 0.2}, seed=5, stratify="diagnosis")
    assert names(tmp_path / "out") == ["dev", "test", "train"]
    (header, *rows) = table_rows(out)["my data, seed 5"]
    assert header == ["part", "conversations", "share", "requested", "participants", "fingerprint", "folder"]
    assert [row[0] for row in rows] == ["train", "dev", "test"]
    numbers = []
    for row, (name, part) in zip(rows, wanted.items(), strict=True):
        back = load(tmp_path / "out" / name)
        assert back.fingerprint == part.fingerprint == row[5]
        assert row[1:3] == [str(len(part)), f"{len(part) / 11:.1%}"]
        assert row[4] == str(len({c.participant for c in part}))
        assert row[6] == f"out/{name}"
        numbers += names(tmp_path / "out" / name)
    assert sorted(numbers) == names(tmp_path / "my data")  # file numbers are kept
    assert "# provenance own; no participant is in more than one split." in out
    split_up(tmp_path, f"'my data' --into {shares} --seed 5 --stratify diagnosis -o again")
    assert snapshot(tmp_path / "again") == snapshot(tmp_path / "out")


def test_other_sources_are_numbered_from_one(tmp_path: Path) -> None:
    lines = [p.read_text("utf-8") for p in data(tmp_path / "data").iterdir()]
    write(tmp_path / "all.jsonl", "\n".join(lines))
    split_up(tmp_path, "all.jsonl -o out")
    inside = [name for part in ("train", "test") for name in names(tmp_path / "out" / part)]
    assert sorted(inside) == sorted(f"conversation_{n}.json" for n in range(1, 12))


def test_a_split_of_a_selection(tmp_path: Path) -> None:
    data(tmp_path / "data")
    _, err = split_up(tmp_path, "data --where diagnosis=any --into a=.5,b=.5 -o out")
    assert err == "5 of 11 conversations match diagnosis=any\n"
    chosen = {c.conversation_id for c in select(load(tmp_path / "data"), "diagnosis=any")}
    assert {c.conversation_id for name in "ab" for c in load(tmp_path / "out" / name)} == chosen


def test_benchmark_stays_benchmark(tmp_path: Path) -> None:
    benchmark(tmp_path / "data", (1, 2))
    assert "# provenance benchmark" in split_up(tmp_path, "data --into a=.5,b=.5 -o out")[0]
    assert load(tmp_path / "out" / "a", provenance="own").provenance == "benchmark"


def test_an_earlier_split_is_replaced_only_when_asked_and_never_the_data(tmp_path: Path) -> None:
    data(tmp_path / "data")
    split_up(tmp_path, "data --into a=.5,b=.5 -o out")
    there = snapshot(tmp_path)
    for words, said in (
        ("out", "out: found a, b, expected a new or empty folder; "
                "choose another -o, or replace the data with --overwrite"),
        ("data", "data: found the data itself, expected another folder; choose another -o"),
        ("data --overwrite", "data: found the data itself, expected another folder; choose another -o"),
    ):  # fmt: skip
        assert split_up(tmp_path, f"data -o {words}", 1)[1] == f"error: {said}\n"
        assert snapshot(tmp_path) == there
    split_up(tmp_path, "data -o out --overwrite")
    assert names(tmp_path / "out") == ["test", "train"]


@pytest.mark.parametrize(("arguments", "said"), [
    ("--into a=.5,b=.4", "shares a=0.5, b=0.4 sum to 0.9, expected 1"),
    ("--into a=.5,../b=.5", 'found "../b=.5", expected a unique name'),
    (f"--into {','.join(f'p{n}=0.05' for n in range(20))}", "need 20 participants or more"),
    ("--where diagnosis=AHDD", 'did you mean "ADHD"?'),
    ("--where dignosis=ADHD", "no field named \"dignosis\"; did you mean 'diagnosis'?"),
    ("--stratify country", "'topic', 'category', 'diagnosis'"),
])  # fmt: skip
def test_slips_write_nothing(tmp_path: Path, arguments: str, said: str) -> None:
    data(tmp_path / "data")
    assert said in split_up(tmp_path, f"data -o out {arguments}", 2)[1]
    assert names(tmp_path) == ["data"]


def test_bad_files_stop_it_unless_they_are_skipped(tmp_path: Path) -> None:
    write(data(tmp_path / "data") / "conversation_1.json", "[]")
    split_up(tmp_path, "data -o out", 1)
    _, err = split_up(tmp_path, "data -o out --skip-invalid")
    assert err.splitlines()[-1] == "files left out: 1"
    assert len(load(tmp_path / "out" / "train")) + len(load(tmp_path / "out" / "test")) == 11


def benchmark(path: Path, numbers: tuple[int, ...]) -> Path:
    return folder(path, {n: record(conversationId=f"c{n}", participant_profile=None) for n in numbers})


def test_an_official_subset_is_copied_by_file_number(tmp_path: Path) -> None:
    benchmark(tmp_path / "Test Samples" / "Sample200", SUBSETS["Sample200"])
    copy = "data subset {} 'Test Samples/Sample200' -o {}"
    done = attune_here(copy.format("Subsample20", "sub"), tmp_path)
    assert done == ("wrote 20 conversations to sub, provenance benchmark\n", "")
    assert [c.conversation_id for c in load(tmp_path / "sub")] == [f"c{n}" for n in SUBSETS["Subsample20"]]
    assert names(tmp_path / "sub") == sorted(f"conversation_{n}.json" for n in SUBSETS["Subsample20"])
    _, err = attune_here(copy.format("Subsample20", "sub"), tmp_path, 1)
    assert "replace the data with --overwrite" in err
    _, err = attune_here(copy.format("Subsample100", "x"), tmp_path, 1)
    assert "found 1 of the 100 missing: conversation_106.json" in err


@pytest.mark.parametrize(("name", "said"), [
    ("Subsample5", "did you mean"), ("Subsample20", "sample contains own records"),
])  # fmt: skip
def test_what_is_no_subset(tmp_path: Path, name: str, said: str) -> None:
    assert said in attune_here(f"data subset {name} sample -o x", tmp_path, 2)[1]
    assert names(tmp_path) == []
