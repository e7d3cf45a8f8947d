"""`AttuneTaskset`: conversations as tasks of verifiers."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Final

import verifiers.v1 as vf

from attune_data.errors import DataError, Problem, show
from attune_data.loading import Conversations
from attune_data.schema import Conversation
from attune_data.simulate.stream import Simulation
from attune_episodes.data_source import choose_data
from attune_episodes.plan import plan
from attune_episodes.settings_json import write_settings
from attune_episodes.training.arguments import unscored
from attune_episodes.training.rows import RowMaker
from attune_episodes.verifiers_env.config import AttuneTasksetConfig
from attune_episodes.verifiers_env.configured import configured
from attune_episodes.verifiers_env.task import AttuneTask
from attune_episodes.verifiers_env.wire import write_data
from attune_rewards.reward import scored_requests
from attune_rewards.spec_files import describe_reward

BARREN: Final = 1000
"""Conversations of an endless world in a row without anything to score, after which it is given up."""
logger = logging.getLogger(__name__)


class AttuneTaskset(vf.Taskset[AttuneTask, AttuneTasksetConfig]):
    """Annotated conversations, each a task, or each of their scored requests a task.

    Everything that can be wrong with the configuration is told when the taskset is made: settings, reward
    and data. `load` then only makes tasks. Simulated conversations without a `number` have no end: the
    taskset says so (`INFINITE`), so that evaluation asks for `-n`, and trainers take what they need.
    """

    def __init__(self, config: AttuneTasksetConfig) -> None:
        super().__init__(config)
        self.codebook, self.settings, self.spec = configured(config)
        if self.codebook != config.codebook:
            logger.info("questions in the wording of %s", self.codebook)
        self.conversations: Conversations | Simulation = choose_data(
            config.data,
            level=config.level,
            world_seed=config.world_seed,
            number=config.number,
            split=config.split,
            where=config.where,
            provenance=config.provenance,
            training=config.training,
        )
        self.INFINITE = isinstance(self.conversations, Simulation)
        if not self.INFINITE and not any(map(self._scores, self.conversations)):
            raise unscored(self.spec, config.data)

    def load(self) -> Iterator[AttuneTask]:
        """The tasks, in the order of the data; conversations in which nothing is scored are left out."""
        settings = write_settings(self.settings, self.codebook)
        spec = describe_reward(self.spec)
        maker = RowMaker(self.settings, self.spec)
        left_out: list[str] = []
        barren = 0
        for conversation in self._known():
            if not self._scores(conversation):
                barren += 1
                if not self.INFINITE:
                    left_out.append(conversation.conversation_id)
                elif barren >= BARREN:
                    raise DataError(
                        Problem(self.config.data, "", f"nothing to score in {BARREN} conversations in a row",
                                f"something that reward {self.spec.name!r} scores")
                    )  # fmt: skip
                continue
            barren = 0
            if self.config.granularity == "conversation":
                yield AttuneTask(write_data(conversation, settings, spec), self.config.task)
                continue
            by_id = {request.id: request for request in plan(conversation, self.settings)}
            for row in maker.rows(conversation):
                data = write_data(conversation, settings, spec, by_id[row["id"]])
                yield AttuneTask(data, self.config.task)
        if left_out:
            logger.warning(
                "%d conversations left out, in which reward %r scores nothing: %s",
                len(left_out), self.spec.name, ", ".join(map(show, left_out[:5])),
            )  # fmt: skip

    def _known(self) -> Iterable[Conversation]:
        return self.conversations

    def _scores(self, conversation: Conversation) -> bool:
        drafts = self.config.task.draft_judge.enabled and "draft" in self.settings.stages
        return drafts or bool(scored_requests(conversation, self.spec, self.settings.stages))
