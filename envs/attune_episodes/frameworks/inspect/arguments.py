"""Read `-T name=value`, raising every error before anything is asked. Does not import Inspect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attune_data.errors import SettingsError, check_flag, show
from attune_data.files.conversations import Conversations
from attune_episodes.frameworks.arguments import asked_by
from attune_episodes.play.score import default_spec
from attune_episodes.play.task import Task
from attune_episodes.training.rows import unscored
from attune_rewards.predictions import STAGES
from attune_rewards.reward.score import scored_requests

Text = str | list[str]
"""A text, or the list into which Inspect splits a text with commas."""


def read_arguments(given: Mapping[str, Any]) -> tuple[Conversations, list[Task]]:
    """The conversations selected by the arguments of the task (`-T name=value`), and a task for each.

    Raises an AttuneError for invalid arguments, for endless data, and if the stages asked are not scored.
    """
    reasks, parallel = given["reasks"], given["parallel"]
    if type(reasks) is not int or not 0 <= reasks <= 100:
        raise SettingsError(f"reasks is {show(reasks)}; it must be a whole number from 0 to 100")
    if parallel is not None and (type(parallel) is not int or parallel < 1):
        raise SettingsError(
            f"parallel is {show(parallel)}; it must be a whole number, at least 1, or left out"
        )
    check_flag("structured", given["structured"])
    names_in("finish_ok", given["finish_ok"])
    names = ("data", "prompts", "where", "codebook", "stages")
    texts: dict[str, Any] = {name: _text(name, given[name]) for name in names if given[name] is not None}
    texts["stages"] = names_in("stages", texts.get("stages")) or STAGES
    chosen, settings = asked_by({**given, **texts})
    conversations, spec = chosen.finite("-T number=20"), default_spec()
    if not any(scored_requests(one, spec, settings.stages) for one in conversations):
        raise unscored(spec.name, str(chosen.data))
    return conversations, [Task(one, settings, spec) for one in conversations]


def names_in(name: str, value: object) -> list[str]:
    """The names in an argument, separated by commas; none if it is left out."""
    return [] if value is None else [one.strip() for one in _text(name, value).split(",")]


def _text(name: str, value: object) -> str:
    """Restore a text as typed: `-T` parses values as YAML and splits texts at commas."""
    if isinstance(value, (list, tuple)) and value and all(isinstance(part, str) for part in value):
        return ",".join(value)
    if not isinstance(value, str):
        raise SettingsError(
            f"{name} is {show(value)}, which is not a text; if it looks like a number or a list, quote it: "
            f"-T '{name}=\"…\"'"
        )
    return value
