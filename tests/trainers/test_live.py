"""Rows of whole live conversations, and the chat that plays one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attune_data import DataError, SettingsError, UnknownNameError, load
from attune_data.simulate import Simulation
from attune_episodes.live import LiveEpisode
from attune_episodes.trainers import live_rows, to_skyrl
from attune_episodes.trainers.live import chat_of_row

WORLD = Simulation(6, start=2, step=3)


def test_a_row_says_what_the_person_says_first_and_where_it_begins() -> None:
    rows = live_rows(WORLD, 3, reader="lexicon")
    for row, index in zip(rows, (2, 5, 8), strict=True):
        live = LiveEpisode(WORLD, index, reader="lexicon")
        assert row["prompt"] == live.chat()
        assert row["id"] == row["conversation_id"] == live.name
        assert row["participant_id"] == WORLD.person(index).participant_id
        assert (row["reward"], row["provenance"]) == ("live", "simulated")
        chat = chat_of_row(row["task"])
        assert chat.opening() == row["prompt"]
        assert chat.length == live.length
        reward, score, following = chat.submit("You sound hurt… no wonder.")
        turn = live.say("You sound hurt… no wonder.")
        assert reward == turn.reward == score.reward
        assert score.parts == {"live": reward}
        assert following == ([] if turn.done else [{"role": "user", "content": live.message}])
    assert "reward live, provenance simulated" in rows.info.description


def test_skyrl_knows_its_environment() -> None:
    row = to_skyrl(live_rows(WORLD, 1))[0]
    assert (row["env_class"], row["data_source"]) == ("attune-live", "attune/live")
    assert chat_of_row(row["reward_spec"]["ground_truth"]).episode.index == 2


@pytest.mark.parametrize(("arguments", "error", "words"), [
    ((load("sample"), 1), SettingsError, r"no known state.*Simulation\("),
    (("simulated", 1), SettingsError, r"expected Simulation\(seed\)"),
    ((WORLD, 0), SettingsError, "number is 0"),
    ((WORLD, True), SettingsError, "number is"),
])  # fmt: skip
def test_what_makes_no_live_row_is_refused(arguments: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        live_rows(*arguments)


def test_a_reader_that_a_row_cannot_name_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="no reader named"):
        live_rows(WORLD, 1, reader="judge")


@pytest.mark.parametrize("task", [None, "", "{", "[]", "{}", "3", json.dumps({"scoring": "v9"})])
def test_a_task_of_another_kind_is_refused(task: Any) -> None:
    with pytest.raises(DataError):
        chat_of_row(task)
