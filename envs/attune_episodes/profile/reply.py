"""`parse_profile`: a model's text to its guesses, or to the reason why it holds none."""

from __future__ import annotations

from collections.abc import Mapping

from attune_episodes.parsing import Unparsed, extract_object
from attune_episodes.profile.fields import Form, Outside, Value

Guesses = Mapping[str, Value]
"""Field -> what was guessed; what was not, or not validly, is not there."""


def parse_profile(form: Form, text: str | None) -> dict[str, Value] | Unparsed:
    """The guesses in a reply. Never raises on a reply.

    Each field stands for itself: what is missing, null, no option or out of range is unanswered. A diagnosis
    that is no option spoils the list. A reply that names none of the fields is `no_fields`; one that gives
    null for all of them is read, and answers nothing.
    """
    found = extract_object(text or "")
    if isinstance(found, Unparsed):
        return found
    if not any(field.name in found for field in form.fields):
        return Unparsed("no_fields", f"none of {', '.join(field.name for field in form.fields)}")
    return read_guesses(form, found)


def read_guesses(form: Form, found: Mapping[str, object]) -> dict[str, Value]:
    """The valid guesses of an object that a model, or a result file, gives."""
    guesses = {}
    for field in form.fields:
        value = field.read(found.get(field.name))
        if value is not None and not isinstance(value, Outside):
            guesses[field.name] = value
    return guesses
