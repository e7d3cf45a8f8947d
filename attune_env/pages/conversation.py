"""One conversation as it is shown, on a page or in a terminal: what was said, felt and predicted.

Texts are as files hold them; whoever shows them makes them safe. Every grid has one column a model, so that
models stand side by side; prompts stand once, since they are the same for all models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from attune_data.codebook import Codebook
from attune_data.schema import Conversation
from attune_env.pages.conversation_grids import (
    Cell,
    Grid,
    affect_grid,
    branch_grid,
    choice_grid,
    feeling_grid,
    judgement_grid,
    part_grid,
    question_grid,
    step_grid,
)
from attune_env.pages.conversation_steps import Answers, answers_of
from attune_episodes.plan import plan
from attune_episodes.request import Request
from attune_episodes.settings import MODES, Settings
from attune_rewards.predictions import Stage
from attune_rewards.truth import truth_of

__all__ = ["Cell", "ConversationView", "Grid", "Stretch", "Written", "conversation_view"]

RESPONSE_TITLES = {
    "original": "The reply that was given",
    "alternate": "Improved by a language model",
    "human": "Edited by the person",
}
STAGE_TITLES: Mapping[Stage, str] = {
    "draft": "Draft a reply",
    "assess": "Assess feelings and reply",
    "assess_hp": "Assess in the person's place",
    "prefer": "Choose between replies",
    "reflect": "Reflect on the conversation",
}


@dataclass(frozen=True, slots=True)
class Written:
    """A text and who wrote it."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What one model said to one request."""

    model: int
    """Its place among the view's models."""
    outcome: str
    """`ok`, `unparsed:…`, `failed:…`; empty where the file does not say."""
    text: str | None
    """As it came; None where the file does not keep it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: what the models saw and said."""

    title: str
    name: str
    """`turn 2, assess`"""
    before: str
    """What stood before it in the thread, in words."""
    seen: str
    """Its own message."""
    replies: tuple[Reply, ...]


@dataclass(slots=True)
class Stretch:
    """A turn, or the end."""

    name: str
    """Its anchor: `turn-2`, `end`."""
    title: str
    said: list[Written] = field(default_factory=list)
    others: list[Written] = field(default_factory=list)
    """The two other replies that were compared."""
    grids: list[Grid] = field(default_factory=list)
    drafts: list[tuple[int, str]] = field(default_factory=list)
    """(model, text)"""
    asked: list[Asked] = field(default_factory=list)


@dataclass(slots=True)
class ConversationView:
    """Everything that is shown of one conversation."""

    conversation_id: str
    title: str
    mode: str
    facts: list[tuple[str, str]]
    models: list[str]
    """Short names for heads of columns."""
    full_names: list[str]
    scores: Grid
    """Composites, parts."""
    steps: Grid
    system: str
    """The message that opens every thread; empty where there is none."""
    stretches: list[Stretch]
    notes: list[str]


def conversation_view(
    conversation: Conversation,
    records: Sequence[Mapping[str, Any]] = (),
    *,
    mode: str = "default",
    names: Sequence[str] | None = None,
    scores: Sequence[Mapping[str, Any]] | None = None,
    codebook: Codebook | None = None,
) -> ConversationView:
    """A conversation beside what models predicted of it.

    Args:
        conversation: with its annotations.
        records: one result record a model, all of this conversation and mode.
        mode: the mode they were made in.
        names: short names of the models, one a record; by default `em_model`.
        scores: one entry of a scores file a record; scored anew without them.
        codebook: the wording of the run; by default our own.
    """
    book = codebook or Codebook.own()
    full = [str(record.get("em_model")) for record in records]
    answers = [
        answers_of(conversation, record, scores[i] if scores else None) for i, record in enumerate(records)
    ]
    settings, notes = _settings(records, full, mode, book)
    requests = plan(conversation, settings)
    truth = truth_of(conversation)
    heads = (
        [message.content for message in requests[0].messages if message.role == "system"] if requests else []
    )
    turns = []
    for turn in conversation.turns:
        stretch = Stretch(f"turn-{turn.turn_number}", f"Turn {turn.turn_number}")
        stretch.said = [Written("The person", turn.user_message), Written("The reply", turn.llm_response)]
        stretch.others = [
            Written(RESPONSE_TITLES[name], text)
            for name, text in turn.responses.items()
            if name != "original" and text is not None
        ]
        this = truth.by_number[turn.turn_number]
        stretch.grids = [
            grid
            for grid in (
                feeling_grid(this, answers),
                judgement_grid(this, answers, book),
                choice_grid(this, answers, book),
            )
            if grid.rows
        ]
        stretch.drafts = [
            (i, said.draft.text)
            for i, one in enumerate(answers)
            if (said := one.prediction.turns.get(turn.turn_number)) and said.draft is not None
        ]
        stretch.asked = list(_asked(requests, turn.turn_number, answers))
        turns.append(stretch)
    end = Stretch("end", "After the conversation")
    end.grids = [
        g
        for g in (affect_grid(truth, answers), question_grid(truth, answers), branch_grid(truth, answers))
        if g.rows
    ]
    end.asked = list(_asked(requests, None, answers))
    return ConversationView(
        conversation.conversation_id,
        _title(conversation),
        mode,
        list(_facts(conversation)),
        list(names) if names is not None else full,
        full,
        part_grid(answers),
        step_grid(requests, answers),
        heads[0] if heads else "",
        [*turns, end],
        notes,
    )


def _settings(
    records: Sequence[Mapping[str, Any]], names: Sequence[str], mode: str, book: Codebook
) -> tuple[Settings, list[str]]:
    """The settings that prompts are shown in: those of the first record that has any; and what differs."""
    base = Settings(mode=mode, codebook=book) if mode in MODES else Settings(codebook=book)
    found, notes, unknown, others = None, [], [], []
    for record, name in zip(records, names, strict=True):
        marks = record.get("attune")
        told = marks.get("settings") if isinstance(marks, Mapping) else None
        if not isinstance(told, Mapping):
            unknown.append(name)
            continue
        kept = {
            key: told.get(key)
            for key in ("stages", "panas_strategy", "labels", "seed", "prompts", "codebook")
        }
        if found is None:
            found = kept
            base, note = _with(base, kept)
            notes += note
        elif kept != found:
            others.append(name)
    if unknown:
        notes.append(
            f"How {_listed(unknown)} was asked is not in its result file: prompts are shown as this version "
            "asks."
        )
    if others:
        notes.append(f"{_listed(others)} was asked with other settings than the prompts shown here.")
    return base, notes


def _with(base: Settings, told: Mapping[str, Any]) -> tuple[Settings, list[str]]:
    """The settings that a record tells of, as far as they can be had here."""
    from dataclasses import replace

    from attune_data.errors import AttuneError

    prompts = told["prompts"].get("name") if isinstance(told["prompts"], Mapping) else None
    changes = {"panas_strategy": told["panas_strategy"], "labels": told["labels"], "seed": told["seed"]}
    changes |= {"stages": tuple(told["stages"])} if isinstance(told["stages"], list) else {}
    changes |= {"prompts": prompts} if prompts in ("full", "compact") else {}
    try:
        settings = replace(base, **{key: value for key, value in changes.items() if value is not None})
    except (AttuneError, TypeError, ValueError):
        return base, ["The settings in a result file are none: prompts are shown as this version asks."]
    notes = []
    asked_in = told["codebook"].get("fingerprint") if isinstance(told["codebook"], Mapping) else None
    if asked_in != settings.codebook.fingerprint:
        notes.append(
            f"The run asked in another wording than {settings.codebook.name}, which the prompts here are in."
        )
    made_of = told["prompts"].get("fingerprint") if isinstance(told["prompts"], Mapping) else None
    if made_of != settings.prompt_set.fingerprint:
        notes.append("The run asked with other prompt templates than those shown here.")
    return settings, notes


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _asked(requests: Sequence[Request], turn: int | None, answers: Sequence[Answers]) -> Iterator[Asked]:
    for request in requests:
        if request.turn != turn:
            continue
        place = "at the end" if turn is None else f"turn {turn}"
        earlier = [m for m in request.messages[:-1] if m.role == "user"]
        before = "nothing"
        if len(request.messages) > 1:
            before = "the opening message" + (
                f" and the {len(earlier)} messages of the thread before it, earlier answers left out"
                if earlier
                else ""
            )
        replies = tuple(
            Reply(i, one.outcomes.get((turn, request.stage), ""), one.replies.get((turn, request.stage)))
            for i, one in enumerate(answers)
            if (turn, request.stage) in one.outcomes or (turn, request.stage) in one.replies
        )
        yield Asked(
            STAGE_TITLES[request.stage],
            f"{place}, {request.stage}",
            before,
            request.messages[-1].content,
            replies,
        )


def _title(conversation: Conversation) -> str:
    metadata = conversation.metadata
    parts = [part for part in (metadata.category, metadata.subtopic) if part] if metadata else []
    return ": ".join(parts) or "Conversation"


def _facts(conversation: Conversation) -> Iterator[tuple[str, str]]:
    """Who talked about what, as far as it is known."""
    metadata, profile = conversation.metadata, conversation.participant_profile
    yield "Conversation", conversation.conversation_id
    yield "Data", conversation.origin
    if metadata is not None:
        for head, value in (("Answered by", metadata.model), ("About", metadata.text)):
            if value:
                yield head, value
    if profile is not None:
        yield "Participant", conversation.participant
        told = profile.demographics
        if told is not None:
            known = (told.age_range, told.gender, told.country, told.education)
            if about := ", ".join(one for one in known if one):
                yield "Who is", about
            if told.diagnoses:
                yield "Diagnoses", ", ".join(told.diagnoses)
        if profile.conversation_topic_attitude:
            yield "Attitude to the topic", profile.conversation_topic_attitude
