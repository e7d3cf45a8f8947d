"""`attune rejudge`: judges for drafts that are there, in our files and in the official runner's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attune_data import DataError, SettingsError
from attune_env.results import read_results, score_results, write_json
from attune_env.running import run_builtin
from attune_env.running.providers import endpoint_of
from attune_env.running.rejudge import rejudge
from attune_env.running.served import EndpointReport
from attune_env.running.settings import Model
from attune_episodes import Settings
from tests.command import attune_here, data_folder, read, snapshot
from tests.data.builders import Json
from tests.endpoint import Server, answers_of, first_of, serve
from tests.endpoint.answers import Messages
from tests.running.playing import files, judge_answers, met, model, options, small

DATA = small(2)
FIRST = "c-1_builtin_lexicon_default.json"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The results of a built-in policy: 2 conversations of 2 drafts."""
    run_builtin("lexicon", DATA, tmp_path)
    return tmp_path


def again(server: Server, results: Path, *names: str, **more: Any) -> EndpointReport:
    fields = {name: more.pop(name) for name in ("calls", "overwrite") if name in more}
    judges = [model(server, name) for name in names or ("j",)]
    return rejudge(results, DATA, judges, options=options(**fields), **more)


def test_drafts_are_judged_and_nothing_else_changes(results: Path) -> None:
    def without_judgements(record: Json) -> Json:
        turns = [{k: v for k, v in turn.items() if not k.startswith("em_draft_")} for turn in record["turns"]]
        return record | {"turns": turns, "attune": record["attune"] | {"judge": None, "scores": None}}

    before = files(results)
    with serve(judge_answers(7)) as server:
        report = again(server, results)
    assert len(server.calls) == report.tally.calls == 4
    assert report.written == 2
    for name, record in files(results).items():
        assert without_judgements(record) == without_judgements(before[name])
        assert all(set(turn["em_draft_judge_scores"].values()) == {7} for turn in record["turns"])
        assert record["attune"]["scores"]["avg_draft_judge_score"] == 1.0  # (7 - 1)/6
    found, problems, _ = read_results(results, DATA)
    assert not problems
    scored = score_results(found, DATA, ground_truth="here")["conversations"][0]
    assert [turn["draft_judge_score"] for turn in scored["turn_scores"]] == [1.0, 1.0]  # (7 - 1)/6


def test_it_gives_what_judging_during_the_run_gives(tmp_path: Path) -> None:
    both = first_of(answers_of(DATA), judge_answers(6))
    met(tmp_path / "with", DATA, answers=both, judges=["j"])
    met(tmp_path / "after", DATA, answers=both)
    with serve(both) as server:
        again(server, tmp_path / "after")
    for name, record in files(tmp_path / "with").items():
        other = files(tmp_path / "after")[name]
        assert record["turns"] == other["turns"]
        other["attune"]["judge"].pop("usage")
        assert all(record["attune"][key] == other["attune"][key] for key in ("judge", "scores"))


def test_the_same_judges_again_ask_nothing_and_others_replace_them(results: Path) -> None:
    with serve(judge_answers(7)) as server:
        again(server, results)
        before = snapshot(results)
        report = again(server, results)
        assert (len(server.calls), report.written, report.complete_before) == (4, 0, 2)
        assert snapshot(results) == before
        again(server, results, "a", "b")
        assert len(server.calls) == 4 + 8
        again(server, results, "a", "b", overwrite=True)
        assert len(server.calls) == 4 + 8 + 8
    for record in files(results).values():
        assert list(record["turns"][0]["em_draft_judge_scores_by_model"]) == ["a", "b"]


def test_it_goes_on_at_the_first_missing_judgement(results: Path) -> None:
    with serve(judge_answers(7)) as server:
        assert str(again(server, results, calls=3).stopped) == "stopped at --max-calls 3"
        again(server, results)
        assert len(server.calls) == 4


@pytest.mark.parametrize(("turns", "said"), [
    ({}, "turns: found no list of turns"),
    ({"turns": None}, "turns: found no list of turns"),
    ({"turns": [{"turnNumber": 1}, "odd"]}, r'turns\[1\]: found "odd", which is not a turn'),
])  # fmt: skip
def test_a_file_without_a_place_for_judgements_is_named_or_left_out(
    results: Path, turns: Json, said: str
) -> None:
    record = {"conversationId": "c-2", "em_model": "builtin/lexicon", **turns}
    write_json(results / "c-2_builtin_lexicon_default.json", record)
    with serve(judge_answers(7)) as server:
        with pytest.raises(DataError, match=said):
            again(server, results)
        assert not server.calls
        assert again(server, results, skip_invalid=True).written == 1


def test_the_record_holds_each_judges_provider_and_another_one_is_asked(results: Path) -> None:
    def marks() -> tuple[Any, Any]:
        found = read(results / FIRST)["attune"]["judge"]
        return found["models"], found["providers"]

    with serve(judge_answers(7)) as server, serve(judge_answers(2)) as other:
        again(server, results, "j")
        assert marks() == (["j"], {"j": "custom"})
        there = [Model("j", endpoint_of("openai", base_url=other.url, api_key="k"))]
        report = rejudge(results, DATA, there, options=options())
        assert (len(other.calls), report.written) == (4, 2)
        assert marks() == (["j"], {"j": "openai"})
        assert list(read(results / FIRST)["turns"][0]["em_draft_judge_scores_by_model"]) == ["j"]
        assert rejudge(results, DATA, there, options=options()).complete_before == 2


def test_only_what_is_chosen_is_judged(results: Path) -> None:
    before = snapshot(results)
    with serve(judge_answers(7)) as server:
        report = again(server, results, only={"c-2"})
        assert (len(server.calls), report.written, report.complete_before) == (2, 1, 0)
        with pytest.raises(DataError, match="no result for any of the chosen conversations"):
            again(server, results, only={"c-9"})
    changed = [name for name, held in snapshot(results).items() if before.get(name) not in (None, held)]
    assert changed == ["c-2_builtin_lexicon_default.json"]


def test_another_folder_keeps_results_with_other_answers_unless_told(tmp_path: Path) -> None:
    some, judged = tmp_path / "results", tmp_path / "judged"
    run_builtin("lexicon", DATA, some, settings=Settings(stages=("draft", "prefer")))
    run_builtin("lexicon", DATA, judged)
    before = snapshot(judged)
    with serve(judge_answers(7)) as server:
        with pytest.raises(SettingsError, match="contains answers other than those to be judged"):
            again(server, some, output=judged)
        assert (snapshot(judged), server.calls) == (before, [])
        again(server, some, output=judged, overwrite=True)
        # what is there now is the same but for what judges said
        again(server, some, "k", output=judged)
        write_json(judged / FIRST, read(judged / FIRST) | {"em_model": "builtin_lexicon"})
        for overwrite in (False, True):
            with pytest.raises(DataError, match="whose file has the same name"):
                again(server, some, output=judged, overwrite=overwrite)


def test_a_result_that_a_run_replaces_meanwhile_is_not_put_back(results: Path) -> None:
    def replaces(messages: Messages) -> str | None:
        record = read(results / FIRST)
        if record["turns"][0]["em_drafted_response"] != "Made anew.":
            record["turns"][0]["em_drafted_response"] = "Made anew."
            write_json(results / FIRST, record)
        return judge_answers(7)(messages)

    with serve(replaces) as server:
        with pytest.raises(DataError, match="another run has replaced them"):
            again(server, results)
        assert read(results / FIRST)["turns"][0]["em_drafted_response"] == "Made anew."
        assert again(server, results).stopped is None
    assert all(turn["em_draft_judge_scores"] for turn in read(results / FIRST)["turns"])


def test_the_command(tmp_path: Path) -> None:
    data_folder(tmp_path / "data", ("c-1", "c-2"))
    attune_here("run builtin lexicon data", tmp_path)
    with serve(judge_answers(7)) as server:
        line = "rejudge custom j --results results --data data --judge-model k --base-url "
        out, err = attune_here(line + server.url, tmp_path)
        assert len(server.calls) == 8
    assert out.splitlines()[0] == "judged 2 results in results; 0 were already judged"
    assert out.splitlines()[1].startswith("8 calls, ")
    assert "next: attune score --results results --data data" in out
    assert "2/2 c-" in err
    _, err = attune_here("rejudge custom j --results results --data data", tmp_path, 2)
    assert "needs --base-url" in err


def test_the_command_takes_the_selection_of_a_run_and_estimates_without_a_call(tmp_path: Path) -> None:
    data_folder(tmp_path / "data", ("c-1", "c-2", "c-3"))
    attune_here("run builtin lexicon data --modes default verbose", tmp_path)
    before = snapshot(tmp_path / "results")
    line = "rejudge openai j --results results --data data --judge-model k"  # and no key
    out, _ = attune_here(f"{line} --dry-run --limit 2 --price-in 10 --price-out 10", tmp_path)
    rows = [row.split("\t") for row in out.splitlines() if not row.startswith("#")]
    for mode, row in zip(("default", "verbose"), rows[1:3], strict=True):
        # 2 conversations x 2 drafts x 2 judges; 300 bytes an answer at 4 a token: 8 x 75 tokens out
        cost = f"${(int(row[6]) + 8 * 75) * 10 / 1e6:.2f}"
        assert row == [mode, "2", "0", "8", "0", "0", row[6], cost]
    assert "does not include judges" not in out
    assert snapshot(tmp_path / "results") == before
    with serve(judge_answers(7)) as server:
        chosen = "--where category=Work --limit 1 --base-url " + server.url
        out, err = attune_here(f"rejudge custom j --results results --data data {chosen}", tmp_path)
        assert len(server.calls) == 2 * 2
    assert "3 of 3 conversations match category=Work" in err
    assert out.splitlines()[0] == "judged 2 results in results; 0 were already judged"
    assert "--data data --where category=Work --output" in out
