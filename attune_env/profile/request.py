"""`profile_request`: the one question about a conversation, the bare transcript and nothing else of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from attune_data.jsonio import read_text
from attune_data.schema import Conversation
from attune_env.profile.fields import Choice, Form, Number, Several, Value
from attune_episodes.answers import Schema, object_schema
from attune_episodes.judging.request import unused_mark
from attune_episodes.parsing import Unparsed, extract_object
from attune_episodes.prompts import FOLDER, compiled, fingerprint_of
from attune_episodes.request import Message


@dataclass(frozen=True, slots=True, repr=False)
class ProfileRequest:
    """One question to a model. Nothing that the participant stated about themselves is in it."""

    conversation_id: str
    messages: tuple[Message, ...]
    form: Form = field(default_factory=Form)
    plain = False
    """The answer is a JSON object."""

    def __repr__(self) -> str:
        return f"ProfileRequest({self.id}, {len(self.form.fields)} fields)"

    @property
    def id(self) -> str:
        """`conversation/profile`."""
        return f"{self.conversation_id}/profile"

    @property
    def schema(self) -> Schema:
        """JSON schema of the answer, a new one at each call; null means no answer."""
        return object_schema({one.name: one.schema for one in self.form.fields})

    def chat(self) -> list[dict[str, str]]:
        """The messages as fresh plain dicts, as chat clients take them."""
        return [dict(message) for message in self.messages]


def profile_request(conversation: Conversation, form: Form | None = None) -> ProfileRequest:
    """Make the question about a conversation: one message that holds the HP's and the OM's texts.

    No other part of the record affects it: not the profile, topic, feelings, annotations or alternate
    responses. The conversation's id only goes into the hash that marks the texts.
    """
    form = form or Form()
    history = [(turn.user_message, turn.llm_response) for turn in conversation.turns]
    text = compiled(_template()).render(
        mark=unused_mark([text for pair in history for text in pair], conversation.conversation_id, 0),
        history=history,
        choices=[one for one in form.fields if isinstance(one, Choice)],
        diagnoses=next(one for one in form.fields if isinstance(one, Several)),
        numbers=[one for one in form.fields if isinstance(one, Number)],
    )
    return ProfileRequest(conversation.conversation_id, (Message("user", text.strip()),), form)


def template_fingerprint() -> str:
    """16 hex digits that name the template."""
    return fingerprint_of(_template())


@cache
def _template() -> str:
    return read_text(FOLDER / "profile.md")


def parse_profile(form: Form, text: str | None) -> dict[str, Value] | Unparsed:
    """The guesses in a reply. Never raises on a reply.

    Each field is read on its own: anything that is missing, null, not an option or out of range is
    unanswered. A diagnosis that is not an option spoils the list. A reply that names none of the fields is
    `no_fields`; one that gives null for all of them is read, and answers nothing.
    """
    found = extract_object(text or "")
    if isinstance(found, Unparsed):
        return found
    names = [one.name for one in form.fields]
    if not any(name in found for name in names):
        return Unparsed("no_fields", f"none of {', '.join(names)}")
    return form.read(found)
