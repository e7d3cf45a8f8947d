"""A live conversation that is taken over in the middle of a recorded one."""

from __future__ import annotations

import pytest

from attune_data.errors import SettingsError
from attune_data.simulate import Simulation
from attune_data.simulate.hearing import Bond, Heard
from attune_data.simulate.live import Talk, talk_at

WORLD = Simulation(3)


@pytest.mark.parametrize("index", range(4))
def test_what_was_said_and_felt_until_then_is_the_record(index: int) -> None:
    record, state = WORLD.with_state(index)
    for turn, (told, felt) in enumerate(zip(record["turns"], state.turns, strict=True)):
        talk = Talk(WORLD, index, turn)
        before = [(one["userMessage"], one["llmResponse"]) for one in record["turns"][:turn]]
        assert list(talk.said) == before
        assert talk.message.text == told["userMessage"]
        assert talk.story.mood == felt.mood
        assert (talk.story.number, talk.story.count) == (turn, len(record["turns"]))
        assert not talk.done


def test_trust_moves_with_the_recorded_fit_and_acts_wear() -> None:
    _, state = WORLD.with_state(0)
    first, second = state.turns[0].fit, state.turns[1].fit
    # trust = 0.7·trust + 0.45·fit, from 0; lift = 0.7·lift + 1.45·fit
    assert Talk(WORLD, 0, 1).bond.trust == pytest.approx(0.45 * first)
    bond = Talk(WORLD, 0, 2).bond
    assert bond.trust == pytest.approx(0.7 * 0.45 * first + 0.45 * second)
    assert bond.lift == pytest.approx(0.7 * 1.45 * first + 1.45 * second)
    done = {"B1", "B13", "B15", "B19"} & bond.worn.keys()
    assert done
    # each is 1 where the reply did it: 0.6 · first + second
    assert all(bond.worn[construct] in (0.6, 1.0, 1.6) for construct in done)
    assert Talk(WORLD, 0, 0).bond == Bond()


def test_luck_is_that_of_the_place_whatever_came_before() -> None:
    one, two = Talk(WORLD, 1, 0), Talk(WORLD, 1, 2)
    for talk in (one, two):
        talk.story.draws.turn_to(5, "fit")
    assert one.story.draws.uniform() == two.story.draws.uniform()


@pytest.mark.parametrize("turn", [-1, 99, 1.0, True, None, "1"])
def test_a_turn_that_is_not_there_is_refused(turn: object) -> None:
    for begin in (Talk, talk_at):
        with pytest.raises(
            SettingsError, match=r"turn is .*; conversation 0 of Simulation\(.*has turns 0 to"
        ):
            begin(WORLD, 0, turn)  # type: ignore[arg-type]


REPLIES = (
    Heard({"B1": 1.0, "B15": 0.7}, ("hurt",), 30, 20, question="what did they say to that?"),
    Heard({}, (), 0, 0),
    Heard({"B11": 1.0}, (), 12, 12, advice="you could write a list of what is left to do"),
)


def held(talk: Talk) -> list[object]:
    """How it goes on to its end."""
    found: list[object] = []
    while not talk.done:
        found += [talk.hear(REPLIES[talk.story.number % len(REPLIES)]), talk.message, talk.bond.worn]
    return [*found, talk.story.told, talk.story.said, talk.story.plans, talk.mood.positive, talk.mood.traces]


@pytest.mark.parametrize("turn", [0, 2])
@pytest.mark.parametrize("index", range(3))
def test_a_copy_goes_on_as_the_conversation_does_and_neither_changes_the_other(index: int, turn: int) -> None:
    wanted = held(Talk(WORLD, index, turn))
    talk = Talk(WORLD, index, turn)
    first, second = talk.copy(), talk.copy()
    assert held(first) == wanted
    assert held(second) == wanted
    assert held(talk) == wanted
    # begun once, however many go on from there; and in the middle as well
    assert held(talk_at(WORLD, index, turn)) == held(talk_at(Simulation(3), index, turn)) == wanted
    half = Talk(WORLD, index, turn)
    done = [half.hear(REPLIES[turn % len(REPLIES)]), half.message, half.bond.worn]
    assert [*done, *held(half.copy())] == [*done, *held(half)] == wanted


def test_worlds_that_differ_do_not_share_beginnings() -> None:
    worlds = [Simulation(3), Simulation(3, level="plain"), Simulation(3, templates="seen"), Simulation(4)]
    assert len({talk_at(world, 1).message.text for world in worlds}) == len(worlds)
