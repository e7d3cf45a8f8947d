"""Small conversations of people who stated this and that, and guesses about them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attune_data import Conversation, Conversations
from attune_data.format.validate import conversation_from
from attune_env.profile.files import Guessed
from attune_env.profile.form import Form
from attune_env.profile.kinds import Number, Outside, plain
from attune_env.profile.request import profile_request
from attune_env.profile.scoring import FieldScore, score_guesses
from tests.command import own
from tests.data.builders import Json, replaced
from tests.endpoint.answers import Messages, key_of

FORM = Form()
FIELDS = {field.name: field for field in FORM.fields}


def person(identity: str, who: str, **stated: Any) -> Conversation:
    """A conversation whose participant stated these fields and no others."""
    scores = {name: v for name, v in stated.items() if isinstance(FIELDS[name], Number)}
    profile = {
        "participant_id": who,
        "demographics": {name: v for name, v in stated.items() if name not in scores},
        "computed_scores": scores,
    }
    return conversation_from(replaced(own(identity), ("participant_profile",), profile), "memory")


def guessed(identity: str, form: Form = FORM, **guesses: Any) -> Guessed:
    """The content of a file of guesses."""
    return Guessed(Path(f"{identity}.json"), identity, "lab/m", form, form.read(guesses))


def scored(people: list[Conversation], *guesses: Guessed) -> dict[str, FieldScore]:
    """Field -> the scores of the one model."""
    (found,) = score_guesses(guesses, Conversations(people))
    return {one.field: one for one in found.fields}


def truth(about: Conversation) -> Json:
    """The answer that guesses everything as it was stated."""
    stated = FORM.stated(about)
    return {name: None if isinstance(value, Outside) else plain(value) for name, value in stated.items()}


def knowing(
    conversations: Conversations, change: Callable[[Json], Mapping[str, Any]] = dict
) -> Callable[[Messages], str | None]:
    """A model that knows what everybody stated (`change` alters its answers); silent on other prompts."""
    pages = {key_of(profile_request(one).chat()): json.dumps(change(truth(one))) for one in conversations}
    return lambda messages: pages.get(key_of(messages))
