"""Which sentences of a reply are credited with what a reader finds in them."""

from __future__ import annotations

import pytest

from attune_data.simulate.grammar import compile_template
from attune_data.simulate.story import Echo, Message
from attune_episodes.live.hearing import ANYBODY, HERE, heard, turned, weighed
from attune_episodes.reading import Claim, Exchange, Reading, Span

MESSAGE = "My landlord cancelled the lease on Monday. I packed the garden chairs and cried."
STATE = Message(MESSAGE, [Echo(compile_template("packing the garden chairs and crying"), True, frozenset())])


def hear(reply: str, found: dict[str, tuple[float, str]], wants: dict[str, float]) -> dict[str, float]:
    """What is credited where a reader finds these questions in these sentences."""
    spans = {q: (Span(reply.index(part), reply.index(part) + len(part)),) for q, (_, part) in found.items()}
    reading = Reading({q: p for q, (p, _) in found.items()}, spans)
    history = (("I wrote last week.", "You wrote that you would call the tenants union about the deposit."),)
    return dict(heard(Exchange(MESSAGE, reply, history), reading, wants, wants, STATE).done)


@pytest.mark.parametrize(
    ("sentence", "credit"),
    [
        ("Of course the garden hurts, anybody would feel it.", 1.0),  # what moves them
        ("Of course a landlord like that hurts somebody.", HERE),  # of this conversation
        ("Of course that hurts, anybody would feel it.", ANYBODY),
        ("It makes sense.", 0.0),  # three words
        ("You packed the garden chairs and cried.", 0.0),  # copied, my -> your
        ("You wrote that you would call the tenants union about the deposit.", 0.0),  # said before
        ("The reply says that the garden matters to the person.", 0.0),  # speaks of itself
    ],
)
def test_credit_of_a_sentence(sentence: str, credit: float) -> None:
    assert hear(sentence, {"B19": (1.0, sentence)}, {"B19": 0.5}) == {"B19": credit}


def test_a_sentence_is_credited_once_with_what_is_wanted_most() -> None:
    both = "What of the garden would you miss most there?"
    found = {"B13": (1.0, both), "B505": (1.0, both)}
    assert hear(both, found, {"B13": 0.2, "B505": 0.4}) == {"B13": 0.0, "B505": 1.0}
    more = f"{both} How big was that garden, by the way?"
    found = {"B13": (1.0, more), "B505": (1.0, both)}
    assert hear(more, found, {"B13": 0.2, "B505": 0.4}) == {"B13": 1.0, "B505": 1.0}


def test_unwanted_acts_are_charged_wherever_they_stand() -> None:
    said = "It makes sense."
    assert hear(said, {"B11": (1.0, said)}, {"B11": -0.5}) == {"B11": 1.0}


@pytest.mark.parametrize(("probability", "strength"), [(0.5, 0.0), (0.55, 0.6), (0.625, 0.75), (0.9, 1.0)])
def test_what_is_hardly_sure_counts_little(probability: float, strength: float) -> None:
    said = "You could ring the union about it."
    found = hear(said, {"B11": (probability, said)}, {"B11": -0.5})
    assert found["B11"] == pytest.approx(strength)  # ½ + (p - 0.5)/0.5


def test_claims_words_and_what_is_said_again() -> None:
    again = "You wrote that you would call the tenants union about the deposit."
    reply = f"You are hurt. {again} How did they answer?"
    history = (("I wrote last week.", again),)
    reading = Reading(
        {"B11": 0.9}, {"B11": (Span(14, 20),)}, tuple(Claim("hurt", None, -1, Span(8, 12)) for _ in range(2))
    )
    found = heard(Exchange(MESSAGE, reply, history), reading, ("B1",), {"B1": 0.3, "B19": 0.2}, STATE)
    assert found.claims == ("hurt",)
    assert (found.words, found.own) == (19, 7)
    assert found.stale == pytest.approx(12 / 19)
    assert found.question == "how did they answer?"
    assert found.done == {"B1": 0.0}  # B19 is not read


def test_repeating_within_a_reply_earns_once() -> None:
    line = "Of course the garden hurts, anybody would feel it."
    first, second = weighed(Exchange(MESSAGE, f"{line} {line}"))
    assert (first.sound, first.stale) == (True, False)
    assert (second.sound, second.stale) == (False, True)


def test_turned() -> None:
    assert turned(("i", "told", "my", "sister", "i'm", "fine")) == (
        "you",
        "told",
        "your",
        "sister",
        "you're",
        "fine",
    )


def test_advice_is_found_fault_with_where_there_is_any() -> None:
    said = "You could ring the union about it."
    charged = {"B11": -0.5, "B313": -0.5}
    assert hear(said, {"B11": (0.1, said), "B313": (1.0, said)}, charged) == {"B11": 0.0, "B313": 0.0}
    assert hear(said, {"B11": (0.9, said), "B313": (1.0, said)}, charged) == {"B11": 1.0, "B313": 1.0}
