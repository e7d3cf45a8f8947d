"""Guess participants' profiles with a model, in one call per conversation, or with a baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from attune_data import Conversations
from attune_data.format.schema import Conversation
from attune_env.profile.baselines import baseline
from attune_env.profile.files import MODE, GuessFile
from attune_env.profile.form import Form
from attune_env.profile.request import parse_profile, profile_request
from attune_env.results.files import Names, existing_record, write_result
from attune_env.running.asker import Call
from attune_env.running.builtin import RunReport
from attune_env.running.costs import Estimate, usage_of_messages
from attune_env.running.jobs import Job
from attune_env.running.loop import Watcher
from attune_env.running.served import EndpointReport, Session
from attune_env.running.settings import Model, Options, training_marks
from attune_episodes.chat.completion import Usage
from attune_episodes.parsing import Unparsed, sound
from attune_episodes.protocol.settings import Settings
from attune_rewards.reward.score import OK

ANSWER: Final = 450
"""Size of a complete answer in bytes."""


@dataclass
class ProfileJob(Job):
    """The single call about one conversation."""

    file: GuessFile = field(kw_only=True)
    planned = 1

    @property
    def names(self) -> Names:
        """(conversationId, em_model, "profile")."""
        return self.file.names

    def exists(self) -> bool:
        """Whether its record exists; raises SettingsError if it was asked in a different way."""
        return self.file.is_made()

    def first(self) -> Iterable[Call]:
        """Its call."""
        form = self.file.form
        request = profile_request(self.conversation, form)
        read: Callable[[Any, str], Any] = lambda request, text: parse_profile(form, text)  # noqa: E731
        return [Call(self.askers[""], request, read, MODE, self.group)]

    def record(self) -> dict[str, Any]:
        """The record of the guesses, with the reply from which they were read."""
        ((_, call),) = self.done.values()
        said = parse_profile(self.file.form, call.reply)
        outcome, guesses = (said.reason, {}) if isinstance(said, Unparsed) else (OK, said)
        usage: dict[str, Any] = {"asks": call.asks, "attempts": call.attempts, "finish": call.finish}
        usage |= {"structured": call.structured, **call.usage.describe()}
        marks = {**self.facts, "outcome": outcome, "reply": sound(call.reply), "usage": usage}
        return self.file.record(
            self.conversation, guesses, marks, cost=usage["api_cost"], seconds=round(call.seconds, 3)
        )


def run_profiles(
    model: Model,
    conversations: Conversations,
    output: Path,
    form: Form,
    options: Options | None = None,
    watcher: Watcher | None = None,
) -> EndpointReport:
    """Ask a model once about every conversation and write its guesses; continues an earlier run.

    Only the texts of participant and model are sent. Raises the errors of `run_endpoint`.
    """
    # separate names, since a folder may also contain the results and the journal of `attune run`
    session = Session(f"{MODE}/{model.full_name}", f"{MODE}/{model.name}", output, options, watcher)
    policy = {name: value for name, value in model.policy([]).items() if name != "judges"}
    jobs = []
    for about in conversations:
        file = GuessFile(output, about, conversations, model.full_name, form, policy)
        job = ProfileJob(
            about.conversation_id, conversations.by_id, Settings(), model.full_name, file.path,
            training_marks(model.training), session.askers,
            partial(dict, {"model": model.full_name, **file.asked}), file=file,
        )  # fmt: skip
        jobs.append(job)
    return session.play({"": model}, jobs, {"policy": policy})


def run_baseline(
    name: str, conversations: Conversations, output: Path, form: Form, seed: int, *, overwrite: bool
) -> RunReport:
    """Write the guesses of a baseline (`prior`, `random`, `empty`) about every conversation.

    `prior` is fitted on the other participants of `conversations`. Guesses that exist already are kept.

    Raises UnknownNameError for an unknown baseline, SettingsError if the folder has guesses made differently.
    """
    guess = baseline(name, conversations, form, seed=seed)
    em_model = f"builtin/{name}"
    policy: dict[str, Any] = {"name": name}
    policy |= {"seed": seed} if name == "random" else {}
    policy |= {"fitted_on": f"other participants of {conversations.fingerprint}"} if name == "prior" else {}
    written = skipped = 0
    for about in conversations:
        file = GuessFile(output, about, conversations, em_model, form, policy)
        if overwrite:
            existing_record(file.path, file.names)  # a file of another conversation is not replaced
        elif file.is_made():
            skipped += 1
            continue
        write_result(file.path, file.record(about, guess(about), {}, cost=0.0))
        written += 1
    return RunReport(written, skipped)


def estimate_profiles(conversations: Sequence[Conversation], form: Form) -> Estimate:
    """Estimate one call per conversation; a reasoning model writes more."""
    requests = [profile_request(about, form) for about in conversations]
    usage = sum((usage_of_messages(request.chat(), ANSWER) for request in requests), Usage())
    return Estimate(MODE, len(requests), len(requests), 0, usage, Usage())
