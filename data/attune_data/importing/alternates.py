"""Marks imports in which the two alternates of a turn are other models' replies."""

from __future__ import annotations

from typing import Final

from attune_data.schema import Conversation

FIELD: Final = "alternates"
"""The field of `metadata` that says it; without it the alternates are what their names say."""
MODEL_REPLIES: Final = "replies of models"
"""Its value if neither alternate was improved or edited: both are replies of other models."""


def are_model_replies(conversation: Conversation) -> bool:
    """Whether the conversation says that its alternates are replies of models."""
    extra = (conversation.metadata.model_extra if conversation.metadata else None) or {}
    return extra.get(FIELD) == MODEL_REPLIES
