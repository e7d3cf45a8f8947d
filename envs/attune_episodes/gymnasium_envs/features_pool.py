"""What `Attune/Features-v0` plays: conversations in an order, as rows of numbers, and what answers pay.

Single and vector environment share it, so that both play the same episodes from the same arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_data.memo import memoised
from attune_data.schema import Conversation
from attune_episodes.data_arguments import check_flag
from attune_episodes.gymnasium_envs.features import NUMERIC_STAGES, WORDS, checked_buckets, observe, size
from attune_episodes.plan import plan
from attune_episodes.request import Request
from attune_episodes.settings import Settings
from attune_episodes.source import ConversationSource
from attune_rewards.coded import WIDTH, Shown, asked
from attune_rewards.predictions import Stage
from attune_rewards.reward import ScoredRequest, scored_requests
from attune_rewards.spec import RewardSpec
from attune_rewards.spec_files import reward_from

FOLLOW_UP: Final = "q3_follow_up"
"""The leaf that needs text: rewards are paid without it."""
OPTIONS: Final = ("conversation_id", "index")
"""What a reset may name."""
TRIES: Final = 10_000
"""Conversations looked at in a row for one that has a request."""


def numeric_reward(
    reward: str | Mapping[str, Any] | RewardSpec = "composite", dense: bool | None = None
) -> RewardSpec:
    """The reward without the follow-up, whose weight goes to the parts beside it.

    It is renamed `…_partial` then: like `composite_partial`, its totals never stand beside a Composite.

    Args:
        reward: the name of a preset; a mapping as `attune_rewards.spec_files.reward_from` reads it; or a
            RewardSpec (which an environment's spec cannot write as JSON).
        dense: pay each step (True), or everything with the last one (False); None: as the reward has it.

    Raises SettingsError where nothing but the follow-up would be paid.
    """
    check_flag("dense", dense, optional=True)
    if isinstance(reward, str):
        return _numeric_preset(reward, dense)
    if isinstance(reward, Mapping):
        return _numeric(reward_from(reward), dense)
    if isinstance(reward, RewardSpec):
        return _numeric(reward, dense)
    raise TypeError(f"reward is {show(reward)}; expected a preset's name, a mapping or a RewardSpec")


@lru_cache(maxsize=16)
def _numeric_preset(name: str, dense: bool | None) -> RewardSpec:
    # one object a name: what rewards look at is kept on a conversation by the spec object
    return _numeric(RewardSpec.preset(name), dense)


def _numeric(spec: RewardSpec, dense: bool | None) -> RewardSpec:
    if dense is not None and spec.dense is not dense:
        spec = replace(spec, dense=dense)
    if FOLLOW_UP not in spec.parts:
        return spec
    if len(spec.parts) == 1:
        raise SettingsError(f"reward {spec.name!r} pays the follow-up only, which numbers cannot answer")
    return replace(spec, name=f"{spec.name}_partial", left_out=(*spec.left_out, FOLLOW_UP))


@dataclass(frozen=True, slots=True)
class Compiled:
    """One conversation as rows, one a request."""

    requests: tuple[Request, ...]
    observations: npt.NDArray[np.float32]
    """Shape (requests, `features.size`)."""
    asked: npt.NDArray[np.bool_]
    """Which places of an answer count, shape (requests, WIDTH)."""


class FeaturesPool:
    """Conversations and how they are asked and paid; the arguments are those of `FeaturesEnv`."""

    def __init__(
        self,
        data: Any = "sample",
        *,
        stages: Sequence[Stage] = NUMERIC_STAGES,
        reward: str | Mapping[str, Any] | RewardSpec = "composite",
        words: int = WORDS,
        dense: bool | None = None,
        labels_seed: int = 0,
        **selection: Any,
    ) -> None:
        self.settings = Settings(stages=cast(tuple[Stage, ...], stages), seed=labels_seed)
        for stage in self.settings.stages:
            if stage not in NUMERIC_STAGES:
                raise SettingsError(
                    f"stage {stage!r} has no numbers that pay; choose from {', '.join(NUMERIC_STAGES)}"
                )
        self.spec = numeric_reward(reward, dense)
        self.buckets = checked_buckets(words)
        self.source = ConversationSource(data, **selection)
        if self.source.endless:
            raise SettingsError(
                f"{self.source.name} has no end, and this environment plays a fixed number of conversations: "
                "give number=…, such as number=500"
            )
        self.indices = range(self.source.start, len(self.source.conversations), self.source.step)
        """Indices of the conversations of this shard."""
        played = [self.plays(self.source.conversation(i)) for i in self.indices]
        self._all_play = all(played)
        if not any(played):
            raise SettingsError(
                f"no conversation of {self.source.name} has a request of the stages "
                f"{', '.join(self.settings.stages)}"
            )

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def width(self) -> int:
        """Length of an observation."""
        return size(self.buckets)

    def plays(self, conversation: Conversation) -> bool:
        """Whether it has any request of the stages."""
        stages, turns = self.settings.stages, conversation.turns
        compared = "prefer" in stages and any(turn.comparisons for turn in turns)
        return "reflect" in stages or compared or ("assess" in stages and bool(turns))

    def next_indices(
        self, orders: Iterable[ConversationSource], generators: Iterable[np.random.Generator]
    ) -> list[int]:
        """The index of the next conversation in each order that has a request.

        SettingsError where none comes, since those that have one weigh nothing.
        """
        drawn = zip(orders, generators, strict=True)
        if self._all_play:
            return [order.next_index(generator) for order, generator in drawn]
        return [self._next_index(order, generator) for order, generator in drawn]

    def _next_index(self, order: ConversationSource, generator: np.random.Generator) -> int:
        for _ in range(TRIES):
            index = order.next_index(generator)
            if self.plays(self.source.conversation(index)):
                return index
        raise SettingsError(f"none of {TRIES:,} conversations drawn has a request of the stages asked")

    def order(self) -> ConversationSource:
        """An order of its own over the same conversations."""
        own = copy(self.source)
        own.reset_order()
        return own

    def wanted(self, options: Mapping[str, Any] | None) -> int | None:
        """The index that the options of a reset name; None where they name none.

        SettingsError for unknown options; UnknownNameError for a conversation that is not in this shard.
        """
        if not options:
            return None
        if len(options) > 1 or next(iter(options)) not in OPTIONS:
            found = ", ".join(map(show, options))
            raise SettingsError(f"options are {found}; reset takes one of {', '.join(OPTIONS)}")
        ((name, value),) = options.items()
        if name == "conversation_id":
            ids = {self.source.conversations[i].conversation_id: i for i in self.indices}
            if value not in ids:
                raise UnknownNameError("conversation", str(value), ids)
            index = ids[value]
        elif type(value) is int and value in self.indices:
            index = value
        else:
            raise SettingsError(f"index is {show(value)}; it must be one of {self.indices}")
        if not self.plays(self.source.conversation(index)):
            asked_for = ", ".join(self.settings.stages)
            raise SettingsError(f"conversation {show(value)} has no request of the stages {asked_for}")
        return index

    def compiled(self, conversation: Conversation) -> Compiled:
        """The rows of a conversation (kept on it, as its plan is)."""
        key = (self.settings.key, self.buckets)
        return memoised(conversation, "features", key, lambda: self._compile(conversation))

    def _compile(self, conversation: Conversation) -> Compiled:
        requests = plan(conversation, self.settings)
        counted = [asked(r.stage, r.questions, len(r.comparisons)) for r in requests]
        table = np.array(counted, np.bool_).reshape(len(requests), WIDTH)
        return Compiled(requests, observe(requests, self.buckets), table)

    def scored(self, conversation: Conversation, request: Request) -> ScoredRequest | None:
        """What the reward looks at in a request; None: nothing."""
        table = scored_requests(conversation, self.spec, self.settings.stages)
        return table.get((request.stage, request.turn))


def shown(request: Request) -> Shown:
    """The comparisons of a request as picks count them."""
    return tuple((comparison.index, comparison.swapped) for comparison in request.comparisons)
