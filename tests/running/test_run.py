"""A run against a real server: the calls it makes, the results it writes, and how it goes on."""

from __future__ import annotations

import gc
import json
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from attune_data import Conversation, Conversations, DataError, SettingsError, load
from attune_data.files.write import write_jsonl
from attune_env.results import read_results, save_results, score_results
from attune_env.running import run_builtin
from attune_env.running.jobs import Job, calls_of
from attune_env.running.loop import Watcher
from attune_env.running.served import run_endpoint
from attune_env.running.settings import Price, Training
from attune_env.running.tally import Tally
from attune_episodes import MODES, Settings, plan, rollout
from attune_episodes.judging import judge_request
from tests.data.builders import Json
from tests.endpoint import Server, answers_of, first_of, serve
from tests.running.playing import (
    CALLS,
    QUICK,
    book,
    files,
    judge_answers,
    met,
    model,
    play,
    sample,
    small,
    the_only,
    without_times,
)

DATA = small("c-1")


def scored(folder: Path, data: Conversations) -> Json:
    results, problems, warnings = read_results(folder, data)
    assert (problems, warnings) == ([], [])
    return score_results(results, data, ground_truth="here")


def test_each_request_is_sent_once_word_for_word_and_gives_what_the_policy_gives_here(
    tmp_path: Path,
) -> None:
    _, server = met(tmp_path / "served", sample(), answers=book())
    wanted = {json.dumps(r.chat()) for c in sample() for r in plan(c)}
    assert sorted(json.dumps(call.body["messages"]) for call in server.calls) == sorted(wanted)
    sent = {"model", "messages", "stream", "response_format"}
    assert all(set(call.body) <= sent and call.body["stream"] is False for call in server.calls)
    run_builtin("lexicon", sample(), tmp_path / "built")
    served, built = (
        [without_times(record) for record in files(tmp_path / way).values()] for way in ("served", "built")
    )
    assert len(served) == 3
    assert served == built
    ours, theirs = (scored(tmp_path / way, sample())["aggregates"][0] for way in ("served", "built"))
    assert ours == theirs | {"em_model": "custom/lab/m"}


def test_a_result_says_what_it_took_and_who_answered(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path, evaluated=model(server, price=Price(2.0, 10.0), temperature=0.5))
    record = the_only(tmp_path)
    usage = record["attune"]["usage"]
    assert list(files(tmp_path)) == ["c-1_custom_lab_m_default.json"]
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
    # overall 7, 3, 2: mean 4; yes, yes, no: yes; with two judges that differ there is no majority
    says, judges = {"j/a": (7, "yes"), "j/b": (3, "yes"), "j/c": (2, "no")}, dict[str, Server]()
    with ExitStack() as stack:
        server = stack.enter_context(serve(answers_of(DATA)))
        for name, said in says.items():
            judges[name] = stack.enter_context(serve(judge_answers(*said)))
        for folder, names in (("three", ["j/a", "j/b", "j/c"]), ("two", ["j/a", "j/c"])):
            asked = [model(judges[name], name) for name in names]
            run_endpoint(model(server), DATA, tmp_path / folder, judges=asked)
    three, two = the_only(tmp_path / "three"), the_only(tmp_path / "two")
    for turn, pair in zip(three["turns"], two["turns"], strict=True):
        assert set(turn["em_draft_judge_scores"].values()) == {4}
        assert set(turn["em_draft_binary_assessment"].values()) == {"yes"}
        by_model = {m: set(s.values()) for m, s in turn["em_draft_judge_scores_by_model"].items()}
        assert by_model == {"j/a": {7}, "j/b": {3}, "j/c": {2}}
        assert set(pair["em_draft_judge_scores"].values()) == {4.5}
        assert pair["em_draft_binary_assessment"] == {}
    assert three["attune"]["policy"]["judges"] == ["custom/j/a", "custom/j/b", "custom/j/c"]
    (entry,) = scored(tmp_path / "three", DATA)["conversations"]
    # (4 - 1)/6
    assert [turn["draft_judge_score"] for turn in entry["turn_scores"]] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("judges", [0, 2])
def test_the_number_of_calls_is_known_beforehand(mode: Any, judges: int) -> None:
    settings = Settings(mode=mode)
    for about in load("sample"):
        requests = plan(about, settings)
        drafts = [r.turn for r in requests if r.stage == "draft"]
        judged = sum(judge_request(about, turn or 0, "a draft") is not None for turn in drafts)
        assert calls_of(about, settings, judges=judges) == len(requests) + judges * judged
    # 5 turns x (draft, judge, assess, assess_hp, prefer) + reflect = 5 x 5 + 1
    assert calls_of(sample(1)[0], Settings(), judges=1) == 26


def test_a_run_goes_on_at_the_first_missing_call_and_loads_nothing_where_none_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = sum(len(plan(c)) for c in sample())
    first, early = met(tmp_path, sample(), answers=book(), calls=25)
    assert (len(early.calls), str(first.stopped)) == (25, "stopped at --max-calls 25")
    second, late = met(tmp_path, sample(), answers=book())
    assert (second.stopped, second.tally.calls_kept, second.tally.new) == (None, 25, total - 25)
    asked = [json.dumps(call.body["messages"]) for call in [*early.calls, *late.calls]]
    assert len(asked) == len(set(asked)) == total
    monkeypatch.setitem(sys.modules, "attune_episodes.chat.client", None)  # an import of it would fail
    assert met(tmp_path, sample(), answers=book())[0].complete_before == 3


def test_replies_are_not_used_again_for_another_question(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path, calls=4)
        others: list[Json] = [{"temperature": 0.1}, {"max_tokens": 99}, {"seed": 3}]
        others += [{"training": Training(step)} for step in (100, 200)]
        for other in others:
            for kept in (0, 1):
                asked = model(server, **other)
                report = play(server, DATA, tmp_path, evaluated=asked, calls=1, concurrency=1)
                assert report.tally.calls_kept == kept
        assert play(server, DATA, tmp_path, calls=1).tally.calls_kept == 4


def test_results_of_other_settings_are_not_mixed_in(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
        others: list[tuple[Json, str]] = [
            ({"evaluated": model(server, temperature=0.1)}, r"temperature None there, 0\.1 now"),
            ({"judges": ["j"]}, "to have its drafts judged, use `attune rejudge`"),
            ({"settings": Settings(seed=5)}, "seed 0 there, 5 now"),
        ]
        for other, message in others:
            with pytest.raises(SettingsError, match=message):
                play(server, DATA, tmp_path, **other)
        assert len(server.calls) == CALLS


def test_samples_are_results_of_their_own_that_are_scored_side_by_side(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        one = play(server, DATA, tmp_path)
        report = play(server, DATA, tmp_path, samples=3)
        assert len(server.calls) == 3 * CALLS
    assert (one.written, report.written, report.complete_before) == (1, 2, 1)
    models = ["custom/lab/m", "custom/lab/m@sample2", "custom/lab/m@sample3"]
    assert sorted(record["em_model"] for record in files(tmp_path).values()) == models
    assert [group["em_model"] for group in scored(tmp_path, DATA)["aggregates"]] == models


def test_a_seed_sends_each_call_and_each_sample_its_own(tmp_path: Path) -> None:
    seeds = []
    for folder in ("a", "b"):
        with serve(answers_of(DATA)) as server:
            play(server, DATA, tmp_path / folder, samples=2, evaluated=model(server, seed=7))
        seeds.append(sorted(call.body["seed"] for call in server.calls))
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 2 * CALLS


def test_a_conversation_is_asked_in_order_while_there_are_others_to_fill_the_places(tmp_path: Path) -> None:
    _, server = met(tmp_path, sample(4), answers=book(4), latency=0.01, concurrency=2, plain=True)
    for about in sample(4)[:2]:
        mine = [c.request for c in server.calls if str(c.request).startswith(f"{about.conversation_id}/")]
        assert mine == [request.id for request in plan(about)]
    assert server.most_in_flight == 2
    assert len(server.peers) <= 2  # a connection is used again


def test_the_calls_of_the_last_conversation_fill_all_places(tmp_path: Path) -> None:
    # nobody is answered before nine are asked
    _, server = met(tmp_path, DATA, gather=9, concurrency=9, plain=True)
    assert server.most_in_flight == 9


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
            assert "MB, expected at most 0 MB; limit the replies (--max-tokens)" in entry["reason"]
        # what is in the journal is not asked again
        assert len(server.calls) == sum(calls_of(about, Settings()) for about in data)
    with pytest.raises(DataError, match="at most 0 MB"):
        save_results([rollout(data[1], lambda _: "z" * 50_000)], tmp_path / "mine")
    assert not files(tmp_path / "mine")


def test_conversations_in_files_are_read_when_their_turn_comes_and_let_go_after(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    write_jsonl(load("sample"), path)
    stored, asked = load(path, in_memory=False), Settings(stages=("reflect",))

    class Counting(Watcher):
        held: ClassVar[list[int]] = []

        def finished(self, job: Job, tally: Tally) -> None:
            gc.collect()  # older objects are frozen during a run, and not among these
            self.held.append(sum(isinstance(one, Conversation) for one in gc.get_objects()))

    report, _ = met(
        tmp_path / "a", stored, answers=lambda _: "{}", settings=asked, concurrency=2, watcher=Counting()
    )
    assert report.written == len(Counting.held) == 20
    assert 1 <= max(Counting.held) <= 6
