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
from attune_episodes.task import Task
from attune_episodes.training.arguments import unscored
from attune_episodes.training.rows import RowMaker
from attune_episodes.verifiers_env.config import AttuneTasksetConfig
from attune_episodes.verifiers_env.configured import configured
from attune_episodes.verifiers_env.task import AttuneTask
from attune_episodes.verifiers_env.wire import AttuneData
from attune_rewards.reward import scored_requests

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
        chosen, self.settings, self.spec = configured(config)
        if self.settings.codebook.path != config.codebook:
            logger.info("questions in the wording of %s", self.settings.codebook.path)
        self.conversations: Conversations | Simulation = chosen.choose(training=config.training)
        self.INFINITE = isinstance(self.conversations, Simulation)
        if not self.INFINITE and not any(map(self._scores, self.conversations)):
            raise unscored(self.spec, config.data)

    def load(self) -> Iterator[AttuneTask]:
        """The tasks, in the order of the data; conversations in which nothing is scored are left out."""
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
                yield self._task(conversation)
                continue
            for row in maker.rows(conversation):
                yield self._task(conversation, row["id"])
        if left_out:
            logger.warning(
                "%d conversations left out, in which reward %r scores nothing: %s",
                len(left_out), self.spec.name, ", ".join(map(show, left_out[:5])),
            )  # fmt: skip

    def _task(self, conversation: Conversation, request: str | None = None) -> AttuneTask:
        task = Task(conversation, self.settings, self.spec, request)
        return AttuneTask(AttuneData.of(task), self.config.task)

    def _known(self) -> Iterable[Conversation]:
        return self.conversations

    def _scores(self, conversation: Conversation) -> bool:
        drafts = self.config.task.draft_judge.enabled and "draft" in self.settings.stages
        return drafts or bool(scored_requests(conversation, self.spec, self.settings.stages))
