"""`AttuneTaskset`: conversations as tasks of verifiers."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import verifiers.v1 as vf

from attune_data.codebook import find_official
from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.jsonio import parse_json
from attune_data.loading import Conversations
from attune_data.schema import Conversation
from attune_data.simulate.stream import Simulation
from attune_episodes.data_source import SIMULATED, choose_data
from attune_episodes.plan import plan
from attune_episodes.settings import Settings
from attune_episodes.training.rows import RowMaker
from attune_episodes.verifiers_env.config import AttuneTasksetConfig
from attune_episodes.verifiers_env.task import AttuneTask
from attune_episodes.verifiers_env.told import make_settings, write_settings
from attune_episodes.verifiers_env.wire import write_data
from attune_rewards.reward import scored_requests
from attune_rewards.spec import RewardSpec
from attune_rewards.spec_files import describe_reward, read_reward, reward_from

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
        self.codebook = _codebook(config)
        self.settings = _settings(config, self.codebook)
        self.spec = _spec(config)
        self._check()
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
            raise DataError(
                Problem(config.data, "", f"nothing annotated that reward {self.spec.name!r} scores",
                        "an annotation in the stages asked", "attune data stats shows what is annotated")
            )  # fmt: skip

    def load(self) -> Iterator[AttuneTask]:
        """The tasks, in the order of the data; conversations in which nothing is scored are left out."""
        settings = write_settings(self.settings, self.codebook)
        spec = describe_reward(self.spec)
        maker = RowMaker(self.settings, self.spec)
        left_out: list[str] = []
        for conversation in self._known():
            if not self._scores(conversation):
                left_out.append(conversation.conversation_id)
                if self.INFINITE and len(left_out) >= BARREN:
                    raise DataError(
                        Problem(self.config.data, "", f"nothing to score in {BARREN} conversations",
                                f"something that reward {self.spec.name!r} scores")
                    )  # fmt: skip
                continue
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

    def _check(self) -> None:
        describe_reward(self.spec)  # parts of one's own are Python functions, which no task can carry
        maker = RowMaker(self.settings, self.spec)
        judged = self.config.task.draft_judge.enabled
        if judged and "draft" not in self.settings.stages:
            raise SettingsError(
                "the draft judge is enabled, but no draft is asked; add draft to the stages, or leave out "
                "--env.taskset.task.draft-judge.enabled"
            )
        if self.config.granularity == "request":
            if judged:
                raise SettingsError(
                    "the draft judge rates the drafts of whole conversations; use granularity conversation"
                )
            maker.check()
        elif not judged and self.spec.dense:
            maker.check()


def _codebook(config: AttuneTasksetConfig) -> str | None:
    """Path of the official codebook to ask with: the one given, else the one beside the data."""
    if config.codebook is not None:
        return config.codebook
    here = Path(config.data)
    if config.data in ("sample", SIMULATED) or not here.exists():
        return None
    found = find_official(here)
    if found is not None:
        logger.info("questions in the wording of %s", found)
    return None if found is None else str(found)


def _settings(config: AttuneTasksetConfig, codebook: str | None) -> Settings:
    return make_settings(
        {
            "mode": config.mode,
            "stages": config.stages,
            "panas_strategy": config.panas_strategy,
            "labels": config.labels,
            "seed": config.labels_seed,
            "prompts": config.prompts,
            "codebook": codebook,
        }
    )


def _spec(config: AttuneTasksetConfig) -> RewardSpec:
    if config.weights:
        if config.reward != "composite":
            raise SettingsError(
                f"weights describe a reward of their own, and reward is {show(config.reward)}; give one"
            )
        return reward_from({"name": "weighted", "weights": dict(config.weights)}, "weights")
    if not isinstance(config.reward, str):
        return reward_from(config.reward)
    if config.reward.lstrip().startswith("{"):  # a flag is a text
        return reward_from(parse_json(config.reward, "reward"))
    return read_reward(config.reward)
