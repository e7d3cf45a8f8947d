"""What was replied: where a trace keeps it, and how it is read. Free of verifiers: traces are JSON on disk.

`trace.info["attune"]` holds `{"version": 1, "replies": {request id: entry}}`, an entry being

- `text`: the raw reply that counts, the last one; null while there is none,
- `status`: `ok` or `unparsed:<code>` as it was read then; `failed` where the endpoint gave no reply,
- `asks`: how often it was asked for a reply, `calls`: how many calls that took,
- `nodes`: indices into `trace.nodes` of the replies, the one that counts last,
- `finish_reason`; `refusal`, true where the model refused in that field; `failed`, why no reply came.

`trace.info["attune_judge"]` holds the judge's `model` and its raw `replies`, turn number -> texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attune_episodes.logs import texts_in
from attune_episodes.task import Task

if TYPE_CHECKING:
    from attune_episodes.verifiers_env.wire import AnyTrace

KEY: Final = "attune"
JUDGE_KEY: Final = "attune_judge"
VERSION: Final = 1
FAILED: Final = "failed"
Entries = Mapping[str, Mapping[str, Any]]


def begin(trace: AnyTrace) -> dict[str, dict[str, Any]]:
    """A fresh place for replies in a trace."""
    replies: dict[str, dict[str, Any]] = {}
    trace.info[KEY] = {"version": VERSION, "replies": replies}
    return replies


def entries_in(info: Mapping[str, Any]) -> Entries:
    """Request id -> entry; {} where another harness played."""
    held = info.get(KEY)
    found = held.get("replies") if isinstance(held, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def replies_in(info: Mapping[str, Any], said: Sequence[str | None], task: Task) -> dict[str, str]:
    """Request id -> raw reply, of the requests that were answered.

    Args:
        info: of the trace.
        said: everything that the model said in the trace. Where one request was played by a chat harness
            of another kind, the last of it is the answer.
        task: what the task says.
    """
    entries = entries_in(info)
    if not entries and task.only is not None:
        return {task.only: said[-1] or ""} if said else {}
    return texts_in(entries, task)


def replies_of(trace: AnyTrace, task: Task) -> dict[str, str]:
    """`replies_in` of a live trace."""
    said = [node.message.content for node in trace.nodes if node.sampled]
    return replies_in(trace.info, [text if isinstance(text, str) else None for text in said], task)


def missing_of(trace: AnyTrace, task: Task) -> list[str]:
    """Ids of the requests without a reply, in their order."""
    return task.missing(replies_of(trace, task))
