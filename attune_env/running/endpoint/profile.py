"""`run_profiles`: one call a conversation for guesses about its participant. Experimental."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from attune_data import Conversations
from attune_data.schema import Conversation
from attune_env.profile.files import MODE, asked_of, file_name, is_made, record_of
from attune_env.results.files import check_same_result
from attune_env.running.endpoint.anew import identity_of
from attune_env.running.endpoint.answer import Usage
from attune_env.running.endpoint.asking import OK, Question
from attune_env.running.endpoint.estimate import CHARACTERS_A_TOKEN
from attune_env.running.endpoint.job import Job, Step
from attune_env.running.endpoint.journal import Finished, Journal, group_of
from attune_env.running.endpoint.loop import Watcher
from attune_env.running.endpoint.run import policy_facts
from attune_env.running.endpoint.session import EndpointReport, Model, Options, Session
from attune_env.running.endpoint.tally import total, usage_of
from attune_env.running.existing import training_marks
from attune_episodes.parsing import Unparsed, sound
from attune_episodes.profile import Form, ProfileRequest, parse_profile, profile_request
from attune_episodes.settings import Settings

ANSWER: Final = 450
"""Bytes of a whole answer."""


@dataclass
class ProfileJob(Job):
    """The one call about one conversation."""

    form: Form = field(default_factory=Form)
    asked: Mapping[str, Any] = field(default_factory=dict)
    """What the record says of how it was asked."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.group = group_of(self.conversation_id, MODE, self.sample)

    @property
    def names(self) -> tuple[str, str, str]:
        """(conversationId, em_model, "profile")."""
        return self.conversation_id, self.em_model, MODE

    @property
    def planned(self) -> int:
        """One call."""
        return 1

    def start(self, journal: Journal, *, schema_first: bool = False) -> None:
        """Makes its call, unless the journal holds it."""
        request = profile_request(self.conversation, self.form)

        def read(text: str) -> str:
            said = parse_profile(self.form, text)
            return said.reason if isinstance(said, Unparsed) else OK

        question = Question(
            id=f"{self.group}/{MODE}",
            stage=MODE,
            messages=request.chat(),
            read=read,
            schema=lambda: request.schema,
            sample=self.sample,
        )
        # a step needs no more of a request than its id
        self._add(Step(self.askers[""], question, self.group, request), journal)  # type: ignore[arg-type]

    def take(self, step: Step, call: Finished, journal: Journal) -> None:
        """Notes the finished call."""
        self._open -= 1
        self._done[step.request.id] = call

    def record(self) -> dict[str, Any]:
        """The record of the guesses, with the reply that they were read from."""
        (call,) = self._done.values()
        said = parse_profile(self.form, call.reply)
        outcome, guesses = (said.reason, {}) if isinstance(said, Unparsed) else (OK, said)
        usage = total([call])
        marks = {
            **self.facts.get("attune", {}),
            "outcome": outcome,
            "reply": sound(call.reply),
            "usage": {"asks": call.asks, "attempts": call.attempts, "finish": call.finish,
                      "structured": call.structured, **usage_of(usage)},
        }  # fmt: skip
        facts = {
            **self.facts,
            "api_cost": None if usage.cost is None else round(usage.cost, 9),
            "duration_seconds": round(call.seconds, 3),
            "attune": marks,
        }
        return record_of(self.conversation, self.em_model, self.form, guesses, self.asked, facts)


def run_profiles(
    model: Model,
    conversations: Conversations,
    output: Path,
    *,
    form: Form | None = None,
    options: Options | None = None,
    watcher: Watcher | None = None,
) -> EndpointReport:
    """Asks a model once about every conversation and writes its guesses; goes on where a run ended.

    Args:
        model: the model.
        conversations: what is asked about; only the texts of HP and OM are sent.
        output: folder of the guesses, the journal and the lists, made if needed.
        form: the fields, with their options.
        options: concurrency, patience, caps, overwriting, as for `run_endpoint`.
        watcher: is told how it goes.

    Raises:
        SettingsError: the folder holds guesses that were asked in another way, or another run writes to it.
        DataError: a file in the way.
        OSError: the folder cannot be written to.
    """
    asked_form = form or Form()
    # names of their own: a folder may hold the results and the journal of `attune run` too
    session = Session(f"{MODE}/{model.full_name}", f"{MODE}/{model.name}", output, options, watcher)
    session.retry_option = False
    policy = {name: value for name, value in policy_facts(model, (), 1).items() if name != "judges"}
    jobs: list[tuple[Job, Callable[[], bool]]] = []
    for about in conversations:
        path = output / file_name(about.conversation_id, model.full_name)
        asked = asked_of(about, asked_form, policy)
        file = Path(conversations.files.get(about.conversation_id, "")).name or None
        job = ProfileJob(
            about.conversation_id, conversations.by_id, Settings(), 1, model.full_name, path,
            {"source_file": file, "attune": training_marks(model.training)}, session.askers,
            partial(_identity, model.full_name, asked), form=asked_form, asked=asked,
        )  # fmt: skip
        jobs.append((job, partial(is_made, path, about.conversation_id, model.full_name, asked)))
    todo = session.choose(jobs)
    for chosen in todo:
        check_same_result(chosen.path, *chosen.names)
    return session.play({"": model}, todo, {"policy": policy})


def estimate_profiles(conversations: Sequence[Conversation], form: Form | None = None) -> Usage:
    """What one call about each conversation takes, tokens estimated; a model that reasons writes more."""
    requests = [profile_request(about, form) for about in conversations]
    return sum((_usage(request) for request in requests), Usage())


def _usage(request: ProfileRequest) -> Usage:
    length = sum(len(message.content.encode("utf-8", "surrogatepass")) for message in request.messages)
    return Usage(-(-length // CHARACTERS_A_TOKEN), -(-ANSWER // CHARACTERS_A_TOKEN))


def _identity(em_model: str, asked: Mapping[str, Any]) -> str:
    return identity_of({"model": em_model, **asked})
