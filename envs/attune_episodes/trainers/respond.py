"""Rows of the stage `respond`: the recorded conversation up to a person's message, for one reply to it.

The reward is the live reward of that turn. The prompt comes from the record, and the person is in the state
in which the recorded replies left them (`attune_episodes.live.standing`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attune_data.simulate.stream import Simulation
from attune_episodes.live.chat import live_score
from attune_episodes.live.standing import Standing
from attune_episodes.score import LIVE
from attune_episodes.trainers.rows import Row
from attune_episodes.trainers.truth import RESPOND
from attune_rewards.reward import Score


def respond_rows(world: Simulation, index: int) -> Iterator[Row]:
    """One row for each turn of conversation `index`."""
    about = world[index]
    chat: list[dict[str, str]] = []
    for place, turn in enumerate(about.turns):
        chat = [*chat, {"role": "user", "content": turn.user_message}]
        truth = Standing(world, index, place).to_json() | {"stage": RESPOND}
        yield {
            "prompt": chat,
            "id": f"{about.conversation_id}/{turn.turn_number}/{RESPOND}",
            "conversation_id": about.conversation_id,
            "participant_id": about.participant,
            "stage": RESPOND,
            "turn": turn.turn_number,
            "level": world.level.name,
            "weight": 1.0,
            "reward": LIVE,
            "truth": json.dumps(truth, ensure_ascii=False, separators=(",", ":")),
            "provenance": about.origin,
        }
        chat = [*chat, {"role": "assistant", "content": turn.llm_response}]


def respond_scorer(document: Mapping[str, Any]) -> Callable[[str], Score]:
    """A function that scores replies to the row with this truth, in the unit of live totals.

    Raises DataError for a document that cannot be read.
    """
    standing = Standing.from_json(document)
    return lambda reply: live_score(standing.live().say(reply).reward)
