"""The page of conversations to read is the one that the simulator makes."""

from __future__ import annotations

from pathlib import Path

from attune_data.simulate import Simulation
from attune_data.simulate.gallery import COUNT, SEED, page

PAGE = Path(__file__).parents[3] / "docs" / "simulated-conversations.md"


def test_the_page_in_the_docs_is_made_by_the_simulator() -> None:
    # if this fails the simulator has changed:
    # python -m attune_data.simulate.gallery > docs/simulated-conversations.md
    assert PAGE.read_text(encoding="utf-8") == page()


def test_it_holds_every_message_and_every_recorded_reply() -> None:
    text = page()
    assert text.count("\n## ") == COUNT
    for index in range(COUNT):
        for turn in Simulation(SEED)[index].turns:
            assert turn.user_message.replace("\n", " / ") in text
            assert turn.llm_response in text
