"""The contents of an Inspect task: its arguments, and what a sample carries. Free of Inspect.

A sample holds the conversation with its annotated answers, as one JSON text: metrics copy the metadata of
every sample, and a text costs nothing to copy. No answer is in its `input`; requests are made by the plan.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.loading import Conversations
from attune_episodes.data_arguments import asked_by, check_flag
from attune_episodes.logs import texts_in
from attune_episodes.score import default_spec
from attune_episodes.task import Task
from attune_episodes.trainers.rows import unscored
from attune_rewards.predictions import STAGES
from attune_rewards.reward import scored_requests

OLDEST: Final = "0.3.258"
BELOW: Final = "0.3.259"
"""The tested versions of Inspect: from `OLDEST` on, and below this."""
CLUSTER: Final = "participant"
"""Key of a sample's metadata: whose conversation it is. Standard errors are clustered by it."""
KEY: Final = "attune"
"""Key of a sample's metadata, for what `metadata_of` writes and `task_of` reads."""
REPLIES: Final = "attune:replies"
"""Key of a sample's store: request id -> `{"text", "status", "asks", "finish"}`."""
Text = str | list[str]
"""A text, or the list that Inspect makes of one with commas in it."""


def tasks_of(given: Mapping[str, Any]) -> tuple[Conversations, list[Task]]:
    """The conversations that the arguments of the task (`-T name=value`) name, and a task for each.

    Raises an AttuneError for arguments that cannot be meant, for an endless world, and where nothing is
    scored in the stages asked.
    """
    reasks, parallel = given["reasks"], given["parallel"]
    if type(reasks) is not int or not 0 <= reasks <= 100:
        raise SettingsError(f"reasks is {show(reasks)}; it must be a whole number from 0 to 100")
    if parallel is not None and (type(parallel) is not int or parallel < 1):
        raise SettingsError(
            f"parallel is {show(parallel)}; it must be a whole number, at least 1, or left out"
        )
    check_flag("structured", given["structured"])
    names = ("data", "prompts", "where", "codebook", "stages")
    texts: dict[str, Any] = {name: _text(name, given[name]) for name in names if given[name] is not None}
    texts["stages"] = [one.strip() for one in texts["stages"].split(",")] if "stages" in texts else STAGES
    chosen, settings = asked_by({**given, **texts})
    found, spec = chosen.finite("-T number=20"), default_spec()
    if not any(scored_requests(one, spec, settings.stages) for one in found):
        raise unscored(spec, str(chosen.data))
    return found, [Task(one, settings, spec) for one in found]


def _text(name: str, value: object) -> str:
    """A text as it was typed: `-T` reads its values as YAML and cuts texts at commas."""
    if isinstance(value, (list, tuple)) and value and all(isinstance(part, str) for part in value):
        return ",".join(value)
    if not isinstance(value, str):
        raise SettingsError(
            f"{name} is {show(value)}, which is no text; where it looks like a number or a list, quote it: "
            f"-T '{name}=\"…\"'"
        )
    return value


def metadata_of(task: Task) -> dict[str, Any]:
    """The metadata of a conversation's sample."""
    about = task.conversation
    return {
        CLUSTER: about.participant,
        "turns": len(about.turns),
        "provenance": about.origin,
        KEY: json.dumps(task.to_json(), ensure_ascii=False, sort_keys=True),
    }


def task_of(metadata: Mapping[str, Any], *, asking: bool = False) -> Task:
    """The task that a sample's metadata holds.

    `asking`: the prompts are about to be sent, so they must be those that the sample was made with. Raises
    DataError where they are not, or where it is no sample of this task.
    """
    carried = metadata.get(KEY)
    if not isinstance(carried, str):
        raise DataError(
            Problem("sample", f"metadata.{KEY}", show(carried), "a sample of attune_env/attune",
                    "is it the log of another task?")
        )  # fmt: skip
    return Task.from_json(json.loads(carried), asking=asking)


def replies_in(store: Mapping[str, Any], task: Task) -> dict[str, str]:
    """Request id -> raw reply, of the requests that were answered."""
    return texts_in(store.get(REPLIES), task)
