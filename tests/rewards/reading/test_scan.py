"""Cues found in one pass are those that each list finds by itself."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_rewards.reading.scan import CueIndex, beginnings

LISTS = {
    ("a", "said"): ["i (?:really |also )?(?:said|told)", "not (?:\\w+ )?right", "argh+"],
    ("a", "told"): ["told", "i told you", "🎉|🥳", "re-?read(?:ing)?", "don't (?:\\w+ ){0,2}go"],
    ("b", "any"): [
        "\\w+ing",
        "a (?:\\w+ ){0,1}way|so on",
        "o[nf]",
        "ton(?= and)",
        "(?:by|on) (?:his|the) way",
    ],
}
WORDS = [
    "i", "really", "also", "said", "told", "you", "not", "quite", "right", "argh", "arghhh", "🎉", "re-read",
    "rereading", "don't", "go", "on", "of", "ton", "and", "by", "the", "way", "-", ".", "!", "é", "x", "\n",
]  # fmt: skip


@pytest.mark.parametrize(("cue", "expected"), [
    ("told", {"told"}), ("at", {"at"}), ("o[nf]", {"o"}), ("\\w+ing", {""}), ("argh+", {"argh"}),
    ("i (?:really |also )?told", {"i re", "i al", "i to"}), ("(?:by|on) way", {"by w", "on w"}),
    ("go(?:es)?", {"go", "goes"}), ("don't (?:\\w+ )?go", {"don'"}), ("ton(?= and)", {"ton"}),
    ("re-?read", {"re"}), ("yes|no(?:pe)?", {"yes", "no", "nope"}), ("a (?:b ){0,2}c", {"a "}),
    ("🏆|🎓", {"🏆", "🎓"}),
])  # fmt: skip
def test_beginnings_of_a_cue(cue: str, expected: set[str]) -> None:
    assert beginnings(cue) == expected


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from([" ", "", ", "]))))
def test_finds_what_each_list_finds_by_itself(said: list[tuple[str, str]]) -> None:
    text = "".join(word + gap for word, gap in said)
    expected = {}
    for key, cues in LISTS.items():
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(cues)})(?!\w)")
        if places := tuple(found.span() for found in pattern.finditer(text)):
            expected[key] = places
    assert CueIndex(LISTS).find(text) == expected
