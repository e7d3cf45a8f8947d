"""`attune run` through the real command line: files, resuming, refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data import load
from tests.data.builders import folder, with_annotations, write
from tests.front.command import attune, data_folder, names, own, read, snapshot


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return data_folder(tmp_path / "data")


def run(cwd: Path, *arguments: str | Path, model: str = "always-no", code: int = 0) -> tuple[str, str]:
    done = attune("run", "builtin", model, *arguments, "-o", "out", cwd=cwd, code=code)
    return done.stdout, done.stderr


FILES = [f"c-{n}_builtin_always-no_default.json" for n in (1, 2, 3)]


def test_one_file_a_conversation(tmp_path: Path, data: Path) -> None:
    out, err = run(tmp_path, data)
    assert out.splitlines() == [
        "wrote 3 results to out, 0 were complete already",
        f'next: attune score --results "out" --ground-truth "{data}" --output scores.json',
    ]
    assert err.splitlines() == ["questions in the wording of attune-env 1.0"]
    assert names(tmp_path / "out") == FILES
    record = read(tmp_path / "out" / FILES[1])
    assert [record[key] for key in ("conversationId", "source_file", "em_model", "mode", "api_cost")] == [
        "c-2", "conversation_2.json", "builtin/always-no", "default", 0.0,
    ]  # fmt: skip
    assert record["duration_seconds"] > 0
    assert record["attune"]["complete"] is True
    assert record["attune"]["policy"] == {"name": "always-no"}
    assert record["attune"]["data"]["provenance"] == "own"


def test_a_second_run_writes_nothing(tmp_path: Path, data: Path) -> None:
    run(tmp_path, data)
    before = snapshot(tmp_path)
    out, _ = run(tmp_path, data)
    assert out.startswith("wrote 0 results to out, 3 were complete already\n")
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("damage", ["cut", "empty", "incomplete"])
def test_an_interrupted_file_is_made_again(tmp_path: Path, data: Path, damage: str) -> None:
    run(tmp_path, data)
    path = tmp_path / "out" / FILES[1]
    whole = read(path)
    if damage == "incomplete":
        write(path, whole | {"attune": whole["attune"] | {"complete": False}})
    else:
        path.write_bytes(b"" if damage == "empty" else path.read_bytes()[:-200])
    out, _ = run(tmp_path, data)
    assert out.startswith("wrote 1 results to out, 2 were complete already\n")
    made = read(path)
    for changing in ("run_timestamp", "duration_seconds"):
        made.pop(changing)
        whole.pop(changing)
    assert made == whole


@pytest.mark.parametrize(("options", "difference"), [
    (["--seed", "1"], "seed 0 there, 1 now"),
    (["--labels", "official"], "labels masked there, official now"),
    (["--panas-strategy", "delta"], "panas_strategy absolute there, delta now"),
    (["--stages", "prefer"], "stages"),
    (["--prompts", "compact"], "compact"),
])  # fmt: skip
def test_results_of_other_settings_are_not_mixed_in(
    tmp_path: Path, data: Path, options: list[str], difference: str
) -> None:
    run(tmp_path, data)
    before = snapshot(tmp_path)
    out, err = run(tmp_path, data, *options, code=2)
    assert "wrote" not in out
    assert difference in err
    assert "choose another -o, or pass --overwrite" in err
    assert snapshot(tmp_path) == before
    out, _ = run(tmp_path, data, *options, "--overwrite")
    assert out.startswith("wrote 3 results to out, 0 were complete already\n")


def test_results_on_other_data_are_not_mixed_in(tmp_path: Path, data: Path) -> None:
    run(tmp_path, data)
    write(data / "conversation_2.json", own("c-2", "P2", prePanas=None))
    _, err = run(tmp_path, data, code=2)
    assert "c-2_builtin_always-no_default.json holds a result of another run (other data" in err


def test_results_of_the_official_runner_are_not_overwritten_unasked(tmp_path: Path, data: Path) -> None:
    path = write(tmp_path / "out" / FILES[0], {"conversationId": "c-1", "em_model": "builtin/always-no"})
    _, err = run(tmp_path, data, code=2)
    assert f"out/{FILES[0]} was not written by attune" in err
    assert read(path) == {"conversationId": "c-1", "em_model": "builtin/always-no"}


def test_a_limit_plays_the_first_and_a_later_run_the_rest(tmp_path: Path, data: Path) -> None:
    out, _ = run(tmp_path, data, "--limit", "2")
    assert out.startswith("wrote 2 results")
    assert names(tmp_path / "out") == FILES[:2]
    out, _ = run(tmp_path, data)
    assert out.startswith("wrote 1 results to out, 2 were complete already\n")


@pytest.mark.parametrize(("options", "modes"), [
    (["--modes", "default", "verbose"], ["default", "verbose"]),
    (["--modes", "verbose", "--modes", "omniscient"], ["omniscient", "verbose"]),
    (["--modes", "all"], ["default", "omniscient", "verbose", "verbose_omniscient"]),
])  # fmt: skip
def test_each_mode_is_a_file_of_its_own(
    tmp_path: Path, data: Path, options: list[str], modes: list[str]
) -> None:
    run(tmp_path, data, "--limit", "1", *options)
    assert names(tmp_path / "out") == [f"c-1_builtin_always-no_{mode}.json" for mode in modes]
    assert [read(tmp_path / "out" / name)["mode"] for name in names(tmp_path / "out")] == modes


def test_modes_may_stand_before_the_arguments(tmp_path: Path, data: Path) -> None:
    attune("run", "--modes", "default", "verbose", "builtin", "empty", data, "-o", "out", cwd=tmp_path)
    assert len(names(tmp_path / "out")) == 6


def test_fitted_policies_need_two_people_or_fitting_data(tmp_path: Path) -> None:
    folder(tmp_path / "one", {1: own("a"), 2: own("b")})
    _, err = run(tmp_path, "one", model="prior", code=2)
    assert "there is only one here" in err
    assert "--fit PATH, or --fit sample" in err
    assert not (tmp_path / "out").exists()
    run(tmp_path, "one", "--fit", "sample", model="prior")
    marks = read(tmp_path / "out" / "a_builtin_prior_default.json")["attune"]
    assert marks["policy"] == {"name": "prior", "fitted_on": f"sample {load('sample').fingerprint}"}
    _, err = run(tmp_path, "one", "--fit", "one", model="prior", code=2)
    assert "fitted on other data" in err


@pytest.mark.parametrize(("arguments", "message"), [
    (["builtin", "priorr", "sample"], 'no built-in policy named "priorr"; did you mean \'prior\'?'),
    (["bultin", "prior", "sample"], 'no provider named "bultin"; did you mean \'builtin\'?'),
    (["builtin", "copy", "sample", "--modes", "verbos"], 'no mode named "verbos"; did you mean \'verbose\'?'),
    (["builtin", "copy", "sample", "--stages", "asses"], 'no stage named "asses"; did you mean \'assess\'?'),
    (["builtin", "copy", "sample", "--stages", ""], "no stage named"),
    (["builtin", "empty", "sample", "--prompts", "ful"], 'no prompt set named "ful"; did you mean \'full\'?'),
    (["builtin", "empty", "sample", "--labels", "hidden"], "hidden"),
    (["builtin", "empty", "sample", "--limit", "0"], "limit"),
    (["builtin", "empty"], "PATH"),
])  # fmt: skip
def test_bad_usage_exits_with_2_and_a_hint(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = attune("run", *arguments, "-o", "out", cwd=tmp_path, code=2)
    assert message in done.stderr
    assert done.stdout == ""
    assert names(tmp_path) == []


def test_bad_data_lists_every_problem_and_writes_nothing(tmp_path: Path) -> None:
    bad = {
        1: own(),
        2: '{"conversationId": ',
        3: with_annotations(pairwiseComparisons=[{"questionId": "general"}]),
    }
    path = folder(tmp_path / "data", bad)
    _, err = run(tmp_path, path, code=1)
    problems = [line for line in err.splitlines() if line.startswith("error: ")]
    assert [line.removeprefix(f"error: {path}/").split(":")[0] for line in problems] == [
        "conversation_2.json", "conversation_3.json", "conversation_3.json",
    ]  # fmt: skip
    assert "pairwiseComparisons[0].responseA" in problems[1]
    assert "pairwiseComparisons[0].responseB" in problems[2]
    assert names(tmp_path) == ["data"]
    out, err = run(tmp_path, path, "--skip-invalid")
    assert out.startswith("wrote 1 results")
    assert err.splitlines()[-1] == "files left out: 2"
    assert len([line for line in err.splitlines() if line.startswith("left out: ")]) == 3


@pytest.mark.parametrize("where", ["nowhere", "empty", "out"])
def test_a_path_without_data_is_named(tmp_path: Path, where: str) -> None:
    (tmp_path / "empty").mkdir()
    _, err = run(tmp_path, where, code=1)
    assert f"error: {where}: found no " in err
    assert names(tmp_path) == ["empty"]


def test_an_output_that_is_a_file_is_refused(tmp_path: Path, data: Path) -> None:
    write(tmp_path / "out", "mine")
    _, err = run(tmp_path, data, code=1)
    assert "error: out: found a file, expected a folder for the results; choose another -o" in err
    assert (tmp_path / "out").read_text() == "mine"


def test_a_path_with_a_space_under_test_samples_is_benchmark(tmp_path: Path) -> None:
    data_folder(tmp_path / "Test Samples" / "Sample200")
    out, _ = run(tmp_path, "Test Samples/Sample200")
    assert '--ground-truth "Test Samples/Sample200"' in out
    for name in names(tmp_path / "out"):
        assert read(tmp_path / "out" / name)["attune"]["data"]["provenance"] == "benchmark"


@pytest.mark.parametrize("source", ["one.json", "all.jsonl"])
def test_single_files_play_too(tmp_path: Path, source: str) -> None:
    write(tmp_path / "one.json", own("é"))
    write(tmp_path / "all.jsonl", (tmp_path / "one.json").read_text("utf-8") + "\n")
    run(tmp_path, source, model="oracle")
    (name,) = names(tmp_path / "out")
    assert read(tmp_path / "out" / name)["conversationId"] == "é"


def test_random_answers_follow_the_seed(tmp_path: Path, data: Path) -> None:
    texts = {}
    for out, seed in (("first", 0), ("again", 0), ("other", 1)):
        attune("run", "builtin", "random", data, "--seed", str(seed), "-o", out, cwd=tmp_path)
        record = read(tmp_path / out / "c-1_builtin_random_default.json")
        assert record["attune"]["policy"] == {"name": "random", "seed": seed}
        texts[out] = [entry["attune"]["replies"] for entry in record["turns"]]
    assert texts["first"] == texts["again"] != texts["other"]
