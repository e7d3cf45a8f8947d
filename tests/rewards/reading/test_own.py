"""Sentences copied from the person's messages are not read, and copying does not pay."""

from __future__ import annotations

from attune_data import load
from attune_rewards.reading import Exchange
from attune_rewards.reading.cues import LIMIT
from attune_rewards.reading.own import own_part
from tools.reading.measure import draft_rewards

MESSAGE = "My landlord cancelled the lease yesterday and I feel sad about leaving the garden."
OWN = "Nine summers of digging went into those beds before that letter came."


def own(reply: str, *messages: str) -> str | None:
    x = own_part(Exchange(MESSAGE, reply, tuple((message, OWN) for message in messages)))
    return x.reply if x else None


def test_sentences_that_copy_a_message_are_left_out() -> None:
    assert own(OWN) == OWN  # an earlier reply of one's own is read
    assert own(f"{OWN} So my landlord cancelled the lease yesterday. Hm?") == f"{OWN}\nHm?"  # 6 of 7 words
    assert own(f"You feel sad about leaving, then. {OWN}") == f"You feel sad about leaving, then.\n{OWN}"
    assert own("I dug for nine whole summers.", "I dug for nine whole summers there.") is None
    assert own(MESSAGE) is own(" \n") is own("?!") is None
    assert own("a " * LIMIT) == ("a " * (LIMIT // 2)).strip()


def test_copying_the_message_earns_hardly_more_than_silence() -> None:
    earned = draft_rewards(load("written", split="dev"))
    assert earned["the message again"] < earned["nothing"] + 0.02
    assert earned["the human reply"] > earned["nothing"] + 0.1
