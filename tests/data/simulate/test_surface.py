"""Labels against the text: what a record says of a reply stands in the reply, read without the generator."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

import pytest

from attune_data.constants import BINARY_IDS
from attune_data.simulate.constructs import CONTEXTUAL, TEXTUAL
from tests.data.simulate import surface
from tests.data.simulate.worlds import ALL_LEVELS, Json, answers, of_all_levels, records, turns

pytestmark = pytest.mark.slow  # statistical: hundreds of conversations of each level

REPLIES = 500
COUNT = 150
"""Conversations of each level: enough for replies, and for what happens rarely."""
JUDGED_BY_REGISTER = "B206"
"""Formal words count as too formal only for people who do not write formally themselves."""
CONTRACTED = re.compile(r"\b(?:I'm|I've|(?:ca|could|did|do|has|have|is|was|would|does)n't)\b", re.IGNORECASE)
"""What nobody writes who writes formally."""
NA_POSSIBLE = {"B4", "B5", "B7", "B16", "B17", "B18", "B108", "B406", "B408"}


def writes_formally(record: Json) -> bool:
    """Whether nothing in the person's messages speaks against it."""
    return not any(CONTRACTED.search(turn["userMessage"]) for turn in record["turns"])


def differences(level: str, replies: int) -> list[str]:
    """Every label of a textual construct that the text does not bear out."""
    found = []
    for record, number in islice(turns(records(level, COUNT)), replies):
        read = surface.read(record, number)
        for construct, answer in answers(record, number).items():
            if construct in CONTEXTUAL or answer == "na" or (answer == "yes") == read[construct]:
                continue
            if construct == JUDGED_BY_REGISTER and answer == "no" and writes_formally(record):
                continue
            turn = record["turns"][number]
            found.append(f"{construct} is {answer}: {turn['userMessage']!r} -> {turn['llmResponse']!r}")
    return found


@pytest.mark.parametrize("level", ALL_LEVELS)
def test_labels_are_true_of_the_text(level: str) -> None:
    assert sum(len(record["turns"]) for record in records(level, COUNT)) >= REPLIES
    assert differences(level, REPLIES) == []


def test_the_reader_is_asked_about_every_textual_construct() -> None:
    record = records()[0]
    assert set(surface.read(record, 0)) == set(TEXTUAL) == set(BINARY_IDS) - set(CONTEXTUAL)


def test_the_check_can_fail() -> None:
    # a question mark and a word for a feeling are put into replies that had none
    record = next(r for r in records() if {"B13": "no", "B1": "no"}.items() <= answers(r, 0).items())
    changed = dict(record["turns"][0])
    changed["llmResponse"] += " You are shaken, are you?"
    read = surface.read(record | {"turns": [changed, *record["turns"][1:]]}, 0)
    assert (read["B13"], read["B1"]) == (True, True)
    assert not surface.read(record, 0)["B13"]
    assert not surface.read(record, 0)["B1"]


def test_formal_words_count_for_people_who_write_otherwise() -> None:
    seen: Counter[tuple[str, bool]] = Counter()
    for record, number in turns(of_all_levels(COUNT)):
        answer = answers(record, number).get(JUDGED_BY_REGISTER)
        marked = surface.read(record, number)[JUDGED_BY_REGISTER]
        if answer is not None:
            seen[answer, marked] += 1
            if answer == "no" and marked:
                assert writes_formally(record), record["turns"][number]
    assert set(seen) == {("yes", True), ("no", False), ("no", True)}  # yes only where the words stand


def test_every_construct_is_answered_in_every_way_that_it_can_be() -> None:
    seen: dict[str, set[str]] = {construct: set() for construct in BINARY_IDS}
    for record, number in turns(of_all_levels(COUNT)):
        for construct, answer in answers(record, number).items():
            seen[construct].add(answer)
    for construct, ways in seen.items():
        na = {"na"} if construct in NA_POSSIBLE | {"B2", "B109"} else set()
        assert ways == {"yes", "no"} | na, construct
