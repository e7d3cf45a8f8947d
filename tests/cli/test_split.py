"""`attune data split` and `attune data subset` through the real command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data import load
from attune_data.selection import SUBSETS, select, split
from tests.data.builders import folder, record, replaced, write
from tests.front.command import attune, names, own, snapshot, table_rows

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


def test_parts_are_folders_of_whole_participants(tmp_path: Path) -> None:
    data(tmp_path / "my data")
    done = attune("data", "split", "my data", "--into", "train=0.6,dev=0.2,test=0.2", "--seed", "5",
                  "--stratify", "diagnosis", "-o", "out", cwd=tmp_path)  # fmt: skip
    assert done.stderr == ""
    whole = load(tmp_path / "my data")
    wanted = split(whole, {"train": 0.6, "dev": 0.2, "test": 0.2}, seed=5, stratify="diagnosis")
    assert names(tmp_path / "out") == ["dev", "test", "train"]
    (header, *rows) = table_rows(done.stdout)["my data, seed 5"]
    assert header == ["part", "conversations", "share", "asked", "participants", "fingerprint", "folder"]
    assert [row[0] for row in rows] == ["train", "dev", "test"]
    numbers = []
    for row, (name, part) in zip(rows, wanted.items(), strict=True):
        back = load(tmp_path / "out" / name)
        assert back.fingerprint == part.fingerprint == row[5]
        assert row[1:3] == [str(len(part)), f"{len(part) / 11:.1%}"]
        assert row[4] == str(len({c.participant for c in part}))
        assert row[6] == str(Path("out") / name)
        numbers += names(tmp_path / "out" / name)
    assert sorted(numbers) == names(tmp_path / "my data")  # file numbers are kept
    assert "# provenance own; no participant is in two parts." in done.stdout


def test_the_same_call_gives_the_same_bytes(tmp_path: Path) -> None:
    data(tmp_path / "data")
    for output, seed in (("a", "1"), ("b", "2")):
        attune("data", "split", "data", "-o", output, cwd=tmp_path, PYTHONHASHSEED=seed)
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")
    assert names(tmp_path / "a") == ["test", "train"]


def test_other_sources_are_numbered_from_one(tmp_path: Path) -> None:
    lines = [p.read_text("utf-8") for p in data(tmp_path / "data").iterdir()]
    write(tmp_path / "all.jsonl", "\n".join(lines))
    attune("data", "split", "all.jsonl", "-o", "out", cwd=tmp_path)
    inside = [name for part in ("train", "test") for name in names(tmp_path / "out" / part)]
    assert sorted(inside) == sorted(f"conversation_{n}.json" for n in range(1, 12))


def test_a_split_of_a_selection(tmp_path: Path) -> None:
    data(tmp_path / "data")
    done = attune("data", "split", "data", "--where", "diagnosis=any", "--into", "a=.5,b=.5", "-o", "out",
                  cwd=tmp_path)  # fmt: skip
    assert done.stderr == "5 of 11 conversations have diagnosis=any\n"
    parts = [load(tmp_path / "out" / name) for name in "ab"]
    chosen = {c.conversation_id for c in select(load(tmp_path / "data"), "diagnosis=any")}
    assert {c.conversation_id for part in parts for c in part} == chosen


def test_benchmark_stays_benchmark(tmp_path: Path) -> None:
    folder(tmp_path / "data", {n: record(conversationId=f"c{n}", participant_profile=None) for n in (1, 2)})
    done = attune("data", "split", "data", "--into", "a=.5,b=.5", "-o", "out", cwd=tmp_path)
    assert "# provenance benchmark" in done.stdout
    assert load(tmp_path / "out" / "a", provenance="own").provenance == "benchmark"


def test_an_earlier_split_is_replaced_only_when_asked(tmp_path: Path) -> None:
    data(tmp_path / "data")
    attune("data", "split", "data", "--into", "a=.5,b=.5", "-o", "out", cwd=tmp_path)
    there = snapshot(tmp_path)
    done = attune("data", "split", "data", "-o", "out", cwd=tmp_path, code=1)
    assert done.stderr == ("error: out: found a, b, expected a new or empty folder; "
                           "choose another -o, or replace the data with --overwrite\n")  # fmt: skip
    assert snapshot(tmp_path) == there
    attune("data", "split", "data", "-o", "out", "--overwrite", cwd=tmp_path)
    assert names(tmp_path / "out") == ["test", "train"]


@pytest.mark.parametrize("options", [["--overwrite"], []])
def test_data_is_never_split_over_itself(tmp_path: Path, options: list[str]) -> None:
    data(tmp_path / "data")
    there = snapshot(tmp_path)
    done = attune("data", "split", "data", "-o", "data", *options, cwd=tmp_path, code=1)
    assert done.stderr.startswith("error: data: found the data itself, expected another folder")
    assert snapshot(tmp_path) == there


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "code", "said"), [
    (["--into", "a=.5,b=.4"], 2, "shares a=0.5, b=0.4 sum to 0.9, expected 1"),
    (["--into", "a=.5,../b=.5"], 2, 'found "../b=.5", expected a name of its own'),
    (["--into", ",".join(f"p{n}=0.05" for n in range(20))], 2, "need 20 participants or more"),
    (["--where", "diagnosis=AHDD"], 2, 'did you mean "ADHD"?'),
    (["--where", "dignosis=ADHD"], 2, "no field named \"dignosis\"; did you mean 'diagnosis'?"),
])  # fmt: skip
def test_slips_write_nothing(tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    data(tmp_path / "data")
    done = attune("data", "split", "data", "-o", "out", *arguments, cwd=tmp_path, code=code)
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert names(tmp_path) == ["data"]


def test_an_unknown_stratification_is_bad_usage(tmp_path: Path) -> None:
    done = attune("data", "split", "sample", "-o", "x", "--stratify", "country", cwd=tmp_path, code=2)
    assert "'topic', 'category', 'diagnosis'" in done.stderr


def test_bad_files_stop_it_unless_they_are_skipped(tmp_path: Path) -> None:
    write(data(tmp_path / "data") / "conversation_1.json", "[]")
    attune("data", "split", "data", "-o", "out", cwd=tmp_path, code=1)
    done = attune("data", "split", "data", "-o", "out", "--skip-invalid", cwd=tmp_path)
    assert done.stderr.splitlines()[-1] == "files left out: 1"
    assert len(load(tmp_path / "out" / "train")) + len(load(tmp_path / "out" / "test")) == 11


def benchmark(path: Path, numbers: tuple[int, ...]) -> Path:
    return folder(path, {n: record(conversationId=f"c{n}", participant_profile=None) for n in numbers})


def test_an_official_subset_is_copied_by_file_number(tmp_path: Path) -> None:
    benchmark(tmp_path / "Test Samples" / "Sample200", SUBSETS["Sample200"])
    done = attune("data", "subset", "Subsample20", "Test Samples/Sample200", "-o", "sub", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("wrote 20 conversations to sub, provenance benchmark\n", "")
    back = load(tmp_path / "sub")
    assert [c.conversation_id for c in back] == [f"c{n}" for n in SUBSETS["Subsample20"]]
    assert names(tmp_path / "sub") == sorted(f"conversation_{n}.json" for n in SUBSETS["Subsample20"])
    again = attune(
        "data", "subset", "Subsample20", "Test Samples/Sample200", "-o", "sub", cwd=tmp_path, code=1
    )
    assert "replace the data with --overwrite" in again.stderr
    missing = attune(
        "data", "subset", "Subsample100", "Test Samples/Sample200", "-o", "x", cwd=tmp_path, code=1
    )
    assert "found 1 of the 100 missing: conversation_106.json" in missing.stderr


@pytest.mark.parametrize(("name", "said"), [
    ("Subsample5", "did you mean"), ("Subsample20", "sample holds own records"),
])  # fmt: skip
def test_what_is_no_subset(tmp_path: Path, name: str, said: str) -> None:
    done = attune("data", "subset", name, "sample", "-o", "x", cwd=tmp_path, code=2)
    assert said in done.stderr
    assert names(tmp_path) == []
