"""A run against a real server: the calls it makes, the results it writes, and how it goes on."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from attune_data import Conversation, DataError, SettingsError, load
from attune_data.simulate import Simulation
from attune_data.writing import write_jsonl
from attune_env.results import read_results, save_results, score_results
from attune_env.running import run_builtin
from attune_env.running.jobs import Job, calls_of
from attune_env.running.loop import Watcher
from attune_env.running.run import run_endpoint
from attune_env.running.settings import Caps, Price
from attune_env.running.tally import Tally
from attune_episodes import MODES, Settings, plan, rollout
from attune_episodes.judging import judge_request
from tests.endpoint import Server, answers_of, first_of, serve
from tests.front.command import data_folder
from tests.front.inside import attune_here
from tests.running.playing import QUICK, book, files, judge_answers, model, play, sample, small, without_times


def test_five_full_turns_with_one_judge_take_26_calls(tmp_path: Path) -> None:
    # 5 turns x (draft, judge, assess, assess_hp, prefer) + reflect = 5 x 5 + 1
    about = sample(1)
    with serve(first_of(book(1), judge_answers())) as server:
        report = play(server, about, tmp_path, judges=["lab/judge"])
    assert len(about[0].turns) == 5
    assert len(server.calls) == report.tally.calls == report.tally.calls_done == 26
    assert {call.body["model"] for call in server.calls} == {"lab/m", "lab/judge"}
    assert sum(call.body["model"] == "lab/judge" for call in server.calls) == 5
    assert report.stopped is None
    assert not report.failed


def test_each_request_of_the_plan_is_sent_once_word_for_word(tmp_path: Path) -> None:
    with serve(book()) as server:
        play(server, sample(), tmp_path)
    wanted = {json.dumps(r.chat()) for c in sample() for r in plan(c)}
    sent = [json.dumps(call.body["messages"]) for call in server.calls]
    assert sorted(sent) == sorted(wanted)
    assert all(set(call.body) <= {"model", "messages", "response_format"} for call in server.calls)


def test_results_are_those_of_the_same_policy_played_here(tmp_path: Path) -> None:
    with serve(book()) as server:
        report = play(server, sample(), tmp_path / "served")
    run_builtin("lexicon", sample(), tmp_path / "built")
    served = [without_times(record) for record in files(tmp_path / "served").values()]
    built = [without_times(record) for record in files(tmp_path / "built").values()]
    assert report.written == 3
    assert served == built
    scores = {}
    for name in ("served", "built"):
        results, problems, warnings = read_results(tmp_path / name, sample())
        assert not problems
        assert not warnings
        scores[name] = score_results(results, sample(), ground_truth="sample")["aggregates"][0]
        scores[name].pop("em_model")
    assert scores["served"] == scores["built"]


def test_a_result_says_what_it_took_and_who_answered(tmp_path: Path) -> None:
    data = small("c-1")
    with serve(answers_of(data)) as server:
        play(server, data, tmp_path, evaluated=model(server, price=Price(2.0, 10.0), temperature=0.5))
    ((name, record),) = files(tmp_path).items()
    usage = record["attune"]["usage"]
    assert name == "c-1_custom_lab_m_default.json"
    assert (record["em_model"], record["source_file"]) == ("custom/lab/m", "conversation_1.json")
    assert (usage["calls"], usage["attempts"], usage["asked_again"]) == (9, 9, 0)
    sent = sum(-(-len(m["content"]) // 4) for call in server.calls for m in call.body["messages"])
    assert usage["tokens_in"] == sent  # the server counts characters / 4, a message at a time
    assert record["api_cost"] == pytest.approx((2 * usage["tokens_in"] + 10 * usage["tokens_out"]) / 1e6)
    assert record["duration_seconds"] > 0
    assert record["attune"]["policy"]["temperature"] == 0.5
    assert {call.body["temperature"] for call in server.calls} == {0.5}
    (run,) = json.loads((tmp_path / "_run_custom_lab_m.json").read_text())["runs"]
    assert run["api_cost"] == pytest.approx(record["api_cost"])
    assert (run["calls"], run["attempts"], run["parse_rate"], run["error_rate"]) == (9, 9, 1.0, 0.0)


def test_several_judges_are_averaged_and_vote(tmp_path: Path) -> None:
    data = small("c-1")
    # overall 7, 3, 2: mean 4; yes, yes, no: yes; with two judges that differ there is no majority
    answers, says = answers_of(data), {"j/a": (7, "yes"), "j/b": (3, "yes"), "j/c": (2, "no")}
    judges: dict[str, Server] = {}
    with ExitStack() as stack:
        server = stack.enter_context(serve(answers))
        for name, said in says.items():
            judges[name] = stack.enter_context(serve(judge_answers(*said)))
        for folder, names in (("three", ["j/a", "j/b", "j/c"]), ("two", ["j/a", "j/c"])):
            run_endpoint(
                model(server), data, tmp_path / folder, judges=[model(judges[name], name) for name in names]
            )
    ((_, three),) = files(tmp_path / "three").items()
    ((_, two),) = files(tmp_path / "two").items()
    for turn, pair in zip(three["turns"], two["turns"], strict=True):
        assert set(turn["em_draft_judge_scores"].values()) == {4}
        assert set(turn["em_draft_binary_assessment"].values()) == {"yes"}
        assert {m: set(s.values()) for m, s in turn["em_draft_judge_scores_by_model"].items()} == {
            "j/a": {7}, "j/b": {3}, "j/c": {2},
        }  # fmt: skip
        assert set(pair["em_draft_judge_scores"].values()) == {4.5}
        assert pair["em_draft_binary_assessment"] == {}
    assert three["attune"]["policy"]["judges"] == ["custom/j/a", "custom/j/b", "custom/j/c"]
    results, problems, _ = read_results(tmp_path / "three", data)
    assert not problems
    (scored,) = score_results(results, data, ground_truth="here")["conversations"]
    # (4 - 1)/6
    assert [turn["draft_judge_score"] for turn in scored["turn_scores"]] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("judges", [0, 2])
def test_the_number_of_calls_is_known_beforehand(mode: str, judges: int) -> None:
    settings = Settings(mode=mode)  # type: ignore[arg-type]
    for about in load("sample"):
        requests = plan(about, settings)
        drafts = [r.turn for r in requests if r.stage == "draft"]
        judged = sum(judge_request(about, turn or 0, "a draft") is not None for turn in drafts)
        assert calls_of(about, settings, judges=judges) == len(requests) + judges * judged


def test_a_run_goes_on_at_the_first_missing_call(tmp_path: Path) -> None:
    total = sum(len(plan(c)) for c in sample())
    with serve(book()) as server:
        first = play(server, sample(), tmp_path, caps=Caps(calls=25))
        assert len(server.calls) == 25
        assert str(first.stopped) == "stopped at --max-calls 25"
        second = play(server, sample(), tmp_path)
        assert len(server.calls) == total
    assert second.stopped is None
    assert second.tally.calls_kept == 25
    assert second.tally.new == total - 25
    assert len({json.dumps(call.body["messages"]) for call in server.calls}) == total


def test_replies_are_not_used_again_for_another_question(tmp_path: Path) -> None:
    data = small("c-1")
    with serve(answers_of(data)) as server:
        play(server, data, tmp_path, caps=Caps(calls=4))
        for evaluated in (
            model(server, temperature=0.1),
            model(server, max_tokens=99),
            model(server, seed=3),
        ):
            report = play(server, data, tmp_path, evaluated=evaluated, caps=Caps(calls=1))
            assert report.tally.calls_kept == 0
        assert play(server, data, tmp_path, caps=Caps(calls=1)).tally.calls_kept == 4


def test_results_of_other_settings_are_not_mixed_in(tmp_path: Path) -> None:
    data = small("c-1")
    with serve(answers_of(data)) as server:
        play(server, data, tmp_path)
        with pytest.raises(SettingsError, match=r"temperature None there, 0\.1 now"):
            play(server, data, tmp_path, evaluated=model(server, temperature=0.1))
        with pytest.raises(SettingsError, match="to have its drafts judged, use `attune rejudge`"):
            play(server, data, tmp_path, judges=["j"])
        with pytest.raises(SettingsError, match="seed 0 there, 5 now"):
            play(server, data, tmp_path, settings=Settings(seed=5))
        assert len(server.calls) == 9


def test_samples_are_results_of_their_own_that_are_scored_side_by_side(tmp_path: Path) -> None:
    data = small("c-1")
    with serve(answers_of(data)) as server:
        one = play(server, data, tmp_path)
        report = play(server, data, tmp_path, samples=3)
        assert len(server.calls) == 27
    assert (one.written, report.written, report.complete_before) == (1, 2, 1)
    models = ["custom/lab/m", "custom/lab/m@sample2", "custom/lab/m@sample3"]
    assert sorted(record["em_model"] for record in files(tmp_path).values()) == models
    results, problems, _ = read_results(tmp_path, data)
    assert not problems
    scores = score_results(results, data, ground_truth="here")
    assert [group["em_model"] for group in scores["aggregates"]] == models


def test_a_seed_sends_each_call_and_each_sample_its_own(tmp_path: Path) -> None:
    data = small("c-1")
    seeds = []
    for folder in ("a", "b"):
        with serve(answers_of(data)) as server:
            play(server, data, tmp_path / folder, samples=2, evaluated=model(server, seed=7))
        seeds.append(sorted(call.body["seed"] for call in server.calls))
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 18


def test_a_conversation_is_asked_in_order_while_there_are_others_to_fill_the_places(tmp_path: Path) -> None:
    with serve(book(4), latency=0.01) as server:
        play(server, sample(4), tmp_path, concurrency=2, evaluated=model(server, structured="off"))
    order: dict[str, list[str]] = {}
    for call in server.calls:
        order.setdefault(str(call.request).split("/")[0], []).append(str(call.request))
    for about in sample(4)[:2]:
        assert order[about.conversation_id] == [request.id for request in plan(about)]
    assert server.most_in_flight == 2


def test_the_calls_of_the_last_conversation_fill_all_places(tmp_path: Path) -> None:
    data = small("c-1")
    with serve(answers_of(data), gather=9) as server:  # nobody is answered before nine are asked
        play(server, data, tmp_path, concurrency=9, evaluated=model(server, structured="off"))
    assert server.most_in_flight == 9


def test_a_connection_is_used_again_and_there_is_one_for_each_call_in_flight(tmp_path: Path) -> None:
    with serve(book(), latency=0.01) as server:
        play(server, sample(), tmp_path, concurrency=4)
        assert len(server.calls) > 40
        assert 1 < len(server.peers) <= 4


@pytest.mark.slow
def test_a_run_that_is_complete_does_not_wait_for_the_sdk_to_load(tmp_path: Path) -> None:
    data_folder(tmp_path / "data", ("c-1",))
    line = ["run", "custom", "m", "data"]
    with serve(answers_of(small("c-1"))) as server:
        attune_here([*line, "--base-url", server.url], tmp_path)
        code = (
            f"import sys; sys.argv = ['attune', *{[*line, '--base-url', server.url]}]\n"
            "from attune_env.cli import main\n"
            "try: main()\n"
            "except SystemExit as end: print(end.code, 'openai' in sys.modules, 'httpx' in sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
        )
        assert len(server.calls) == 9
    assert done.stdout.startswith("wrote 0 results to results, 1 were complete already\n")
    assert done.stdout.endswith("0 False False\n")


def test_a_result_beyond_what_is_read_is_not_written_and_its_conversation_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = sample(2)
    monkeypatch.setattr("attune_env.results.files.MAX_RESULT_BYTES", 500_000)
    with serve(first_of(book(1), lambda _: "y" * 50_000)) as server:
        for _ in range(2):
            report = play(server, data, tmp_path, patience=replace(QUICK, asks=1))
            assert list(files(tmp_path)) == ["sample-01_custom_lab_m_default.json"]
            (entry,) = report.failed
            assert (entry["conversationId"], entry["request"]) == ("sample-02", "result")
            assert "MB, expected at most 0 MB; bound the replies (--max-tokens)" in entry["reason"]
        # what is in the journal is not asked again
        assert len(server.calls) == sum(calls_of(about, Settings()) for about in data)
    played = rollout(data[1], lambda _: "z" * 50_000)
    with pytest.raises(DataError, match="at most 0 MB"):
        save_results([played], tmp_path / "mine")
    assert not files(tmp_path / "mine")


def test_conversations_in_files_are_read_when_their_turn_comes_and_let_go_after(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    write_jsonl([Simulation(1)[n] for n in range(20)], path)
    stored = load(path, in_memory=False)

    class Counting(Watcher):
        most = 0

        def finished(self, job: Job, tally: Tally) -> None:
            self.most = max(self.most, held())

    def held() -> int:
        gc.collect()
        return sum(isinstance(one, Conversation) for one in gc.get_objects())

    before, counting = held(), Counting()
    asked = Settings(stages=("reflect",))
    with serve(lambda _: "{}") as server:
        report = play(server, stored, tmp_path / "a", settings=asked, concurrency=2, watcher=counting)
    assert report.written == 20
    assert counting.most - before <= 6
