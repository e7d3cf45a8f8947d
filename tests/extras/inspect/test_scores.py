"""What Inspect reports, beside `attune run custom` and `attune score` on the same answers."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from attune_data import Conversations, load
from attune_env import save_results
from attune_episodes import Request
from attune_episodes.frameworks.inspect import rollouts_from
from attune_episodes.protocol.unanswered import unanswered
from tests.data.builders import replaced, without
from tests.endpoint import Server, answers_of, serve
from tests.extras.inspect.evaluating import (
    MODEL,
    Evaluated,
    Json,
    evaluated,
    flat,
    named,
    scored,
    written,
)
from tests.running.playing import files, play, without_times

FAULTS = [
    "garbage,share=0.3,seed=3",
    "garbage,of=sample-02/2/assess",
    "empty,of=sample-03/end/reflect",
    "length,of=sample-01/*/draft,first=1",
    "refusal,of=part-1/1/prefer",
    "refusal,of=part-2/1/draft,first=1",
    "content_filter,of=part-2/2/draft,first=2",
]
"""Replies to ask again about, and some that are never read."""


@dataclass(frozen=True)
class Both:
    """One set of answers, asked for by Inspect and by `attune run`."""

    data: Conversations
    inspect: Evaluated
    seen: Counter[str | None]
    """How often Inspect asked each request."""
    results: Path
    """Of `attune run`."""
    ours: Json
    """The scores file."""
    asked: Counter[str | None]
    """How often `attune run` asked each request."""


def noisy(request: Request, reply: str) -> str:
    """Some of the lexicon's replies with another intensity, or without an answer."""
    if request.turn == 2 and request.stage == "assess":
        return reply.replace('"intensity": 5', '"intensity": 2').replace('"B3": "yes"', '"B3": "no"')
    return reply.replace('"fourBranchScores"', '"branches"') if request.conversation_id == "part-1" else reply


def partial_data(folder: Path) -> Conversations:
    """Three of the sample; two of one participant that lack annotations; one without any answer."""
    part = named("part-1", "P-two")
    part["turns"][0]["moodShiftTags"] = None
    part = without(part, ("postPanas",))
    other = named("part-2", "P-two")
    for comparison in other["turns"][1]["annotations"]["pairwiseComparisons"]:
        comparison["winner"] = None
    other = replaced(other, ("conversationWideQuestions",), None)
    blank = unanswered(load("sample")[4]).to_record() | {"conversationId": "blank"}
    sample = [one.to_record() for one in load("sample")[:3]]
    return load(written(folder, [*sample, part, other, blank]))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("both")
    data = partial_data(folder / "data")
    book = answers_of(data, "lexicon", change=noisy)
    with serve(book, FAULTS) as server:
        inspect = evaluated(server, folder / "logs", {"data": str(folder / "data" / "conversations.jsonl")})
        seen = counted(server)
    with serve(book, FAULTS) as server:
        report = play(server, data, folder / "results")
        asked = counted(server)
    assert not report.failed
    return Both(data, inspect, seen, folder / "results", scored(folder / "results", data), asked)


def counted(server: Server) -> Counter[str | None]:
    assert server.unknown == []
    return Counter(call.request for call in server.calls)


def same(value: float, other: float | None) -> bool:
    """Whether a value of Inspect is one of a scores file, where None is what is not defined."""
    return math.isnan(value) if other is None else abs(value - other) <= 1e-9


def test_every_metric_of_every_conversation_is_that_of_attune_score(both: Both) -> None:
    theirs = {about: values for (about, _), values in flat(both.ours).items()}
    assert {about for about, _ in both.inspect.values} == theirs.keys() == both.data.by_id.keys()
    undefined = 0
    for (about, _), values in both.inspect.values.items():
        for name, value in values.items():
            if name not in ("parse_rate", "complete"):
                assert same(value, theirs[about].get(name)), (about, name)
                undefined += math.isnan(value)
    assert undefined > 30
    blank = both.inspect.values["blank", 1]
    strict = {name for name in blank if name.startswith("strict_") or name == "composite_strict"}
    assert len(strict) > 15
    assert all(math.isnan(blank[name]) for name in strict)
    assert (blank["unscored_share"], blank["complete"]) == (1, 1)


def test_every_mean_is_that_of_attune_score_over_the_same_conversations(both: Both) -> None:
    (group,) = both.ours["aggregates"]
    assert list(both.inspect.metrics)[:2] == ["composite_score", "composite_strict"]
    for name, found in both.inspect.metrics.items():
        if name in ("parse_rate", "complete"):
            continue
        assert same(found["mean"], group[name]), name
        assert found["scored"] == group["n_defined"][name], name
        assert found["unscored"] == len(both.data) - group["n_defined"][name], name
    assert both.inspect.metrics["composite_strict"]["scored"] == 5
    assert both.inspect.metrics["strict_emotion_f1"]["unscored"] == 1


def test_result_files_from_the_log_are_those_of_attune_run(both: Both, tmp_path: Path) -> None:
    made = rollouts_from(both.inspect.path)
    save_results(made, tmp_path / "results")
    mine, theirs = files(tmp_path / "results"), files(both.results)
    assert len(mine) == len(theirs) == len(both.data)
    by_id = {record["conversationId"]: record for record in theirs.values()}
    for record in mine.values():
        assert record["em_model"] == MODEL
        assert record["duration_seconds"] >= 0
        assert without_times(record) == without_times(by_id[record["conversationId"]])
    (group,), (other,) = scored(tmp_path / "results", both.data)["aggregates"], both.ours["aggregates"]
    assert {k: v for k, v in group.items() if k != "em_model"} == {
        k: v for k, v in other.items() if k != "em_model"
    }


def test_no_annotated_answer_is_sent_and_samples_show_none_as_input(both: Both) -> None:
    for sample in both.inspect.log.samples or ():
        assert sample.input == both.data.by_id[str(sample.id)].turns[0].user_message
        assert sample.target == ""
