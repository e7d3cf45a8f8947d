"""Rows drawn by weight or stage, and rows of a wanted pass rate."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data import SettingsError, load
from attune_data.source.source import Source
from attune_episodes import builtin_policy, plan
from attune_episodes.training import keep_pass_rates, training_dataset
from attune_episodes.training.sampling import drawn

SAMPLE = load("sample")


def counts(rows: list[dict[str, Any]], sampling: Any) -> list[int]:
    hits = Counter(index for index, _ in drawn(rows, sampling))
    return [hits[index] for index in range(len(rows))]


@given(weights=st.lists(st.floats(0.001, 1), min_size=1, max_size=30), name=st.text())
def test_a_conversation_keeps_its_number_of_rows_and_each_row_its_share_to_one(
    weights: list[float], name: str
) -> None:
    rows = [{"conversation_id": name, "stage": "assess", "weight": weight} for weight in weights]
    got = counts(rows, "weight")
    assert sum(got) == len(rows)
    for count, weight in zip(got, weights, strict=True):
        # equally spaced marks hit a stretch as often as it is long, one more or less
        assert abs(count - weight / sum(weights) * len(rows)) < 1 + 1e-9


def test_the_mean_of_many_conversations_is_the_share() -> None:
    # weights 1 : 3 : 4 of 8, so 3/8, 9/8 and 12/8 of the three rows
    rows = [
        {"conversation_id": f"c{i}", "stage": "assess", "weight": weight}
        for i in range(2000)
        for weight in (1, 3, 4)
    ]
    got = counts(rows, "weight")
    means = [sum(got[place::3]) / 2000 for place in range(3)]
    assert means == pytest.approx([3 / 8, 9 / 8, 12 / 8], abs=0.05)


def test_by_stage_each_stage_comes_equally_often() -> None:
    stages = ["assess", "prefer", "assess", "prefer", "assess", "reflect"]
    rows = [{"conversation_id": f"c{i}", "stage": s, "weight": 0.1} for i in range(600) for s in stages]
    got = Counter(row["stage"] for _, row in drawn(rows, "stage"))
    # six rows and three stages: two of each in the mean, two or three where the marks fall so
    assert sum(got.values()) == 3600
    assert all(abs(count - 1200) < 60 for count in got.values())


@pytest.mark.parametrize("sampling", ["weight", "stage"])
def test_a_stream_and_a_table_draw_the_same_rows(sampling: Any) -> None:
    endless = Source([(SAMPLE, 2)])
    table = training_dataset(SAMPLE[:4], sampling=sampling, prompts="compact")
    stream = training_dataset(endless, sampling=sampling, prompts="compact")
    assert [row["id"] for row in stream.take(len(table))] == table["id"][:]
    every = training_dataset(SAMPLE[:4], prompts="compact")
    assert len(table) == len(every)
    assert table["id"][:] != every["id"][:]
    plain = training_dataset(endless, prompts="compact")
    assert (stream.features, stream.info.description) == (table.features, plain.info.description)


def test_rows_of_a_wanted_pass_rate_are_kept_with_it() -> None:
    rows = training_dataset(SAMPLE[:2], reward="composite")
    oracle = {
        tuple(m["content"] for m in request.chat()): player.reply(request)
        for about in SAMPLE[:2]
        for player in [builtin_policy("oracle", SAMPLE).for_conversation(about)]
        for request in plan(about)
    }
    calls: Counter[str] = Counter()

    def model(messages: list[dict[str, str]]) -> str | None:
        """Right in three of four replies about the first conversation, silent about the second."""
        key = tuple(m["content"] for m in messages)
        calls[str(key)] += 1
        known = any(SAMPLE[0].turns[0].user_message in text for text in key)
        return str(oracle[key]) if known and calls[str(key)] % 4 else None

    kept = keep_pass_rates(rows, model, 0.5, 0.9, samples=4)
    assert set(calls.values()) == {4}
    assert set(kept["conversation_id"]) == {"sample-01"}
    assert set(kept["pass_rate"]) == {0.75}
    calls.clear()
    assert set(keep_pass_rates(rows, model, 0, 0.1, samples=4)["conversation_id"]) == {"sample-02"}
    with pytest.raises(SettingsError, match=r"low is 0\.9, high 0\.1"):
        keep_pass_rates(rows, model, 0.9, 0.1)
