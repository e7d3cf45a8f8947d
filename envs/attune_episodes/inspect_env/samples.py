"""What a sample of Inspect carries: a conversation, and how it is asked about.

Free of Inspect, so that reading is. A sample holds the conversation with its annotated answers, as one JSON
text: metrics copy the metadata of every sample, and a text costs nothing to copy. No answer is in its
`input`, and requests are made by the plan.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from attune_data.errors import DataError, Problem, show
from attune_episodes.logs import texts_in
from attune_episodes.task import Task

CLUSTER: Final = "participant"
"""Key of a sample's metadata: whose conversation it is. Standard errors are clustered by it."""
KEY: Final = "attune"
"""Key of a sample's metadata, for what `metadata_of` writes and `task_of` reads."""
REPLIES: Final = "attune:replies"
"""Key of a sample's store: request id -> `{"text", "status", "asks", "finish"}`."""


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

    Args:
        metadata: of the sample.
        asking: the prompts are about to be sent: they must be those that the sample was made with.

    Raises DataError where it is no sample of this task, or this process has another wording.
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
