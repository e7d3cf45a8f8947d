"""The arguments under `--env.taskset.*`, `--env.taskset.task.*` and `--env.agent.harness.*`.

The texts under the fields are shown by `vf-eval attune-env --help`.
"""

from __future__ import annotations

from typing import Any, Final, Literal, Self

import verifiers.v1 as vf
from pydantic import ConfigDict, Field, FiniteFloat, model_validator

from attune_data.errors import AttuneError, SettingsError
from attune_data.format.constants import Provenance
from attune_data.jsonio import parse_json
from attune_data.source.source import Source
from attune_episodes.frameworks.arguments import asked_by
from attune_episodes.protocol.settings import Labels, Mode, PanasStrategy, Settings
from attune_episodes.training.rows import RowMaker
from attune_rewards.predictions import STAGES, Stage
from attune_rewards.reward.spec import RewardSpec
from attune_rewards.reward.spec_files import describe_reward, read_reward, reward_from

ENV_ID: Final = "attune-env"
"""The name under which verifiers finds all of this: the package `attune_env`."""
Granularity = Literal["conversation", "request"]
DESCRIBED: Final = ConfigDict(use_attribute_docstrings=True)
"""The texts under the fields are their descriptions, for `--help` and the Hub's card."""


class DraftJudgeConfig(vf.JudgeConfig):
    """A model that rates drafts."""

    model_config = DESCRIBED

    enabled: bool = False
    """Rate drafts with a judge model. If off, no judge is called."""
    weight: FiniteFloat = 0.0
    """Weight of the rating as a reward; at 0 it is a metric only."""
    retries: int = Field(2, ge=0, le=100)
    """How many times to retry a failed or unreadable call, with a pause before each."""

    @model_validator(mode="after")
    def _no_prompt_of_its_own(self) -> Self:
        if self.prompt is not None:
            raise ValueError(
                "the draft judge uses the wording of the prompt set: put a judge.md into a folder of "
                "templates and name the folder with --env.taskset.prompts, instead of draft-judge.prompt"
            )
        return self


class AttuneTaskConfig(vf.TaskConfig):
    """How replies are scored beyond the annotations."""

    model_config = DESCRIBED

    draft_judge: DraftJudgeConfig = DraftJudgeConfig()
    """The judge of drafts, off by default: `--env.taskset.task.draft-judge.enabled true`."""


class AttuneTasksetConfig(vf.TasksetConfig):
    """Which conversations to play, how to ask about them and what to reward."""

    model_config = DESCRIBED

    id: vf.ID = ENV_ID
    task: AttuneTaskConfig = AttuneTaskConfig()
    """How replies are scored beyond the annotations."""

    data: str = "sample"
    """"sample" (20 bundled conversations), "written" (more of them, by language models), a file or folder of
    conversations, the name of a dataset, or a mixture such as "3*written+sample"."""
    number: int | None = Field(None, ge=1)
    """Use only this many conversations; a mixture with weights is endless without it."""
    split: str | None = None
    """Which split to use, if a dataset has several."""
    where: str | None = None
    """Use only conversations that match, such as "diagnosis=ADHD,who_5<13"."""
    provenance: Provenance | None = None
    """Provenance of records that state none; by default they count as benchmark."""
    training: bool | None = None
    """Refuse what is for evaluation only: benchmark records, and the dev and test parts of "written", whose
    bare name then means its train part. By default, granularity "request" refuses it and "conversation" does
    not."""

    granularity: Granularity = "conversation"
    """conversation: an episode sends all requests of a conversation. request: one task per scored request,
    for training and for any chat harness."""
    mode: Mode = "default"
    """verbose asks for reasoning with each answer, omniscient shows the participant's background."""
    stages: list[Stage] = Field(default_factory=lambda: list(STAGES))
    """Stages to ask, as a list: '["assess", "prefer", "reflect"]'."""
    panas_strategy: PanasStrategy = "absolute"
    """How to ask for the feelings afterwards: absolute, delta (changes), or blind_delta (changes,
    without showing the totals from before)."""
    labels: Labels = "masked"
    """Labels of the compared responses: masked (shuffled) or official (they reveal which is which)."""
    labels_seed: int = 0
    """Seed of the labels, sides and order of comparisons."""
    prompts: str = "full"
    """full (the protocol's thread), compact (one short message per request), or a folder of templates."""
    codebook: str | None = None
    """An official annotation_codebook.json; by default the one beside the data, otherwise our wording."""

    reward: str | dict[str, Any] = "composite"
    """A preset (composite, emotion, behaviour, preference, holistic, skill), a .json or .py file that
    describes a reward, or its description: '{"preset": "skill", "format": 0.1}'."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Refuses what needs no data to be known as wrong: a command then shows it without a traceback."""
        try:
            read_arguments(self)
        except AttuneError as error:
            raise ValueError(str(error)) from error
        return self


def read_arguments(config: AttuneTasksetConfig) -> tuple[Source, Settings, RewardSpec]:
    """The conversations, the settings and the reward that a configuration names.

    Raises an AttuneError if a name is unknown or fields exclude each other. The data is not read.
    """
    chosen, settings = asked_by({**config.model_dump(), "seed": config.labels_seed})
    reward = config.reward
    if not isinstance(reward, str):
        spec = reward_from(reward)
    elif reward.lstrip().startswith("{"):  # a flag is a text
        spec = reward_from(parse_json(reward, "reward"))
    else:
        spec = read_reward(reward)
    describe_reward(spec)  # your own parts are Python functions, which no task can carry
    judged, by_request = config.task.draft_judge.enabled, config.granularity == "request"
    if judged and "draft" not in settings.stages:
        raise SettingsError(
            "the draft judge is enabled, but no draft is asked; add draft to the stages, or leave out "
            "--env.taskset.task.draft-judge.enabled"
        )
    if judged and by_request:
        raise SettingsError(
            "the draft judge rates the drafts of whole conversations; use granularity conversation"
        )
    if by_request or (spec.dense and not judged):
        RowMaker(settings, spec).check()
    return chosen, settings, spec


class AttuneHarnessConfig(vf.HarnessConfig):
    """How the requests of an episode are sent."""

    model_config = DESCRIBED

    id: vf.ID = ENV_ID
    parallel: int = Field(1, ge=1, le=1000)
    """Most requests of one episode in flight at a time; no request depends on a reply."""
    reasks: int = Field(1, ge=0, le=100)
    """How many times to ask again, word for word, after an unreadable reply; the last reply counts. Use 0 for
    training, so that an unreadable reply is scored as one."""
    retries: int = Field(4, ge=0, le=100)
    """How many times to retry a failed call (408, 409, 425, 429, 5xx, no connection)."""
    backoff: FiniteFloat = Field(0.5, ge=0, le=60)
    """Seconds before the first retry; doubled for each further one, up to 30, with jitter."""


class AttuneEnvConfig(vf.SingleAgentEnvConfig):
    """The environment: the conversations, and the model that is asked about them."""

    taskset: AttuneTasksetConfig = AttuneTasksetConfig()
    """Which conversations to play, how to ask about them and what to reward."""
    # the harness is put in afterwards: handed to AgentConfig it would be looked up by its id, in this package
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig(), network_notice=False).model_copy(
        update={"harness": AttuneHarnessConfig()}
    )
    """The model that is asked, and how: `--env.agent.harness.` `parallel`, `reasks`, `retries`, `backoff`
    (docs/verifiers.md). The harness runs in this process and executes no code."""

    @model_validator(mode="after")
    def _harness_fits(self) -> Self:
        check_harness(self)
        return self


def check_harness(config: AttuneEnvConfig) -> None:
    """Raises ValueError if a harness cannot play what the taskset asks for, or must not do so here."""
    harness = config.agent.harness
    if harness is None or isinstance(harness, AttuneHarnessConfig):
        return
    if config.taskset.granularity == "request":
        if harness.id != "null" and config.agent.runtime.type == "subprocess":
            raise ValueError(
                f"harness {harness.id!r} runs what the model writes on this machine, where the annotations "
                "are; use null, or a sandboxed runtime"
            )
        return
    raise ValueError(
        f"harness {harness.id!r} cannot play whole conversations: an episode sends many independent "
        "requests, and a chat harness would answer the first message and stop, with a score near 0. Leave "
        "out --env.agent.harness.id, or make each request a task with "
        "--env.taskset.granularity request"
    )
