"""Readers on real replies and on any text at all."""

from __future__ import annotations

import pickle
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import load
from attune_data.errors import UnknownNameError
from attune_data.format.constants import BINARY_IDS
from attune_rewards.reading import READERS, Exchange, Reader, reader
from attune_rewards.reading.cues import LIMIT
from tools.reading.examples import examples

SAMPLE = list(islice(examples(load("sample")), 40))
MESSAGE = "My landlord cancelled the lease yesterday and I feel sad about leaving the garden."
FITS = (
    "You feel sad about leaving that garden, and who wouldn't after such a letter? That makes sense to me. "
    "Maybe call the tenants' office in town, because they know what notice he owes you. "
    "What will you miss most about the flowers there?"
)


@pytest.mark.parametrize("name", READERS)
def test_a_reader_reads_real_replies_in_the_same_way_each_time(name: str) -> None:
    by, again = reader(name), pickle.loads(pickle.dumps(reader(name)))
    assert isinstance(by, Reader)
    assert by.name == name
    assert by.questions <= set(BINARY_IDS)
    for one in SAMPLE:
        found = by.read(one.exchange)
        assert found.keys() == by.questions
        assert set(found.values()) <= {"yes", "no"}
        assert again.read(one.exchange) == found


@pytest.mark.parametrize("name", READERS)
def test_reads_what_a_fitting_reply_does(name: str) -> None:
    found = reader(name).read(Exchange(MESSAGE, FITS))
    assert [found[q] for q in ("B1", "B13", "B408")] == ["yes", "yes", "no"]
    assert name == "fitted" or found["B505"] == "yes"


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("text", ["", " \n\t", "\x00\x07\x1b", "​‍﻿", "💔" * 50, MESSAGE, MESSAGE * 3])
def test_a_reply_without_words_of_its_own_does_nothing(name: str, text: str) -> None:
    assert "yes" not in reader(name).read(Exchange(MESSAGE, text)).values()


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=25)
@given(st.text(), st.text(), st.lists(st.tuples(st.text(), st.text()), max_size=2))
def test_no_text_raises(name: str, message: str, reply: str, history: list[tuple[str, str]]) -> None:
    reader(name).read(Exchange(message, reply, tuple(history)))


@pytest.mark.parametrize(
    "piece", ["a", "?", "I hear you. ", "because maybe ", "you're ", '"', "!\n", "(", "é"]
)
def test_what_lies_beyond_the_limit_is_not_read(piece: str) -> None:
    long = (FITS + " ") * 5 + piece * (100_000 // len(piece))
    for by in map(reader, READERS):
        assert by.read(Exchange(MESSAGE, long)) == by.read(Exchange(MESSAGE, long[:LIMIT]))


def test_a_name_that_no_reader_has() -> None:
    with pytest.raises(UnknownNameError, match="lexicon"):
        reader("nobody")
