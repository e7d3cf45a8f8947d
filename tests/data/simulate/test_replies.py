"""Replies as they are put into words: what stands where, and what an edit keeps."""

from __future__ import annotations

from typing import Any

import pytest

from attune_data.simulate import Simulation
from attune_data.simulate.replies import Reply, Speaker


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any] | None, Reply]]:
    """Every reply of 60 conversations, with the sentences that it was to keep (None where it was new)."""
    found: list[tuple[dict[str, Any] | None, Reply]] = []
    speak = Speaker.speak

    def noted(self: Speaker, *given: Any) -> Reply:
        reply = speak(self, *given)
        found.append((given[3] if len(given) > 3 else None, reply))
        return reply

    monkeypatch.setattr(Speaker, "speak", noted)
    world = Simulation(12)
    for index in range(60):
        world.record(index)
    return found


def test_what_says_it_stands_right_after_what_it_means(
    spoken: list[tuple[dict[str, Any] | None, Reply]],
) -> None:
    leaning = 0
    for _, reply in spoken:
        acts = list(reply.sentences)
        for place, act in enumerate(acts):
            on = reply.sentences[act].leans_on
            if on is not None:
                leaning += 1
                assert place > 0, (act, reply.text)
                assert acts[place - 1] == on, (act, reply.text)
    assert leaning > 300


def test_no_reply_takes_up_the_same_phrase_twice(spoken: list[tuple[dict[str, Any] | None, Reply]]) -> None:
    for _, reply in spoken:
        echoes = [sentence.echo for sentence in reply.sentences.values() if sentence.echo]
        assert len(echoes) == len(set(echoes)), reply.text


def test_an_edit_keeps_sentences_word_for_word_and_in_their_order(
    spoken: list[tuple[dict[str, Any] | None, Reply]],
) -> None:
    edits = [(kept, reply) for kept, reply in spoken if kept]
    assert len(edits) > 200
    same = resaid = 0
    for kept, reply in edits:
        both = [act for act in kept if act in reply.sentences]
        assert [act for act in reply.sentences if act in kept] == both
        for act in both:
            if reply.sentences[act] is kept[act]:
                same += 1
            else:  # only what leant on a sentence that is gone is said anew
                assert kept[act].leans_on is not None
                resaid += 1
    assert same > 5 * resaid > 0
