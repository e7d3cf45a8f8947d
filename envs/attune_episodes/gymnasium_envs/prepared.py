"""What an environment shows and reads at each step of a conversation: made once, kept on the conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import numpy as np
from gymnasium import spaces

from attune_data.constants import BINARY_IDS
from attune_data.loading import MAX_TURNS
from attune_data.memo import memoised
from attune_data.schema import Conversation
from attune_episodes.episode import Episode
from attune_episodes.gymnasium_envs.codec import Flat, FlatReader, Kept
from attune_episodes.gymnasium_envs.quick import Quick, quick_scorer
from attune_episodes.gymnasium_envs.spaces import (
    COMPARISONS,
    FIELDS,
    FIELDS_OF,
    NONE_OF,
    Bits,
    Choice,
    Choices,
    Mask,
)
from attune_episodes.plan import plan
from attune_episodes.prompts import JOINED
from attune_episodes.request import Message, Request
from attune_episodes.settings import Settings
from attune_rewards.predictions import STAGES
from attune_rewards.reward import OK, ScoredRequest, scored_requests
from attune_rewards.spec import RewardSpec
from attune_rewards.truth import ConversationTruth, truth_of

_SLOT: Final = {name: slot for slot, name in enumerate(BINARY_IDS)}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of a step: how its answer is read and scored."""

    request: Request
    reader: FlatReader
    scored: ScoredRequest | None
    """None where no part of the reward scores it."""
    quick: Quick | None


@dataclass(frozen=True, slots=True, eq=False)
class Presented:
    """One step: what is shown, and the requests that its action answers. The arrays are not to be changed."""

    asked: tuple[Asked, ...]
    text: str
    stage: int
    """Index in STAGES, of the first request."""
    turn: int
    """1-based place in the conversation, 0 for reflect."""
    fields: Mask
    questions: Mask
    comparisons: Mask
    info: dict[str, Any]
    """What the info holds when it is presented."""
    after: dict[str, Any]
    """What the info holds when it was answered validly, the parts aside."""
    take: Callable[[Flat], Kept]
    quick: Quick | None
    """Scores a flat action; None where several requests are answered, or the engine has to be asked."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A conversation ready to be played under a reward."""

    spec: RewardSpec
    """Held so that its id names no other spec as long as this is kept."""
    truth: ConversationTruth
    steps: tuple[Presented, ...]
    total_name: str


def prepared(
    conversation: Conversation, settings: Settings, spec: RewardSpec, *, by_turn: bool, max_chars: int
) -> Prepared:
    """The steps of a conversation (kept on it once made)."""
    return memoised(
        conversation,
        "gymnasium",
        (settings.key, id(spec), by_turn, max_chars),
        lambda: _Preparing(conversation, settings, spec, max_chars).all(by_turn=by_turn),
    )


class _Preparing:
    def __init__(
        self, conversation: Conversation, settings: Settings, spec: RewardSpec, max_chars: int
    ) -> None:
        self.conversation, self.settings, self.spec, self.max_chars = conversation, settings, spec, max_chars
        self.places = {turn.turn_number: i for i, turn in enumerate(conversation.turns, 1)}

    def all(self, *, by_turn: bool) -> Prepared:
        scored = scored_requests(self.conversation, self.spec, self.settings.stages)
        asked = [
            self._asked(request, scored.get((request.stage, request.turn)))
            for request in plan(self.conversation, self.settings)
        ]
        if by_turn:
            grouped = [tuple(group) for _, group in groupby(asked, key=lambda one: one.request.turn)]
        else:
            grouped = [(one,) for one in asked]
        name = Episode(self.conversation, self.settings, self.spec).total_name
        infos = [self._info(group, by_turn=by_turn) for group in grouped]
        over = {"conversation_id": self.conversation.conversation_id, "turn": 0}
        steps = tuple(map(self._step, grouped, infos, [*infos[1:], over]))
        return Prepared(self.spec, truth_of(self.conversation), steps, name)

    def _asked(self, request: Request, scored: ScoredRequest | None) -> Asked:
        reader = FlatReader(request)
        return Asked(request, reader, scored, quick_scorer(reader, scored))

    def _info(self, asked: tuple[Asked, ...], *, by_turn: bool) -> dict[str, Any]:
        requests = tuple(one.request for one in asked)
        info: dict[str, Any] = {
            "conversation_id": self.conversation.conversation_id,
            "turn": self.places.get(requests[0].turn or 0, 0),
        }
        if by_turn:
            return info | {"stages": tuple(request.stage for request in requests), "requests": requests}
        return info | {"stage": requests[0].stage, "request": requests[0]}

    def _step(self, asked: tuple[Asked, ...], info: dict[str, Any], following: dict[str, Any]) -> Presented:
        requests = tuple(one.request for one in asked)
        first = requests[0]
        questions, comparisons = np.zeros(len(BINARY_IDS), np.int8), np.zeros(COMPARISONS, np.int8)
        for request in requests:
            questions[[_SLOT[q] for q in request.questions if q in _SLOT]] = 1
            comparisons[[c.number - 1 for c in request.comparisons if c.number <= COMPARISONS]] = 1
        counting = {name for request in requests for name in FIELDS_OF[request.stage]}
        scored = first.id if "request" in info else first.id.rpartition("/")[0]
        return Presented(
            asked=asked,
            text=_end("".join(self._text(requests)), self.max_chars),
            stage=STAGES.index(first.stage),
            turn=min(info["turn"], MAX_TURNS),
            fields=np.array([name in counting for name in FIELDS], np.int8),
            questions=questions,
            comparisons=comparisons,
            info=info,
            after={**following, "scored": scored, "reason": OK, "status": OK},
            take=asked[0].reader.take_only,
            quick=asked[0].quick if "request" in info else None,
        )

    def _text(self, requests: tuple[Request, ...]) -> Iterator[str]:
        """The messages, one under the other; of several requests the shared thread once."""
        several = len(requests) > 1
        *thread, _ = requests[0].messages
        yield from map(_said, thread)
        if several:
            yield _said(Message("user", JOINED.format(stages=", ".join(r.stage for r in requests))))
        for request in requests:
            last = request.messages[-1]
            yield _said(Message("user", f"# {request.stage}\n\n{last.content}") if several else last)


def _said(message: Message) -> str:
    return f"[{message.role}]\n{message.content}\n\n"


def _end(text: str, most: int) -> str:
    """The text, or its end, where the question is."""
    text = text.rstrip("\n")
    return text if len(text) <= most else f"…{text[len(text) - most + 1 :]}"


def over() -> dict[str, Any]:
    """What is observed after the last step."""
    return {
        "messages": "",
        "stage": 0,
        "turn": 0,
        "fields": np.zeros(len(FIELDS), np.int8),
        "questions": np.zeros(len(BINARY_IDS), np.int8),
        "comparisons": np.zeros(COMPARISONS, np.int8),
    }


def action_mask(space: spaces.Dict, shown: Presented | None) -> dict[str, Any]:
    """A mask for `space.sample`: what is asked is answered, and the rest is left at 0.

    Args:
        space: the flat action space.
        shown: the step; None after the last.
    """
    counting = set() if shown is None else {n for n, on in zip(FIELDS, shown.fields, strict=True) if on}
    slots: dict[str, Mask] = {}
    if shown is not None:
        slots = {"picks": shown.comparisons}
        slots |= dict.fromkeys(("observed", "preferred", "observed_hp", "preferred_hp"), shown.questions)
    mask: dict[str, Any] = {}
    for name, field in space.spaces.items():
        asked = name in counting
        if isinstance(field, Choices):
            # any emotion may be absent, all else that is asked has an answer
            first = 0 if name == "emotions" else 1
            some = slots.get(name, np.ones(len(field.nvec), np.int8))
            mask[name] = _values(some if asked else np.zeros_like(some), int(field.nvec[0]), first)
        elif isinstance(field, Choice):
            mask[name] = _values(np.array([asked], np.int8), int(field.n), 1)[0]
        elif name == "none":
            mask[name] = np.array([2 if of in counting else 0 for of in NONE_OF], np.int8)
        elif isinstance(field, Bits):
            mask[name] = np.full(field.shape, 2 if asked else 0, np.int8)
        else:
            mask[name] = None if asked else 0
    return mask


def _values(asked: Mask, values: int, first: int) -> Mask:
    """Allowed values a slot: from `first` on where it is asked, else 0 only."""
    mask = np.zeros((len(asked), values), np.int8)
    mask[:, 0] = (asked == 0) | (first == 0)
    mask[asked == 1, max(first, 1) :] = 1
    return mask
