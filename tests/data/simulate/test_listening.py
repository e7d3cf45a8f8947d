"""People in live conversations have listened: what they say goes with the reply and with what they said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data.simulate import Simulation
from attune_data.simulate.answers import Kind, content, kind_of, like, takes_up
from attune_data.simulate.grammar import compile_template
from attune_data.simulate.hearing import Heard
from attune_data.simulate.live import Step, Talk
from attune_data.simulate.texts import Said, texts
from attune_data.simulate.voice import Packet, Transcript

Make = Callable[[Talk, str], Heard]
PEOPLE = [(seed, index) for seed in (5, 611) for index in range(40)]
WHOLE = texts()
ASKED = "That sounds hard, and I can see why it stays with you. What did they say then?"


def best(talk: Talk, question: str = "") -> Heard:
    """All that is wanted, and the feeling."""
    done = {q: 1.0 for q, value in talk.wants.items() if value > 0}
    return Heard(done, (talk.story.mood.family,), 40, 40, question=question)


def wrong(talk: Talk, question: str = "") -> Heard:
    """A feeling of the other sign, and nothing that is wanted."""
    sign = talk.story.mood.sign
    claim = next(name for name, family in talk.story.texts.families.items() if family.sign != sign)
    return Heard({}, (claim,), 20, 20, question=question)


def turns(make: Make) -> Iterator[tuple[Talk, list[str], Step]]:
    """(conversation after the turn, the parts of the message before, the turn) over many people."""
    for seed, index in PEOPLE:
        talk = Talk(Simulation(seed), index)
        while not talk.done:
            before = [part.text for part in talk.message.parts]
            yield talk, before, talk.hear(make(talk, "what did they say then?"), ASKED)


KINDS: dict[str, Kind] = {
    "is that why it's hard to decide?": "yes_no",
    "did you say anything to her on the phone?": "yes_no",
    "does she know about the page numbers, i mean that you'd been dreading it?": "yes_no",
    "two messages ago you asked whether it's too early: is this why?": "yes_no",
    "make a list, drink more water, and have you considered talking to the school?": "yes_no",
    "would it be a relief to tell me what you said on friday?": "yes_no",
    "the weather has been odd lately, hasn't it?": "yes_no",
    "isn’t it tiring?": "yes_no",
    "do you have time or not?": "yes_no",
    "how about a walk?": "yes_no",
    "anything else?": "yes_no",
    "you walked home?": "yes_no",
    "really?": "yes_no",
    "is it that the weeks are sinking in, or that you've said the thing out loud?": "either",
    "did he say it before or after you'd told him about forgetting?": "either",
    "do you want to talk about it, or should we leave it?": "either",
    "where do you work, at home or elsewhere?": "either",
    "tea or coffee?": "either",
    "how much does it take out of you?": "amount",
    "so how often do you see her?": "amount",
    "for how long has this been going on?": "amount",
    "could you tell me how many there are?": "amount",
    "when did you actually move out of mill lane?": "place",
    "could you tell me where it hurts?": "place",
    "since when?": "place",
    "what time is the train?": "place",
    "what did he say when he picked up?": "past",
    "how did you answer him on sunday?": "past",
    "you said it has been that kind of day, so what happened?": "past",
    "you said four whole minutes: what brought you back in the end?": "past",
    "what did he say, do you know?": "past",
    "what worries you most about that weekend?": "open",
    "what is the first thing you've done on her?": "open",
    "what do you wish you'd said to her before you hung up?": "open",
    "which way are you leaning?": "open",
    "if you could tell him one thing what would it be?": "open",
    "can you tell me why?": "open",
    "whose idea was it?": "open",
    "and then?": "open",
    "why?": "open",
    # no question, or none that can be read
    "i see?": "yes_no",
    "?": "open",
    "": "open",
    "你好吗?": "open",
    "\N{THINKING FACE}": "open",
}


@pytest.mark.parametrize(("question", "kind"), KINDS.items())
def test_the_kind_of_a_question_is_that_of_its_last_words_that_ask(question: str, kind: Kind) -> None:
    assert kind_of(question) == kind
    assert kind_of(question.upper()) == kind


@given(st.text(max_size=200))
def test_any_text_has_a_kind_with_answers_of_its_own(text: str) -> None:
    assert len(WHOLE.frames[f"answers_{kind_of(text)}"]) >= 8


def test_answers_suit_the_question() -> None:
    """Answers such as "yes" or "a bit of both" are given only to questions that call for them."""
    frames = WHOLE.frames
    yes_or_no = re.compile(r"\b(?:yes|no)\b,|a careful|not really|I suppose so")
    told = {name: [t.source for t in frames[name]] for name in frames if name.startswith("answers_")}
    assert len(told) == 6
    for name, sources in told.items():
        said = [source for source in sources if yes_or_no.search(source)]
        assert bool(said) == (name == "answers_yes_no"), (name, said)
        of_two = [source for source in sources if re.search(r"\b(?:both|neither|which)\b", source)]
        assert bool(of_two) == (name == "answers_either"), (name, of_two)


@pytest.mark.parametrize(
    "question", ["what did he say when he picked up?", "what worries you most?", "is it late?"]
)
def test_a_person_answers_what_was_asked_more_often_than_not(question: str) -> None:
    asked = answered = 0
    for seed, index in PEOPLE[:40]:
        talk = Talk(Simulation(seed), index)
        step = talk.hear(best(talk, question))
        if step.answer != "goes on":
            continue
        asked += 1
        last = talk.story.last
        assert last is not None
        assert last.answer in talk.story.texts.frames[f"answers_{kind_of(question)}"]
        answered += any(part.role == "answers" for part in talk.message.parts)
    assert asked > 15
    assert answered / asked > 0.7  # 0.95, and 0.7 after a reaction


PAIR = Said(
    compile_template("Did you [say|mention] anything to {name} on the phone"), compile_template("yes")
)


def test_a_question_is_taken_for_a_known_one_only_if_it_asks_the_same() -> None:
    # of "phone", "mention": both, and a question of yes or no
    assert like("did you mention it on the phone?", [PAIR], question=True) == PAIR
    # the same words, but another kind of question
    assert like("what did you mention on the phone?", [PAIR], question=True) is None
    assert like("what did you mention on the phone?", [PAIR]) == PAIR
    # "phone" alone: "anything" says nothing of what is asked
    assert like("did you say anything to her on the phone?", [PAIR], question=True) is None
    # half of "phone", "landlord"
    assert like("did you ever phone the landlord?", [PAIR], question=True) is None
    assert like("did you mention the phone?", [PAIR], content("the phone"), question=True) is None


def plain(text: str) -> str:
    """The words of a text."""
    return " ".join(re.findall(r"[\w']+", text))


def test_who_repeats_says_every_word_of_it_again() -> None:
    repeats = introduced = 0
    for talk, before, step in turns(wrong):
        if step.answer != "repeats":
            continue
        repeats += 1
        core, (part,), whole = talk.message.core, talk.message.parts, plain(" ".join(before))
        assert core is not None
        assert (part.role, part.family) == ("repeats", core.family)
        assert plain(core.text) in plain(part.text)
        for who in map(plain, talk.story.facts.introduced.values()):
            assert who not in plain(part.text)  # "my cousin Anneke" is "Anneke" the second time
            introduced += who in whole
            whole = whole.replace(who, who.rsplit(" ", 1)[1])
        assert plain(core.text) in whole
    assert repeats > 20
    assert introduced > 3


def test_only_who_was_passed_over_says_so() -> None:
    told = Counter[bool]()
    for seed, index in PEOPLE:
        for heeding in (True, False):
            talk = Talk(Simulation(seed), index)
            core = talk.message.core
            assert core is not None
            step = talk.hear(wrong(talk, ""), core.text if heeding else "I like pasta best.")
            if step.answer == "repeats":
                told[heeding] += 1
                frames = talk.story.texts.frames["repeats_heard" if heeding else "repeats_missed"]
                assert talk.story.said & {frame.source for frame in frames}
                unheard = re.search(r"heard me|that isn't it|read it again|lost", talk.message.parts[0].text)
                assert not (unheard and heeding)
    assert min(told[True], told[False]) >= 5


def test_taking_up_is_sharing_words_in_whatever_form() -> None:
    told = "she rang at four and before long we were back on who got the bigger bedroom"
    assert takes_up(told, "The bigger bedroom, after all these years!")
    assert takes_up("I skipped down the street", "You were skipping along the streets.")
    assert not takes_up(told, "That sounds hard. What happened before?")  # one word: before
    assert not takes_up(told, "The bigger bedroom!", content("the bigger bedroom"))
    assert not takes_up("we met", "You met.")  # no word that says anything


def test_after_a_disclosure_the_feeling_stays_for_a_turn_and_shows_again() -> None:
    after = 0
    for make in (best, wrong):  # after a reply that fits, and after one that misses
        for seed, index in PEOPLE:
            talk = Talk(Simulation(seed), index)
            told: tuple[str, int] | None = None
            parts: list[str] = []
            while not talk.done:
                step = talk.hear((best if told is None else make)(talk, ""))
                if told and step.answer != "ends":
                    after += 1
                    assert (talk.story.mood.family, talk.story.mood.sign) == told
                    if step.answer == "goes on":
                        assert told[0] in talk.message.shown
                        cues = [part.text for part in talk.message.parts if part.family == told[0]]
                        assert cues
                        assert not set(cues) & set(parts)
                    break
                if step.answer == "discloses":
                    told = talk.story.mood.family, talk.story.mood.sign
                    parts = [part.text for part in talk.message.parts]
    assert after > 60


def test_pleasant_matters_come_out_in_frames_of_their_own() -> None:
    signs = Counter[int]()
    for talk, _, step in turns(best):
        if step.answer == "discloses":
            sign = talk.story.mood.sign
            signs[sign] += 1
            ours, theirs = (talk.story.texts.frames[f"discloses_{name}"] for name in ("good", "bad")[::sign])
            assert talk.story.said & {frame.source for frame in ours}
            assert not talk.story.said & {frame.source for frame in theirs}
    assert min(signs[1], signs[-1]) >= 5


@pytest.mark.parametrize(("make", "pool"), [(best, "good"), (wrong, "bad")])
@pytest.mark.parametrize(("question", "advice"), [("", ""), ("what then?", ""), ("", "you could write it")])
def test_a_reaction_speaks_of_what_the_reply_did(make: Make, pool: str, question: str, advice: str) -> None:
    reactions = 0
    for seed, index in PEOPLE[:40]:
        talk = Talk(Simulation(seed), index)
        while not talk.done:
            talk.hear(make(talk, question)._replace(advice=advice))
        for reaction in talk.story.texts.reactions[pool]:
            if reaction.source in talk.story.said:
                reactions += 1
                did = talk.story.texts.speaks_of.get(reaction.source)
                assert {"asked": question, "advised": advice, None: "said"}[did], reaction.source
    assert reactions > 5


def test_marks_of_reactions_are_not_said() -> None:
    sources = [reaction.source for pool in ("good", "bad") for reaction in WHOLE.reactions[pool]]
    assert Counter(WHOLE.speaks_of[one] for one in sources if one in WHOLE.speaks_of) == {
        "asked": 3,
        "advised": 7,
    }
    assert not [one for one in sources if ": " in one]


def test_nobody_reacts_to_silence() -> None:
    for seed, index in PEOPLE:
        talk = Talk(Simulation(seed), index)
        while not talk.done:
            talk.hear(Heard({}, (), 0, 0))
            assert not talk.message.reaction or talk.done


def test_a_voice_gets_a_packet_for_everything_said() -> None:
    packets: list[Packet] = []

    def noting(packet: Packet, transcript: Transcript) -> str:
        packets.append(packet)
        return packet.text

    for index in range(12):
        for make in (best, wrong):
            talk = Talk(Simulation(5, voice=noting), index)
            while not talk.done:
                step = talk.hear(make(talk, "what then?"), ASKED)
                if step.answer != "ends":
                    assert packets[-1].parts == tuple(talk.message.parts)
                    assert packets[-1].text == talk.message.text
                    assert packets[-1].shows == talk.message.shown
