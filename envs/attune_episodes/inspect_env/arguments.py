"""From the arguments of the task, which `-T name=value` gives, to conversations and settings."""

from __future__ import annotations

from typing import Any

from attune_data.errors import SettingsError, show
from attune_data.loading import Conversations
from attune_episodes.data_arguments import DataArguments, check_flag
from attune_episodes.score import default_spec
from attune_episodes.settings import Settings
from attune_episodes.task import Task
from attune_episodes.trainers.rows import unscored
from attune_rewards.predictions import STAGES
from attune_rewards.reward import scored_requests

Text = str | list[str]
"""A text, or the list that Inspect makes of one with commas in it."""


def arguments_of(data: Text, where: Text | None, **others: Any) -> DataArguments:
    """The data arguments, with texts that Inspect cut at commas put together again."""
    return DataArguments(
        text_of("data", data), where=None if where is None else text_of("where", where), **others
    )


def settings_of(
    chosen: DataArguments, codebook: Text | None, stages: Text | None, prompts: Text, **others: object
) -> Settings:
    """How it is asked.

    Args:
        chosen: where the conversations are: the official codebook may lie beside them.
        codebook: path of the official codebook; None takes the one beside the data.
        stages: names, in a list or with commas between them; None for all of them.
        prompts: full, compact, or a folder of templates.
        others: the other fields of `Settings`.
    """
    path = chosen.codebook(None if codebook is None else text_of("codebook", codebook))
    names = STAGES if stages is None else _names(stages)
    texts = {"stages": names, "prompts": text_of("prompts", prompts), "codebook": path}
    return Settings.from_json({**others, **texts})


def tasks_of(chosen: DataArguments, settings: Settings) -> tuple[Conversations, list[Task]]:
    """The conversations, and a task for each.

    Raises DataError where nothing in them is scored in the stages asked, and SettingsError for an endless
    world.
    """
    found, spec = chosen.finite("-T number=20"), default_spec()
    if not any(scored_requests(one, spec, settings.stages) for one in found):
        raise unscored(spec, str(chosen.data))
    return found, [Task(one, settings, spec) for one in found]


def check_asking(reasks: object, parallel: object, structured: object) -> None:
    """Raises SettingsError where an argument on how requests are sent is none."""
    if type(reasks) is not int or not 0 <= reasks <= 100:
        raise SettingsError(f"reasks is {show(reasks)}; it must be a whole number from 0 to 100")
    if parallel is not None and (type(parallel) is not int or parallel < 1):
        raise SettingsError(
            f"parallel is {show(parallel)}; it must be a whole number, at least 1, or left out"
        )
    check_flag("structured", structured)


def text_of(name: str, value: object) -> str:
    """A text as it was typed; SettingsError for anything else.

    `-T` reads its values as YAML and cuts texts at commas.
    """
    if isinstance(value, (list, tuple)) and value and all(isinstance(part, str) for part in value):
        return ",".join(value)
    if not isinstance(value, str):
        raise SettingsError(
            f"{name} is {show(value)}, which is no text; where it looks like a number or a list, quote it: "
            f"-T '{name}=\"…\"'"
        )
    return value


def _names(stages: Text) -> tuple[str, ...]:
    return tuple(name.strip() for name in text_of("stages", stages).split(","))
