"""`configured`: what the configuration of a taskset says, and every error of it that needs no data.

The configuration asks when it is read, so that a command tells an error as one line, and the taskset again
for what came past that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attune_data.errors import SettingsError, show
from attune_data.jsonio import parse_json
from attune_episodes.data_arguments import DataArguments
from attune_episodes.settings import Settings
from attune_episodes.training.rows import RowMaker
from attune_rewards.spec import RewardSpec
from attune_rewards.spec_files import describe_reward, read_reward, reward_from

if TYPE_CHECKING:
    from attune_episodes.verifiers_env.config import AttuneTasksetConfig


def configured(config: AttuneTasksetConfig) -> tuple[DataArguments, Settings, RewardSpec]:
    """The conversations, the settings and the reward that a configuration names.

    Raises an AttuneError where a name is not known or fields do not go together. The data is not read.
    """
    chosen = DataArguments(
        config.data,
        level=config.level,
        world_seed=config.world_seed,
        number=config.number,
        split=config.split,
        where=config.where,
        provenance=config.provenance,
    )
    settings = Settings.from_json(
        {
            **config.model_dump(include={"mode", "stages", "panas_strategy", "labels", "prompts"}),
            "seed": config.labels_seed,
            "codebook": chosen.codebook(config.codebook),
        }
    )
    spec = _spec(config)
    _check(config, settings, spec)
    return chosen, settings, spec


def _check(config: AttuneTasksetConfig, settings: Settings, spec: RewardSpec) -> None:
    describe_reward(spec)  # parts of one's own are Python functions, which no task can carry
    maker = RowMaker(settings, spec)
    judged = config.task.draft_judge.enabled
    if judged and "draft" not in settings.stages:
        raise SettingsError(
            "the draft judge is enabled, but no draft is asked; add draft to the stages, or leave out "
            "--env.taskset.task.draft-judge.enabled"
        )
    if config.granularity == "request":
        if judged:
            raise SettingsError(
                "the draft judge rates the drafts of whole conversations; use granularity conversation"
            )
        maker.check()
    elif not judged and spec.dense:
        maker.check()


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
