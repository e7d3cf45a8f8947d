"""The observations of a conversation's steps, computed once per conversation and settings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from attune_data.format.constants import BINARY_IDS
from attune_data.format.schema import Conversation
from attune_data.source.load import MAX_TURNS
from attune_episodes.frameworks.gymnasium.spaces import (
    COMPARISONS,
    FIELDS,
    FIELDS_OF,
    NONE_OF,
    YES_NO,
    Choices,
    TextSpace,
)
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.prompts import JOINED
from attune_episodes.protocol.request import Message, Request
from attune_episodes.protocol.schemas import object_schema
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import STAGES

Bits = NDArray[np.int8]
Observation = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """All requests of a turn combined into one, answered by one JSON object with a key per stage."""

    requests: tuple[Request, ...]

    @property
    def id(self) -> str:
        """`conversation/turn`."""
        return self.requests[0].id.rpartition("/")[0]

    @property
    def turn(self) -> int | None:
        """Turn number."""
        return self.requests[0].turn

    @property
    def messages(self) -> tuple[Message, ...]:
        """The thread, followed by the questions of all stages in one user message."""
        asked = [JOINED.format(stages=", ".join(one.stage for one in self.requests))]
        asked += [f"# {one.stage}\n\n{one.messages[-1].content}" for one in self.requests]
        return (*self.requests[0].messages[:-1], Message("user", "\n\n".join(asked)))

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the answer."""
        return object_schema({one.stage: one.schema for one in self.requests})

    def chat(self) -> list[dict[str, str]]:
        """The messages as new plain dicts, as chat clients expect."""
        return [dict(message) for message in self.messages]


@dataclass(frozen=True, slots=True, eq=False)
class Presentation:
    """One step: the requests that its action answers (none at the end), and their observation."""

    requests: tuple[Request, ...]
    id: str
    info: dict[str, Any]
    observation: Observation

    def observe(self) -> Observation:
        """A copy of the observation, whose arrays the caller may change."""
        seen = self.observation.copy()
        for name in _BITS:
            seen[name] = seen[name].copy()
        return seen


_BITS: Final = {
    "stages": STAGES,
    "fields": FIELDS,
    "questions": BINARY_IDS,
    "comparisons": range(1, COMPARISONS + 1),
}
"""Key of the observation -> the meaning of its bits."""


def presentations(
    conversation: Conversation, settings: Settings, *, by_turn: bool, max_chars: int
) -> tuple[Presentation, ...]:
    """The steps of a conversation, and the end (cached on the conversation).

    Args:
        conversation: the conversation to play.
        settings: how its questions are asked.
        by_turn: put all requests of a turn into one step; otherwise one request per step.
        max_chars: limit on the observed text; a longer text loses its beginning, since the question is at the
            end.
    """

    def make() -> tuple[Presentation, ...]:
        places = {turn.turn_number: place for place, turn in enumerate(conversation.turns, 1)}
        groups = groupby(plan(conversation, settings), lambda one: one.turn if by_turn else one.id)
        over = {"conversation_id": conversation.conversation_id, "turn": 0}
        steps = [_presentation(tuple(group), places, max_chars) for _, group in groups]
        return (*steps, Presentation((), "", over, _observation("", 0)))

    return conversation.memoised("presentations", (settings.key, by_turn, max_chars), make)


def _presentation(requests: tuple[Request, ...], places: dict[int, int], max_chars: int) -> Presentation:
    request = requests[0] if len(requests) == 1 else TurnRequest(requests)
    turn = places.get(request.turn or 0, 0)
    stages = tuple(one.stage for one in requests)
    text = "\n\n".join(f"[{one.role}]\n{one.content}" for one in request.messages).rstrip("\n")
    if len(text) > max_chars:
        text = f"…{text[len(text) - max_chars + 1 :]}"
    info = {"conversation_id": requests[0].conversation_id, "turn": turn, "stages": stages}
    observation = _observation(
        text,
        min(turn, MAX_TURNS),
        stages,
        {name for stage in stages for name in FIELDS_OF[stage]},
        {question for one in requests for question in one.questions},
        {shown.number for one in requests for shown in one.comparisons},
    )
    return Presentation(requests, request.id, info | {"request": request}, observation)


def _observation(text: str, turn: int, *asked: Collection[Any]) -> Observation:
    """Args: text; place; what is asked of each of `_BITS`."""
    some = dict(zip(_BITS, asked, strict=False))
    bits = {
        name: np.array([one in some.get(name, ()) for one in every], np.int8) for name, every in _BITS.items()
    }
    return {"messages": text, "turn": turn, **bits}


def action_mask(space: spaces.Dict, observation: Observation) -> dict[str, Any]:
    """A mask for `space.sample`: everything that is asked is answered, and all else stays 0."""
    counting = {name for name, on in zip(FIELDS, observation["fields"], strict=True) if on}
    slots = {"picks": observation["comparisons"], **dict.fromkeys(YES_NO, observation["questions"])}
    mask: dict[str, Any] = {}
    for name, field in space.spaces.items():
        asked = name in counting
        if isinstance(field, Choices):
            some = slots.get(name, np.ones(len(field.nvec), np.int8)) * asked
            # any emotion may be absent; everything else that is asked must have an answer
            mask[name] = _allowed(some, int(field.nvec[0]), zero=name == "emotions")
        elif isinstance(field, spaces.Discrete):
            mask[name] = _allowed([asked], int(field.n), zero=False)[0]
        elif isinstance(field, TextSpace):
            mask[name] = None if asked else 0
        elif name == "none":
            mask[name] = np.array([2 if of in counting else 0 for of in NONE_OF], np.int8)
        else:
            mask[name] = np.full(field.shape, 2 if asked else 0, np.int8)
    return mask


def _allowed(asked: Sequence[bool] | Bits, values: int, *, zero: bool) -> Bits:
    """Slot -> allowed values: 1 and up if it is asked (also 0 with `zero`), otherwise only 0."""
    on = np.asarray(asked, bool)[:, None]
    allowed = np.repeat(on, values, axis=1)
    allowed[:, 0] = zero | ~on[:, 0]
    return allowed.astype(np.int8)
