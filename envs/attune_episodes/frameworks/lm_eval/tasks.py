"""A conversation as a document of lm-eval, and back. Does not import lm-eval."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attune_data import Conversations
from attune_data.errors import DataError, Problem, show
from attune_data.format.fingerprint import fingerprint
from attune_data.format.schema import Conversation
from attune_data.source.source import Source, codebook_for
from attune_episodes.play.score import default_spec
from attune_episodes.play.task import Task
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.settings import Settings


def document_of(conversation: Conversation, settings: Settings) -> dict[str, Any]:
    """The document of a conversation: what is asked, but no annotations, since logs are published."""
    return {
        "conversation_id": conversation.conversation_id,
        "fingerprint": fingerprint(conversation),
        "requests": [request.id for request in plan(conversation, settings)],
        "settings": json.dumps(settings.to_json(), ensure_ascii=False, sort_keys=True),
    }


def task_of(document: Mapping[str, Any], conversations: Conversations, chosen: Source, place: str) -> Task:
    """The task of a document.

    Args:
        document: the output of `document_of`.
        conversations: the data of the run.
        chosen: the arguments that chose them, for the codebook next to them.
        place: where the document stands, for errors.

    Raises DataError for a conversation that is not in the data or has changed since, and for prompts or a
    codebook other than those of the run.
    """
    name, known = document["conversation_id"], document["fingerprint"]
    conversation = conversations.by_id.get(name)
    if conversation is None:
        raise DataError(
            Problem(place, "doc.conversation_id", show(name),
                    f"one of the {len(conversations)} conversations of {conversations.source}",
                    "name the data of the run")
        )  # fmt: skip
    if fingerprint(conversation) != known:
        raise DataError(
            Problem(place, "doc.fingerprint", known,
                    f"{fingerprint(conversation)}, that of {show(name)} in {conversations.source}",
                    "the conversation has changed since the run: name the data of the run")
        )  # fmt: skip
    written = json.loads(document["settings"])
    book = written["codebook"]
    if book is not None and not Path(book).is_file():
        book = codebook_for(chosen.data)  # the samples may come from another machine
    settings = Settings.from_json({**written, "codebook": book})
    settings.check_same(written, f"{place} doc", "prompts", "codebook")
    return Task(conversation, settings, default_spec())
