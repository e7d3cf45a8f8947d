"""Live episodes with a voice: pay follows from what is read in the reply; no standing holds a voice."""

from __future__ import annotations

import pickle

import pytest

from attune_data.errors import SettingsError
from attune_data.simulate import Simulation
from attune_data.simulate.voice import Packet, Transcript
from attune_episodes.live import LiveEpisode
from attune_episodes.live.standing import Standing
from attune_episodes.trainers import training_dataset


def framed(packet: Packet, transcript: Transcript) -> str:
    return f"Well. {packet.text}"


WORLD = Simulation(5, voice=framed)
REPLIES = ["That sounds hard, and no wonder. What happened then?", "", "You could write it all down tonight."]


def test_a_voice_changes_the_message_and_the_history_alone() -> None:
    same = 0
    for index in range(6):
        plain, worded = (LiveEpisode(world, index, reader="lexicon") for world in (Simulation(5), WORLD))
        for reply in REPLIES:
            if plain.done:
                break
            assert worded.message == f"Well. {plain.message}"
            one, other = plain.say(reply), worded.say(reply)
            assert other.message == f"Well. {one.message}"
            if one.heard != other.heard:
                break
            assert one[4:] == other[4:]  # worth, fit, the next move, reward, done
            same += 1
        assert worded.history == tuple((turn.message, turn.reply) for turn in worded.turns)
        assert worded.chat()[0]["content"].startswith("Well. ")
    assert same >= 6


def test_an_episode_with_a_voice_pickles_and_goes_on() -> None:
    live = LiveEpisode(WORLD, 1, turn=1)
    live.say(REPLIES[0])
    again = pickle.loads(pickle.dumps(live))
    assert again.chat() == live.chat()
    assert again.say(REPLIES[2]) == live.say(REPLIES[2])


def test_a_row_or_worker_cannot_rebuild_a_voice() -> None:
    with pytest.raises(SettingsError, match="has a voice, which cannot be written as JSON"):
        Standing(WORLD, 0).to_json()
    with pytest.raises(SettingsError, match="has a voice, which cannot be written as JSON"):
        next(iter(training_dataset(WORLD, stages=("respond",))))
    rows = [next(iter(training_dataset(world, stages=("assess",)))) for world in (WORLD, Simulation(5))]
    assert rows[0]["prompt"] != rows[1]["prompt"]
    assert "Well. " in str(rows[0]["prompt"])
