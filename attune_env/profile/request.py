"""`profile_request`: the only request about a conversation, with nothing but its transcript."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from attune_data.format.schema import Conversation
from attune_data.jsonio import read_text
from attune_env.profile.form import Form
from attune_env.profile.kinds import Choice, Number, Several, Value
from attune_episodes.judging.request import unused_mark
from attune_episodes.parsing import Unparsed, extract_object
from attune_episodes.protocol.prompts import FOLDER, compiled, fingerprint_of
from attune_episodes.protocol.request import Message
from attune_episodes.protocol.schemas import Schema, object_schema


@dataclass(frozen=True, slots=True, repr=False)
class ProfileRequest:
    """One request to a model. It contains nothing that the participant stated about themselves."""

    conversation_id: str
    messages: tuple[Message, ...]
    form: Form = field(default_factory=Form)
    plain = False
    """Always False: the answer is a JSON object."""

    def __repr__(self) -> str:
        return f"ProfileRequest({self.id}, {len(self.form.fields)} fields)"

    @property
    def id(self) -> str:
        """`conversation/profile`."""
        return f"{self.conversation_id}/profile"

    @property
    def schema(self) -> Schema:
        """JSON schema of the answer, in which null means no answer; each call returns a new object."""
        return object_schema({one.name: one.schema for one in self.form.fields})

    def chat(self) -> list[dict[str, str]]:
        """The messages as new plain dicts, as chat clients expect."""
        return [dict(message) for message in self.messages]


def profile_request(conversation: Conversation, form: Form | None = None) -> ProfileRequest:
    """Make the request about a conversation: one message with the texts of the HP and the OM.

    No other part of the record affects it: not the profile, topic, feelings, annotations or alternate
    responses. The conversation's id is only used in the hash that delimits the texts.
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
    """A fingerprint of the template: 16 hex digits."""
    return fingerprint_of(_template())


@cache
def _template() -> str:
    return read_text(FOLDER / "profile.md")


def parse_profile(form: Form, text: str | None) -> dict[str, Value] | Unparsed:
    """Parse the guesses in a reply. No reply raises an error.

    Each field is read separately: anything that is missing, null, not an option or out of range counts as
    unanswered. A diagnosis that is not an option invalidates the list. A reply with none of the fields is
    `no_fields`; one with null in all of them is read as answering nothing.
    """
    found = extract_object(text or "")
    if isinstance(found, Unparsed):
        return found
    names = [one.name for one in form.fields]
    if not any(name in found for name in names):
        return Unparsed("no_fields", f"none of {', '.join(names)}")
    return form.read(found)
