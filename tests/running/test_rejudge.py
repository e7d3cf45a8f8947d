"""`attune rejudge`: judges for drafts that are there, in our files and in the official runner's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attune_data import DataError, SettingsError
from attune_env.results import read_results, score_results, write_json
from attune_env.running import run_builtin
from attune_env.running.providers import endpoint_of
from attune_env.running.rejudge import rejudge
from attune_env.running.run import EndpointReport
from attune_env.running.settings import Caps, Model, Options
from attune_episodes import Settings
from tests.data.builders import Json
from tests.endpoint import Server, answers_of, first_of, serve
from tests.endpoint.answers import Messages
from tests.front.command import data_folder, snapshot
from tests.front.inside import attune_here
from tests.running.playing import QUICK, files, judge_answers, model, play, small

DATA = small("c-1", "c-2")


def again(server: Server, results: Path, *names: str, **options: object) -> EndpointReport:
    fields = {key: options.pop(key) for key in ("caps", "overwrite") if key in options}
    return rejudge(
        results, DATA, [model(server, name) for name in names or ("j",)],
        options=Options(patience=QUICK, **fields), **options,  # type: ignore[arg-type]
    )  # fmt: skip


def without_judgements(record: Json) -> Json:
    turns = [{k: v for k, v in turn.items() if not k.startswith("em_draft_")} for turn in record["turns"]]
    kept = {name: value for name, value in record["attune"].items() if name != "judge"}
    return record | {"turns": turns, "attune": kept}


def test_drafts_are_judged_and_nothing_else_changes(tmp_path: Path) -> None:
    run_builtin("lexicon", DATA, tmp_path)
    before = files(tmp_path)
    with serve(judge_answers(7)) as server:
        report = again(server, tmp_path)
        assert len(server.calls) == report.tally.calls == 4  # 2 conversations of 2 turns
    assert report.written == 2
    for name, record in files(tmp_path).items():
        assert without_judgements(record) == without_judgements(before[name])
        for turn in record["turns"]:
            assert set(turn["em_draft_judge_scores"].values()) == {7}
    found, problems, _ = read_results(tmp_path, DATA)
    assert not problems
    scored = score_results(found, DATA, ground_truth="here")["conversations"][0]
    assert [turn["draft_judge_score"] for turn in scored["turn_scores"]] == [1.0, 1.0]  # (7 - 1)/6


def test_it_gives_what_judging_during_the_run_gives(tmp_path: Path) -> None:
    with serve(first_of(answers_of(DATA), judge_answers(6))) as server:
        play(server, DATA, tmp_path / "with", judges=["j"])
        play(server, DATA, tmp_path / "after")
        again(server, tmp_path / "after")
    for name, record in files(tmp_path / "with").items():
        other = files(tmp_path / "after")[name]
        for turn, twin in zip(record["turns"], other["turns"], strict=True):
            assert turn == twin
        mine, theirs = record["attune"]["judge"], other["attune"]["judge"]
        assert {k: v for k, v in theirs.items() if k != "usage"} == mine


def test_the_same_judges_again_ask_nothing_and_others_replace_them(tmp_path: Path) -> None:
    run_builtin("lexicon", DATA, tmp_path)
    with serve(judge_answers(7)) as server:
        again(server, tmp_path)
        before = snapshot(tmp_path)
        report = again(server, tmp_path)
        assert (len(server.calls), report.written, report.complete_before) == (4, 0, 2)
        assert snapshot(tmp_path) == before
        again(server, tmp_path, "a", "b")
        assert len(server.calls) == 4 + 8
        again(server, tmp_path, "a", "b", overwrite=True)
        assert len(server.calls) == 4 + 8 + 8
    for record in files(tmp_path).values():
        assert list(record["turns"][0]["em_draft_judge_scores_by_model"]) == ["a", "b"]


def test_it_goes_on_at_the_first_missing_judgement(tmp_path: Path) -> None:
    run_builtin("lexicon", DATA, tmp_path)
    with serve(judge_answers(7)) as server:
        report = again(server, tmp_path, caps=Caps(calls=3))
        assert str(report.stopped) == "stopped at --max-calls 3"
        again(server, tmp_path)
        assert len(server.calls) == 4


@pytest.mark.parametrize(("turns", "said"), [
    ({}, "turns: found no list of turns"),
    ({"turns": None}, "turns: found no list of turns"),
    ({"turns": [{"turnNumber": 1}, "odd"]}, r'turns\[1\]: found "odd", which is no turn'),
])  # fmt: skip
def test_a_file_without_a_place_for_judgements_is_named_or_left_out(
    tmp_path: Path, turns: Json, said: str
) -> None:
    run_builtin("lexicon", DATA[:1], tmp_path)
    path = tmp_path / "c-2_builtin_lexicon_default.json"
    path.write_text(json.dumps({"conversationId": "c-2", "em_model": "builtin/lexicon", **turns}))
    with serve(judge_answers(7)) as server:
        with pytest.raises(DataError, match=said):
            again(server, tmp_path)
        assert not server.calls
        assert again(server, tmp_path, skip_invalid=True).written == 1


def test_the_record_holds_each_judges_provider_and_another_one_is_asked(tmp_path: Path) -> None:
    run_builtin("lexicon", DATA, tmp_path)
    path = tmp_path / "c-1_builtin_lexicon_default.json"

    def marks() -> Json:
        found: Json = json.loads(path.read_text())["attune"]["judge"]
        return found

    with serve(judge_answers(7)) as server, serve(judge_answers(2)) as other:
        again(server, tmp_path, "j")
        assert (marks()["models"], marks()["providers"]) == (["j"], {"j": "custom"})
        there = Model("j", endpoint_of("openai", base_url=other.url, api_key="k"))
        report = rejudge(tmp_path, DATA, [there], options=Options(patience=QUICK))
        assert (len(other.calls), report.written) == (4, 2)
        assert marks()["providers"] == {"j": "openai"}
        assert list(json.loads(path.read_text())["turns"][0]["em_draft_judge_scores_by_model"]) == ["j"]
        assert rejudge(tmp_path, DATA, [there], options=Options(patience=QUICK)).complete_before == 2


def test_only_what_is_chosen_is_judged(tmp_path: Path) -> None:
    run_builtin("lexicon", DATA, tmp_path)
    before = snapshot(tmp_path)
    with serve(judge_answers(7)) as server:
        report = again(server, tmp_path, only={"c-2"})
        assert (len(server.calls), report.written, report.complete_before) == (2, 1, 0)
        with pytest.raises(DataError, match="no result of a conversation that is wanted"):
            again(server, tmp_path, only={"c-9"})
    changed = [name for name, held in snapshot(tmp_path).items() if before.get(name) not in (None, held)]
    assert changed == ["c-2_builtin_lexicon_default.json"]


def test_another_folder_keeps_results_with_other_answers_unless_told(tmp_path: Path) -> None:
    run_builtin("lexicon", DATA, tmp_path / "results", settings=Settings(stages=("draft", "prefer")))
    run_builtin("lexicon", DATA, tmp_path / "judged")
    before = snapshot(tmp_path / "judged")
    with serve(judge_answers(7)) as server:
        with pytest.raises(SettingsError, match="holds other answers than those that are to be judged"):
            again(server, tmp_path / "results", output=tmp_path / "judged")
        assert (snapshot(tmp_path / "judged"), server.calls) == (before, [])
        again(server, tmp_path / "results", output=tmp_path / "judged", overwrite=True)
        # what is there now is the same but for what judges said
        again(server, tmp_path / "results", "k", output=tmp_path / "judged")
        path = next(path for path in (tmp_path / "judged").glob("c-1*"))
        path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"em_model": "builtin_lexicon"}))
        for overwrite in (False, True):
            with pytest.raises(DataError, match="whose file has the same name"):
                again(server, tmp_path / "results", output=tmp_path / "judged", overwrite=overwrite)


def test_a_result_that_a_run_replaces_meanwhile_is_not_put_back(tmp_path: Path) -> None:
    run_builtin("lexicon", DATA, tmp_path)
    path = next(path for path in tmp_path.glob("c-1*"))
    judge = judge_answers(7)

    def replaces(messages: Messages) -> str | None:
        record = json.loads(path.read_text("utf-8"))
        if record["turns"][0]["em_drafted_response"] != "Made anew.":
            record["turns"][0]["em_drafted_response"] = "Made anew."
            write_json(path, record)
        return judge(messages)

    with serve(replaces) as server:
        with pytest.raises(DataError, match="another run has replaced them meanwhile"):
            again(server, tmp_path)
        assert json.loads(path.read_text("utf-8"))["turns"][0]["em_drafted_response"] == "Made anew."
        assert again(server, tmp_path).stopped is None
    assert all(turn["em_draft_judge_scores"] for turn in files(tmp_path)[path.name]["turns"])


def test_the_command(tmp_path: Path) -> None:
    data_folder(tmp_path / "data", ("c-1", "c-2"))
    attune_here("run builtin lexicon data", tmp_path)
    with serve(judge_answers(7)) as server:
        line = "rejudge custom j --results results --data data --judge-model k --base-url "
        out, err = attune_here(line + server.url, tmp_path)
        assert len(server.calls) == 8
    assert out.splitlines()[0] == "judged 2 results in results, 0 were judged already"
    assert out.splitlines()[1].startswith("8 calls, ")
    assert 'next: attune score --results "results" --data "data"' in out
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
    # 2 conversations x 2 drafts x 2 judges, in each mode
    assert [row[:6] for row in rows[1:3]] == [
        ["default", "2", "0", "8", "0", "0"], ["verbose", "2", "0", "8", "0", "0"],
    ]  # fmt: skip
    # 300 bytes an answer at 4 a token: 8 x 75 tokens out
    assert [row[7] for row in rows[1:3]] == [f"${(int(row[6]) + 8 * 75) * 10 / 1e6:.2f}" for row in rows[1:3]]
    assert "leaves judges out" not in out
    assert snapshot(tmp_path / "results") == before
    with serve(judge_answers(7)) as server:
        chosen = "--where category=Work --limit 1 --base-url " + server.url
        out, err = attune_here(f"rejudge custom j --results results --data data {chosen}", tmp_path)
        assert len(server.calls) == 2 * 2
    assert "3 of 3 conversations have category=Work" in err
    assert out.splitlines()[0] == "judged 2 results in results, 0 were judged already"
    assert '--data "data" --where category=Work --output' in out
