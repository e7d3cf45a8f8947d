"""Live conversations: what a reply is worth, how the person is moved, what they say next, and their luck."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data.constants import BINARY_IDS
from attune_data.simulate import Simulation
from attune_data.simulate.draws import Draws, PlacedDraws
from attune_data.simulate.hearing import Bond, Heard, remember, take, wants
from attune_data.simulate.live import FITS, MISS, Talk

WORLD = Simulation(5)
NOTHING = Heard({}, (), 20, 20)
SILENCE = Heard({}, (), 0, 0)


def best(talk: Talk) -> Heard:
    """All that is wanted, and the feeling."""
    done = {q: 1.0 for q, value in talk.wants.items() if value > 0}
    return Heard(done, (talk.story.mood.family,), 40, 40)


def test_luck_depends_on_the_place_alone() -> None:
    one, other = PlacedDraws(1, "a"), PlacedDraws(1, "a")
    one.turn_to(2, "mood")
    first = [one.uniform() for _ in range(3)]
    for _ in range(50):
        other.uniform()
    other.turn_to(2, "mood")
    assert [other.uniform() for _ in range(3)] == first
    other.turn_to(3, "mood")
    assert [other.uniform() for _ in range(3)] != first
    plain, same = Draws(1, "a"), Draws(1, "a")
    plain.uniform(), same.uniform()
    plain.turn_to(2, "mood")  # the recorded simulator's one stream runs on
    assert plain.uniform() == same.uniform()


def test_the_same_is_said_to_the_same_and_replies_meet_the_same_luck() -> None:
    for index in range(8):
        talks = [Talk(WORLD, index) for _ in range(3)]
        steps = [talk.hear(best(talk)) for talk in talks[:2]]
        talks[2].hear(SILENCE)
        assert steps[0] == steps[1]
        assert talks[0].message.text == talks[1].message.text
        for talk in talks:  # the chance of a turn does not follow what was said before
            talk.story.draws.turn_to(1, "fit")
        assert len({talk.story.draws.uniform() for talk in talks}) == 1


def test_worth_by_hand() -> None:
    talk = Talk(WORLD, 0)
    story = talk.story
    felt, tagged = story.mood.family, bool(story.mood.tags)
    weight = 2.2 if tagged else 0.88
    missed = 0.35 if tagged else 0.0
    asked = {"B1": 0.6, "B13": 0.4, "B19": 0.2, "B11": -0.5, "B505": 0.1}
    # three are wanted at a time: B1 and B19 and B13; each pays (done - 0.2) of its worth
    heard = Heard(dict.fromkeys(asked, 0.0), (), 20, 20)
    assert take(story, asked, heard).wanted == pytest.approx(-0.2 * (0.6 + 0.4 + 0.2))
    assert take(story, asked, heard).claim == pytest.approx(-missed)
    heard = Heard({**heard.done, "B13": 1.0, "B11": 0.5, "B505": 1.0}, (felt,), 20, 20)
    found = take(story, asked, heard)
    assert found.wanted == pytest.approx(0.8 * 0.4 - 0.2 * 0.6 - 0.2 * 0.2)
    assert found.unwanted == pytest.approx(-0.25)
    assert found.claim == pytest.approx(weight)
    assert found.worth == pytest.approx(min(2.5, found.wanted + found.unwanted + weight))
    # naming a feeling is credited where the feeling is right
    heard = Heard({**dict.fromkeys(asked, 0.0), "B1": 1.0}, (), 20, 20)
    assert take(story, asked, heard).wanted == pytest.approx(-0.2 * 1.2)
    assert take(story, asked, heard._replace(claims=(felt,))).wanted == pytest.approx(0.8 * 0.6 - 0.2 * 0.6)


def test_the_worst_claim_counts_and_spoils_support() -> None:
    talk = Talk(WORLD, 0)
    story, families = talk.story, talk.story.texts.families
    felt = story.mood.family
    wrong = next(name for name, family in families.items() if family.sign != story.mood.sign)
    asked = {"B19": 0.5}
    right = take(story, asked, Heard({"B19": 1.0}, (felt,), 20, 20))
    both = take(story, asked, Heard({"B19": 1.0}, (felt, wrong), 20, 20))
    assert right.wanted == pytest.approx(0.4)
    assert both.wanted == pytest.approx(-0.1)
    assert both.claim == pytest.approx(-1.2 * right.claim)


@pytest.mark.parametrize(
    ("words", "cost"),
    [(0, -0.6), (4, -0.3), (8, 0.0), (80, 0.0), (110, -0.22)],
)
def test_length_by_hand(words: int, cost: float) -> None:
    talk = next(t for t in (Talk(WORLD, i) for i in range(20)) if t.story.person.typing.register != "terse")
    assert take(talk.story, {}, Heard({}, (), words, words)).length == pytest.approx(cost)


def test_saying_it_again_costs() -> None:
    talk = Talk(WORLD, 0)
    fresh, stale = (take(talk.story, {}, Heard({}, (), 20, 20, stale)).worth for stale in (0.0, 1.0))
    assert stale == pytest.approx(max(-1.5, fresh - 0.8))


def test_the_same_act_wears_off_and_comes_back() -> None:
    talk = Talk(WORLD, 0)
    story, bond = talk.story, Bond()
    before = wants(story, bond)
    wanted = max(before, key=lambda q: before[q])
    remember(story, bond, Heard({wanted: 1.0}, (), 20, 20), 0.0)
    worn = wants(story, bond)[wanted]
    assert worn < before[wanted]
    for _ in range(6):
        remember(story, bond, NOTHING, 0.0)
    assert worn < wants(story, bond)[wanted]


def test_wants_turn_once_the_person_has_been_heard() -> None:
    fell = rose = 0
    for index in range(30):
        story = Talk(WORLD, index).story
        new, heard = wants(story, Bond()), wants(story, Bond(heard=1.0))
        fell += heard["B19"] < new["B19"]
        rose += heard["B11"] > new["B11"]
        assert heard["B19"] <= new["B19"]
        assert heard["B11"] >= new["B11"]
    assert fell > 10
    assert rose > 5


def test_doing_everything_is_worse_than_doing_nothing() -> None:
    everything = Heard(dict.fromkeys(BINARY_IDS, 1.0), (), 60, 60)
    nothing = Heard(dict.fromkeys(BINARY_IDS, 0.0), (), 60, 60)
    for index in range(40):
        talk = Talk(WORLD, index)
        assert talk.take(everything).worth < talk.take(nothing).worth


def test_what_is_held_back_comes_out_after_a_reply_that_fits_and_no_other() -> None:
    told = 0
    for index in range(40):
        talk = Talk(WORLD, index)
        while not talk.done:
            trusted, before = talk.guard, talk.bond.disclosed
            step = talk.hear(best(talk))
            if step.answer == "discloses":
                told += 1
                assert not before
                assert step.fit >= FITS
                assert talk.bond.trust >= trusted
                assert talk.held is not None
                assert talk.story.mood.family == talk.held[0] == talk.message.shown[0]
        silent = Talk(WORLD, index)
        while not silent.done:
            silent.hear(SILENCE)
        assert not silent.bond.disclosed
    assert told > 15


def test_misses_make_people_repeat_close_up_and_go() -> None:
    answers: Counter[str] = Counter()
    for index in range(60):
        talk = Talk(WORLD, index)
        while not talk.done:
            step = talk.hear(SILENCE)
            answers[step.answer] += 1
            if step.answer in ("repeats", "withdraws", "leaves"):
                assert step.fit < MISS
            if step.answer == "withdraws":
                assert len(talk.message.text.split()) < 12
        with pytest.raises(ValueError, match="has left"):
            talk.hear(NOTHING)
    assert answers["leaves"] > 30
    assert min(answers["repeats"], answers["withdraws"], answers["goes on"]) >= 3


def test_questions_that_the_topic_knows_are_answered() -> None:
    answered = 0
    for index in range(30):
        talk = Talk(WORLD, index)
        pair = talk.story.situation.pairs["ask_fact"][0]
        question = pair.say.say(talk.story.reply_facts, Draws("question"), set()) + "?"
        talk.hear(best(talk)._replace(question=question))
        assert talk.story.last is not None
        answered += talk.story.last.answer == pair.other
        other = Talk(WORLD, index)
        other.hear(best(other)._replace(question="would purple elephants dance tonight?"))
        assert other.story.last is not None
        assert other.story.last.answer in other.story.texts.frames["answers_yes_no"]
    assert answered > 20


@settings(max_examples=40)
@given(
    index=st.integers(0, 30),
    replies=st.lists(
        st.builds(
            Heard,
            st.dictionaries(st.sampled_from(BINARY_IDS), st.floats(0, 1)),
            st.lists(st.sampled_from(("hurt", "joy", "anger")), max_size=3).map(tuple),
            st.integers(0, 100_000),
            st.integers(0, 100_000),
            st.floats(0, 1),
            st.text(max_size=40),
            st.text(max_size=40),
        ),
        min_size=1,
        max_size=8,
    ),
)
def test_state_stays_in_its_bounds(index: int, replies: list[Heard]) -> None:
    talk = Talk(WORLD, index)
    for heard in replies:
        if talk.done:
            break
        step = talk.hear(heard)
        bond = talk.bond
        assert -1.5 <= step.taken.worth <= 2.5
        assert -1 <= step.fit <= 1
        assert -1 <= bond.trust <= 1
        assert 0 <= bond.heard <= 1
        assert abs(bond.lift) <= 1.45 / 0.3
        assert talk.message.text
