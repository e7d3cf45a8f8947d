"""Experimental: guess from a conversation alone what its participant stated about themselves.

Off by default and no stage of the protocol: `attune profile` alone runs it. There is no reward for it, so
that nothing here trains a model to guess who people are. `WARNING` says what it may be used for.
"""

from attune_episodes.profile.fields import Form, Outside, Value, plain
from attune_episodes.profile.nulls import NULLS, best_constants, null, set_f1
from attune_episodes.profile.options import form_with, read_options
from attune_episodes.profile.reply import parse_profile, read_guesses
from attune_episodes.profile.request import ProfileRequest, profile_request, template_fingerprint
from attune_episodes.profile.warning import WARNING

__all__ = [
    "NULLS",
    "WARNING",
    "Form",
    "Outside",
    "ProfileRequest",
    "Value",
    "best_constants",
    "form_with",
    "null",
    "parse_profile",
    "plain",
    "profile_request",
    "read_guesses",
    "read_options",
    "set_f1",
    "template_fingerprint",
]
