"""A conversation as the metadata of an Inspect sample, and back. Does not import Inspect.

The metadata has the conversation with its annotated answers as one JSON text, because metrics copy the
metadata of every sample and a text costs nothing to copy. A sample's `input` has no answers; the plan makes
the requests.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from attune_data.errors import DataError, Problem, show
from attune_episodes.play.logs import texts_in
from attune_episodes.play.task import Task

CLUSTER: Final = "participant"
"""Metadata key of the conversation's participant, by which standard errors are clustered."""
TASK_KEY: Final = "attune"
"""Metadata key of the task that `metadata_of` writes and `task_of` reads."""
REPLIES: Final = "attune:replies"
"""Store key of the replies: request id -> `{"text", "status", "asks", "finish"}`."""


def metadata_of(task: Task) -> dict[str, Any]:
    """The metadata of the sample for a conversation."""
    about = task.conversation
    return {
        CLUSTER: about.participant,
        "turns": len(about.turns),
        "provenance": about.origin,
        TASK_KEY: json.dumps(task.to_json(), ensure_ascii=False, sort_keys=True),
    }


def task_of(metadata: Mapping[str, Any], *, asking: bool = False) -> Task:
    """The task in a sample's metadata.

    With `asking`, the prompts are about to be sent and must be those with which the sample was made. Raises
    DataError if they are not, or if it is not a sample of this task.
    """
    carried = metadata.get(TASK_KEY)
    if not isinstance(carried, str):
        raise DataError(
            Problem("sample", f"metadata.{TASK_KEY}", show(carried), "a sample of attune_env/attune",
                    "is it the log of another task?")
        )  # fmt: skip
    return Task.from_json(json.loads(carried), asking=asking)


def replies_in(store: Mapping[str, Any], task: Task) -> dict[str, str]:
    """Request id -> raw reply, for the requests that were answered."""
    return texts_in(store.get(REPLIES), task)
