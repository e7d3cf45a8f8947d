"""One conversation as shown on a page or in a terminal: what was said, felt and predicted.

Texts are as in the files; the code that shows them makes them safe. Prompts are shown once: they are the same
for all models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from attune_data.errors import DataError
from attune_data.format.codebook import Codebook
from attune_data.format.schema import Conversation
from attune_env.report.pages.grids import (
    Grid,
    ModelAnswers,
    end_grids,
    model_answers,
    score_grid,
    step_grid,
    turn_grids,
)
from attune_env.results.reparse import recorded_settings
from attune_env.tables.labels import listed
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.request import Request
from attune_episodes.protocol.settings import MODES, Settings
from attune_rewards.predictions import ConversationPrediction, Stage
from attune_rewards.record.marks import mapping, marks_of
from attune_rewards.record.read import read_record
from attune_rewards.truth import truth_of

RESPONSES = {"alternate": "Improved by a language model", "human": "Edited by the person"}
STAGE_TITLES: Mapping[Stage, str] = {
    "draft": "Draft a reply",
    "assess": "Assess feelings and reply",
    "assess_hp": "Assess in the person's place",
    "prefer": "Choose between replies",
    "reflect": "Reflect on the conversation",
}


class ReplyView(NamedTuple):
    """A model's reply to one request."""

    model: int
    """Its place among the view's models."""
    outcome: str
    """`ok`, `unparsed:…`, `failed:…`; empty if the file does not say."""
    text: str | None
    """The raw text; None if the file does not keep it."""


class RequestView(NamedTuple):
    """One request: what the models saw and said."""

    title: str
    name: str
    """`turn 2, assess`"""
    before: str
    """The thread before it, in words."""
    seen: str
    replies: tuple[ReplyView, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A turn, or the end."""

    name: str
    """Its anchor: `turn-2`, `end`."""
    title: str
    grids: list[Grid]
    asked: list[RequestView]
    said: Sequence[tuple[str, str]] = ()
    """(who wrote it, text)"""
    others: Sequence[tuple[str, str]] = ()
    """The two other replies that were compared."""
    drafts: Sequence[tuple[int, str]] = ()
    """(model, text)"""


@dataclass(frozen=True, slots=True)
class ConversationView:
    """The contents of one conversation's page."""

    conversation_id: str
    title: str
    mode: str
    facts: list[tuple[str, str]]
    models: list[str]
    """Short names for column headings."""
    full_names: list[str]
    scores: Grid
    steps: Grid
    system: str
    """The message that opens every thread; empty if there is none."""
    stretches: list[Stretch]
    notes: list[str]


def conversation_view(
    conversation: Conversation,
    records: Sequence[Mapping[str, Any]] = (),
    predictions: Sequence[ConversationPrediction] | None = None,
    *,
    mode: str = "default",
    names: Sequence[str] | None = None,
    scores: Sequence[Mapping[str, Any]] | None = None,
    codebook: Codebook | None = None,
) -> ConversationView:
    """A conversation beside what models predicted of it.

    Args:
        conversation: with its annotations.
        records: one result record per model, all of this conversation and mode.
        predictions: what each record says; read from the records if not given.
        mode: the mode they were made in.
        names: short names of the models, one per record; by default `em_model`.
        scores: one entry of a scores file per record; computed again if not given.
        codebook: the wording of the run; by default our own.
    """
    book = codebook or Codebook.own()
    full = [str(record.get("em_model")) for record in records]
    said = [read_record(one, conversation)[0] for one in records] if predictions is None else predictions
    answers = [
        model_answers(conversation, record, said[i], scores[i] if scores else None)
        for i, record in enumerate(records)
    ]
    settings, notes = _settings(records, full, mode, book)
    requests = plan(conversation, settings)
    truth = truth_of(conversation)
    stretches = []
    for turn in conversation.turns:
        number = turn.turn_number
        others = [
            (RESPONSES[name], text) for name, text in turn.responses.items() if name in RESPONSES and text
        ]
        drafted = [one.prediction.turns.get(number) for one in answers]
        stretches.append(
            Stretch(
                f"turn-{number}",
                f"Turn {number}",
                turn_grids(truth.by_number[number], answers, book),
                list(_asked(requests, number, answers)),
                [("The person", turn.user_message), ("The reply", turn.llm_response)],
                others,
                [(i, one.draft.text) for i, one in enumerate(drafted) if one and one.draft is not None],
            )
        )
    end_asked = list(_asked(requests, None, answers))
    stretches.append(Stretch("end", "After the conversation", end_grids(truth, answers), end_asked))
    return ConversationView(
        conversation.conversation_id,
        topic_of(conversation) or "Conversation",
        mode,
        _facts(conversation),
        list(names) if names is not None else full,
        full,
        score_grid(answers),
        step_grid([(request.turn, request.stage) for request in requests], answers),
        next((m.content for one in requests[:1] for m in one.messages if m.role == "system"), ""),
        stretches,
        notes,
    )


def topic_of(conversation: Conversation) -> str:
    """Category and subtopic, as far as they are known."""
    about = conversation.metadata
    return ": ".join(part for part in (about.category, about.subtopic) if part) if about else ""


def _settings(
    records: Sequence[Mapping[str, Any]], names: Sequence[str], mode: str, book: Codebook
) -> tuple[Settings, list[str]]:
    """The settings that prompts are shown in (the first record's that has any), and notes on what differs."""
    recorded = [mapping(marks_of(record).get("settings")) for record in records]
    fields = ("stages", "panas_strategy", "labels", "seed", "prompts", "codebook")
    told = [{name: one.get(name) for name in fields} if one else None for one in recorded]
    base = Settings(mode=mode, codebook=book) if mode in MODES else Settings(codebook=book)
    first = next((i for i, one in enumerate(recorded) if one), None)
    notes = []
    if first is not None:
        try:
            base = recorded_settings({**recorded[first], "mode": base.mode}, book)
        except DataError:
            notes.append(
                "The settings in a result file cannot be read, so prompts are shown as in this version."
            )
        if mapping(recorded[first].get("codebook")).get("fingerprint") != book.fingerprint:
            notes.append(
                f"The prompts here use the wording of {book.name}, but the run used a different one."
            )
        if mapping(recorded[first].get("prompts")).get("fingerprint") != base.prompt_set.fingerprint:
            notes.append("The run used different prompt templates from those shown here.")
        if others := [n for n, one in zip(names, told, strict=True) if one and one != told[first]]:
            notes.append(f"{listed(others)} used different settings from the prompts shown here.")
    if unknown := [name for name, one in zip(names, told, strict=True) if one is None]:
        notes.append(
            f"The result file of {listed(unknown)} does not say how the model was asked, so prompts are "
            "shown as in this version."
        )
    return base, notes


def _asked(
    requests: Sequence[Request], turn: int | None, answers: Sequence[ModelAnswers]
) -> Iterator[RequestView]:
    for request in requests:
        if request.turn != turn:
            continue
        place = "at the end" if turn is None else f"turn {turn}"
        earlier = sum(message.role == "user" for message in request.messages[:-1])
        before = "the opening message" if len(request.messages) > 1 else "nothing"
        if earlier:
            before += f" and the {earlier} earlier messages of the thread, without the answers to them"
        at = (turn, request.stage)
        replies = tuple(
            ReplyView(i, one.outcomes.get(at, ""), one.replies.get(at))
            for i, one in enumerate(answers)
            if at in one.outcomes or at in one.replies
        )
        seen = request.messages[-1].content
        yield RequestView(STAGE_TITLES[request.stage], f"{place}, {request.stage}", before, seen, replies)


def _facts(conversation: Conversation) -> list[tuple[str, str]]:
    """Who talked about what, as far as it is known."""
    metadata, profile = conversation.metadata, conversation.participant_profile
    person = profile.demographics if profile is not None else None
    known = (person.age_range, person.gender, person.country, person.education) if person is not None else ()
    facts = {
        "Conversation": conversation.conversation_id,
        "Data": conversation.origin,
        "Answered by": metadata.model if metadata else None,
        "About": metadata.text if metadata else None,
        "Participant": conversation.participant if profile is not None else None,
        "Profile": ", ".join(one for one in known if one),
        "Diagnoses": ", ".join(person.diagnoses or ()) if person is not None else None,
        "Attitude to the topic": profile.conversation_topic_attitude if profile is not None else None,
    }
    return [(head, value) for head, value in facts.items() if value]
