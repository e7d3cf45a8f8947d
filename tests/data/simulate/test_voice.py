"""Voices: words change, and nothing else does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attune_data.errors import SettingsError
from attune_data.simulate import Simulation
from attune_data.simulate.acts import ORDER
from attune_data.simulate.hearing import Heard
from attune_data.simulate.live import Talk
from attune_data.simulate.turn import LatentState
from attune_data.simulate.voice import Packet, Transcript, Wording, grammar

ITEMS = range(4)


def loud(packet: Packet, transcript: Transcript) -> str:
    return f"{packet.text.upper()} ({len(transcript)})"


def poor(packet: Packet, transcript: Transcript) -> Wording:
    return Wording(packet.text, asks=3, taken=False) if packet.kind == "message" else Wording("Hm.", asks=2)


def without_texts(record: dict[str, Any]) -> dict[str, Any]:
    """The record without the four texts of each turn, and without the note on the voice."""
    bare: dict[str, Any] = json.loads(json.dumps(record))
    bare["metadata"].pop("voice", None)
    for turn in bare["turns"]:
        del turn["userMessage"], turn["llmResponse"], turn["annotations"]["alternateResponses"]
    return bare


def test_the_grammar_is_the_default_voice_and_leaves_no_note() -> None:
    def copying(packet: Packet, transcript: Transcript) -> str:
        return packet.text

    for index in ITEMS:
        record = Simulation(5, voice=copying).record(index)
        assert record["metadata"].pop("voice") == {
            "name": "copying", "taken": 4 * len(record["turns"]), "asked_again": 0, "fallen_back": 0,
        }  # fmt: skip
        assert record == Simulation(5).record(index) == Simulation(5, voice=grammar).record(index)


@pytest.mark.parametrize("voice", [loud, poor])
def test_states_labels_and_annotations_are_the_same_with_any_voice(voice: Any) -> None:
    def behind(state: LatentState) -> str:
        return repr(state)

    for index in ITEMS:
        (plain, state), (worded, same) = (
            world.with_state(index) for world in (Simulation(5), Simulation(5, voice=voice))
        )
        assert without_texts(worded) == without_texts(plain)
        assert behind(same) == behind(state)
        assert worded["turns"][0]["llmResponse"] != plain["turns"][0]["llmResponse"]


def test_each_text_is_worded_after_what_was_said_before_it() -> None:
    seen: list[tuple[Packet, Transcript]] = []

    def noting(packet: Packet, transcript: Transcript) -> str:
        seen.append((packet, transcript))
        return f"text {len(seen)}"

    record = Simulation(5, voice=noting).record(3)
    kinds = ["message", "original", "alternate", "human"]
    assert [packet.kind for packet, _ in seen] == kinds * len(record["turns"])
    said = (("person", "text 1"), ("model", "text 2"), ("person", "text 5"))
    assert [transcript for _, transcript in seen[:8]] == [
        (), said[:1], said[:1], said[:1], said[:2], said, said, said,
    ]  # fmt: skip
    assert [packet.beside for packet, _ in seen[:4]] == [(), (), ("text 2",), ("text 2", "text 3")]
    turn = record["turns"][1]
    texts = turn["annotations"]["alternateResponses"]
    assert (turn["userMessage"], turn["llmResponse"]) == ("text 5", "text 6")
    assert (texts["llmImproved"], texts["humanEdited"]) == ("text 7", "text 8")
    assert seen[5][0].id == f"{record['conversationId']}/2/original"


def test_counts_stand_in_the_record_and_the_world_names_its_voice() -> None:
    world = Simulation(5, voice=poor)
    record = world.record(0)
    turns = len(record["turns"])
    assert record["metadata"]["voice"] == {
        "name": "poor", "taken": 3 * turns, "asked_again": 2 * turns + 3 * turns, "fallen_back": turns,
    }  # fmt: skip
    assert world.source == "simulated, seed 5, level default, voice poor"
    assert world[0].metadata is not None
    assert world[0].to_record()["metadata"]["voice"]["fallen_back"] == turns


def test_a_packet_holds_what_the_text_says() -> None:
    packets: list[Packet] = []

    def noting(packet: Packet, transcript: Transcript) -> str:
        packets.append(packet)
        return packet.text

    world = Simulation(5, voice=noting)
    for index in ITEMS:
        packets.clear()
        _, state = world.with_state(index)
        for turn, four in zip(state.turns, zip(*[iter(packets)] * 4, strict=True), strict=True):
            message, *replies = four
            assert message.shows == turn.message.shown
            felt = {turn.mood.family, turn.mood.second_family} - {None} if turn.mood.tags else set()
            assert set(message.hides) == felt - set(turn.message.shown)
            shown = [part.family for part in message.parts if part.role in ("shows", "names")]
            assert tuple(shown) == turn.message.shown
            assert sum(part.role == "asks" for part in message.parts) == turn.message.asks
            for packet, reply in zip(replies, turn.replies.values(), strict=True):
                assert [part.role for part in packet.parts] == [a for a in reply.sentences if a in ORDER]
                assert " ".join(part.text for part in packet.parts) == packet.text == reply.text
                assert packet.does["B13"] == any(part.role.startswith("ask_") for part in packet.parts)


@pytest.mark.parametrize("text", ["", " \n", None, 7])
def test_a_voice_that_returns_no_text_is_refused(text: Any) -> None:
    def silent(packet: Packet, transcript: Transcript) -> str:
        return text  # type: ignore[no-any-return]

    with pytest.raises(
        SettingsError, match=r"voice silent returned .* for sim-.*/1/message; expected a text"
    ):
        Simulation(5, voice=silent).record(0)


def test_a_name_is_no_voice() -> None:
    with pytest.raises(SettingsError, match='voice is "custom:m"; expected a callable'):
        Simulation(5, voice="custom:m")  # type: ignore[arg-type]


def test_in_a_live_conversation_the_voice_words_messages_and_moves_nobody() -> None:
    heard = Heard({"B19": 1.0}, ("hurt",), 30, 30)
    for index in ITEMS:
        plain, worded = (Talk(world, index) for world in (Simulation(5), Simulation(5, voice=loud)))
        replies = 0
        while True:
            assert worded.message.text == f"{plain.message.text.upper()} ({2 * replies})"
            if plain.done:
                break
            steps = [talk.hear(heard, f"reply {replies}") for talk in (plain, worded)]
            replies += 1
            assert steps[0] == steps[1]
            assert (plain.bond, plain.story.mood) == (worded.bond, worded.story.mood)
            if steps[0].answer == "ends":
                assert worded.done
                break
        assert [reply for _, reply in worded.said] == [f"reply {n}" for n in range(replies)]


def test_a_conversation_taken_over_later_has_the_recorded_texts_in_its_history() -> None:
    world = Simulation(5, voice=loud)
    turns = world.record(2)["turns"]
    talk = Talk(world, 2, 2)
    assert talk.said == tuple((turn["userMessage"], turn["llmResponse"]) for turn in turns[:2])
    assert talk.message.text == turns[2]["userMessage"]
