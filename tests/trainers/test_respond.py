"""Rows to reply to: the recorded conversation up to a message, one reply, that turn's live reward."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable
from typing import Any

import pytest

from attune_data import DataError, SettingsError, load
from attune_data.errors import AttuneError
from attune_data.simulate import Level, Simulation
from attune_episodes import score_row
from attune_episodes.live import LiveEpisode
from attune_episodes.trainers import (
    reward_functions,
    row_reward,
    training_dataset,
)
from tests.trainers.batches import BROKEN, called, messages

WORLD = Simulation(5)
REPLIES = ("", "I hear you. It makes sense that you feel hurt by what they said.", "You should just move on.")


def rows_of(data: Any = WORLD, number: int = 2, **arguments: Any) -> list[dict[str, Any]]:
    """The rows of the first conversations of a world."""
    rows = training_dataset(data, stages=("respond",), **arguments)
    owners: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["conversation_id"] not in owners and len(owners) == number:
            break
        owners.setdefault(row["conversation_id"], []).append(row)
    return [row for those in owners.values() for row in those]


ROWS = rows_of()


def test_a_prompt_is_the_recorded_conversation_up_to_the_persons_message() -> None:
    about = WORLD[0]
    mine = ROWS[: len(about.turns)]
    assert [row["turn"] for row in mine] == [turn.turn_number for turn in about.turns]
    for place, row in enumerate(mine):
        said = [text for t in about.turns[:place] for text in (t.user_message, t.llm_response)]
        assert [m["content"] for m in row["prompt"]] == [*said, about.turns[place].user_message]
        assert [m["role"] for m in row["prompt"]] == (["user", "assistant"] * (place + 1))[:-1]
        assert row["id"] == f"{about.conversation_id}/{place + 1}/respond"
        assert (row["stage"], row["reward"], row["weight"]) == ("respond", "live", 1.0)
        assert (row["provenance"], row["level"]) == ("simulated", "default")


def test_a_row_pays_what_the_live_episode_pays_that_is_taken_over_there() -> None:
    for row in ROWS[:6]:
        for text in REPLIES:
            live = LiveEpisode(WORLD, 0 if row["conversation_id"] == ROWS[0]["conversation_id"] else 1,
                               turn=row["turn"] - 1)  # fmt: skip
            assert live.chat() == row["prompt"]
            score = score_row(row, text)
            assert score.value == live.say(text).reward
            assert (score.parts, score.weight, score.reason) == ({"live": score.value}, 1.0, "ok")


def test_scores_differ_by_what_is_said_and_silence_costs() -> None:
    for row in ROWS:
        values = {score_row(row, text).value for text in REPLIES}
        assert len(values) > 1
        assert (score_row(row, "").value or 0.0) < 0


@pytest.mark.parametrize("text", [*BROKEN, None, "x " * 5_000, "respond​\x00", '{"reward": 1}'])
def test_nothing_that_a_model_writes_raises_and_the_same_words_pay_the_same(text: str | None) -> None:
    first = score_row(ROWS[1], text)
    assert isinstance(first.value, float)
    assert score_row(ROWS[1], text) == first
    if text is not None:
        assert score_row(ROWS[1], messages(text)) == first


def test_a_row_says_where_it_stands_and_nothing_of_what_is_felt() -> None:
    told = json.loads(ROWS[1]["truth"])
    assert (told["stage"], told["item"], told["turn"], told["reader"]) == ("respond", 0, 1, "fitted")
    assert set(told) == {"scoring", "stage", "world", "item", "turn", "reader"}
    assert told["world"]["seed"] == 5
    assert told["world"]["key"] == WORLD.key


def test_a_world_of_ones_own_travels() -> None:
    world = Simulation(
        9, level=Level("mine", clarity=0.9, turns=(2, 3)), topics="unseen", templates="seen", start=4, step=3
    )
    row = rows_of(world, number=1)[1]
    live = LiveEpisode(world, 4, turn=1)
    assert row["level"] == "mine"
    assert score_row(json.loads(json.dumps(row)), REPLIES[1]).value == live.say(REPLIES[1]).reward


def test_levels_take_turns_as_in_other_rows() -> None:
    rows = training_dataset("simulated", level=["plain", "tangled"], number=2, stages=["respond"])
    assert list(dict.fromkeys(rows["level"])) == ["plain", "tangled"]
    other = training_dataset("simulated", level=["plain", "tangled"], number=2)
    assert list(dict.fromkeys(rows["conversation_id"])) == list(dict.fromkeys(other["conversation_id"]))
    assert rows.column_names == other.column_names
    assert "reward live, provenance simulated" in rows.info.description


@pytest.mark.parametrize("sampling", ["weight", "stage"])
def test_sampling_and_shuffling_take_them_as_they_are(sampling: Any) -> None:
    ids = [row["id"] for row in ROWS]
    given: dict[str, Any] = {"world_seed": 5, "number": 2, "stages": ["respond"]}
    assert training_dataset("simulated", sampling=sampling, **given)["id"] == ids
    assert sorted(training_dataset("simulated", shuffle=1, **given)["id"]) == sorted(ids)


# --- trainers --------------------------------------------------------------------------------------------


def test_the_reward_function_is_one_and_logs() -> None:
    (function,) = pickle.loads(pickle.dumps(reward_functions("live", ROWS)))
    assert (function.__name__, function.weight) == ("live", 1.0)
    logged: dict[str, float] = {}
    told: dict[str, Any] = {}
    texts = [messages(REPLIES[1])] * len(ROWS)
    values = function(**called(ROWS, texts, log_metric=logged.__setitem__, log_extra=told.__setitem__))
    assert values == [score_row(row, REPLIES[1]).value for row in ROWS]
    assert values == row_reward(**called(ROWS, texts))
    assert logged["attune/live"] == pytest.approx(sum(values) / len(values))
    assert logged["attune/parse_rate"] == 1.0
    assert told["attune_reason"] == ["ok"] * len(ROWS)


def test_beside_other_rows_each_is_paid_by_its_own_reward() -> None:
    reading = list(training_dataset("simulated", number=1, stages=["assess"]))
    both = [reading[0], ROWS[0]]
    assert row_reward(**called(both, ["hm"] * 2)) == [score_row(row, "hm").value for row in both]
    with pytest.raises(SettingsError, match=r"part 'live' .* reward 'skill' has no such part"):
        reward_functions("skill")[0](**called(both, ["hm"] * 2))
    with pytest.raises(SettingsError, match='made with reward "skill", the reward functions with "live"'):
        reward_functions("live", reading)
    with pytest.raises(SettingsError, match='made with reward "live"'):
        reward_functions("skill", ROWS)


# --- refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [
    "sample", "written", "written+simulated", "data/folder", load("sample"), WORLD.take(1), iter(())
], ids=["sample", "written", "mixture", "folder", "conversations", "simulated", "iterator"])  # fmt: skip
def test_conversations_without_a_known_state_are_refused_and_the_error_names_simulation(data: Any) -> None:
    with pytest.raises(SettingsError, match=r"no known state.*Simulation\("):
        training_dataset(data, stages=("respond",))


@pytest.mark.parametrize(("arguments", "words"), [
    ({"stages": ("respond", "assess")}, "respond cannot be combined"),
    ({"reward": "skill"}, 'reward is "skill"; the reward of stage respond is "live"'),
    ({"prompts": "compact"}, "prompts is \"compact\"; the stage respond does not use it"),
    ({"where": "who_5<13"}, "where is"),
    ({"number": 0}, "number is 0"),
])  # fmt: skip
def test_arguments_that_do_not_go_with_it_are_refused(arguments: Any, words: str) -> None:
    with pytest.raises(AttuneError, match=words):
        training_dataset("simulated", **({"stages": ("respond",)} | arguments))


def tampered() -> Iterable[dict[str, Any]]:
    told = json.loads(ROWS[0]["truth"])
    for key in ("world", "item", "turn", "reader"):
        yield {name: value for name, value in told.items() if name != key}
        yield {**told, key: None}
    yield {**told, "turn": 99}
    yield {**told, "turn": -1}
    yield {**told, "item": -1}
    yield {**told, "reader": "mine"}
    yield {**told, "world": {**told["world"], "seed": 6}}
    yield {**told, "world": {**told["world"], "level": {"name": "mine", "clarity": 7}}}
    yield {**told, "world": {**told["world"], "level": {"sharpness": 7}}}


@pytest.mark.parametrize("told", list(tampered()))
def test_a_truth_that_was_tampered_with_is_refused(told: Any) -> None:
    with pytest.raises(DataError, match="make the rows or tasks again"):
        score_row({"truth": json.dumps(told)}, "hm")
