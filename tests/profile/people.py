"""Small conversations of people who stated this and that, and guesses about them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attune_data import Conversation, Conversations
from attune_data.validate import conversation_from
from attune_env.profile.fields import Form, Number, Outside, plain
from attune_env.profile.files import Guessed
from attune_env.profile.request import profile_request
from attune_env.profile.scoring import FieldScore, ModelScores, score_guesses
from tests.data.builders import Json, replaced
from tests.endpoint.answers import Messages, key_of
from tests.front.command import own

FORM = Form()
NUMBERS = {field.name for field in FORM.fields if isinstance(field, Number)}


def person(identity: str, who: str, **stated: Any) -> Conversation:
    """A conversation whose participant stated these fields and no others."""
    demographics = {name: value for name, value in stated.items() if name not in NUMBERS}
    attitude = demographics.pop("conversation_topic_attitude", None)
    profile = {
        "participant_id": who,
        "demographics": demographics,
        "computed_scores": {name: value for name, value in stated.items() if name in NUMBERS},
        "conversation_topic_attitude": attitude,
    }
    return conversation_from(replaced(own(identity), ("participant_profile",), profile), "memory")


def guessed(identity: str, form: Form = FORM, model: str = "lab/m", **guesses: Any) -> Guessed:
    """What a file of guesses holds."""
    return Guessed(Path(f"{identity}.json"), identity, model, form, form.read(guesses))


def scored(people: list[Conversation], *guesses: Guessed) -> ModelScores:
    """The scores of the one model."""
    (found,) = score_guesses(guesses, Conversations(people))
    return found


def measure(scores: ModelScores, field: str, name: str) -> FieldScore:
    """One row."""
    (found,) = (row for row in scores.fields if (row.field, row.measure) == (field, name))
    return found


def truth(about: Conversation, form: Form = FORM) -> Json:
    """The answer that guesses everything as it was stated."""
    stated = form.stated(about)
    return {name: None if isinstance(value, Outside) else plain(value) for name, value in stated.items()}


def knowing(
    conversations: Conversations, change: Callable[[Json], Mapping[str, Any]] = dict
) -> Callable[[Messages], str | None]:
    """A model that knows what everybody stated (`change` alters its answers); silent on other prompts."""
    pages = {key_of(profile_request(one).chat()): json.dumps(change(truth(one))) for one in conversations}
    return lambda messages: pages.get(key_of(messages))
