"""`attune profile run builtin`: the guesses of a null, one file a conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attune_data import Conversations
from attune_data.errors import UnknownNameError
from attune_env.profile.files import MODE, asked_of, file_name, is_made, record_of
from attune_env.results.files import check_same_result, write_result
from attune_env.running.builtin import RunReport
from attune_episodes.profile import NULLS, Form, null


def run_null(
    name: str,
    conversations: Conversations,
    output: Path,
    *,
    form: Form | None = None,
    seed: int = 0,
    overwrite: bool = False,
) -> RunReport:
    """Writes the guesses of a null (`prior`, `random`, `empty`) about every conversation.

    `prior` is fitted on the other participants of `conversations`. What is there already is kept.

    Raises UnknownNameError for another name, SettingsError where the folder holds guesses made otherwise.
    """
    if name not in NULLS:
        raise UnknownNameError("null", name, NULLS)
    asked_form = form or Form()
    guess = null(name, conversations, asked_form, seed=seed)
    em_model = f"builtin/{name}"
    policy: dict[str, Any] = {"name": name}
    if name == "random":
        policy["seed"] = seed
    if name == "prior":
        policy["fitted_on"] = f"other participants of {conversations.fingerprint}"
    written = skipped = 0
    for about in conversations:
        path = output / file_name(about.conversation_id, em_model)
        asked = asked_of(about, asked_form, policy)
        if overwrite:
            check_same_result(path, about.conversation_id, em_model, MODE)
        elif is_made(path, about.conversation_id, em_model, asked):
            skipped += 1
            continue
        facts = {
            "source_file": Path(conversations.files.get(about.conversation_id, "")).name or None,
            "api_cost": 0.0,
        }
        write_result(path, record_of(about, em_model, asked_form, guess(about), asked, facts))
        written += 1
    return RunReport(written, skipped)
