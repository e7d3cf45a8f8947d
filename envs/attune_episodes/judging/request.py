"""`judge_request`: make the request to a judge about the draft of one turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, takewhile
from types import MappingProxyType
from typing import Any

from attune_data.errors import UnknownNameError
from attune_data.format.constants import JUDGE_DIMENSIONS
from attune_data.format.schema import Conversation
from attune_data.importing.imported import are_model_replies
from attune_data.seeding import digest
from attune_episodes.parsing import Unparsed, extract_object, sound
from attune_episodes.parsing.parse import read_answers, read_numbers
from attune_episodes.protocol.prompts import JUDGE
from attune_episodes.protocol.request import Message
from attune_episodes.protocol.schemas import Schema, choice_schema, object_schema, scale_schema
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import YesNo
from attune_rewards.truth import TurnTruth, truth_of


@dataclass(frozen=True, slots=True, repr=False)
class JudgeRequest:
    """One request to a judge. It contains no annotated answers."""

    conversation_id: str
    turn: int
    messages: tuple[Message, ...]
    dimensions: tuple[str, ...]
    """The dimensions rated 1–7: `JUDGE_DIMENSIONS`, or () if the turn has no human-edited reply."""
    questions: tuple[str, ...]
    """Ids of the yes/no questions about the draft; () if none applies in the turn."""

    def __repr__(self) -> str:
        return f"JudgeRequest({self.id}, {len(self.dimensions)} ratings, {len(self.questions)} questions)"

    @property
    def id(self) -> str:
        """The id, `conversation/turn/judge`, which differs from all ids in the plan."""
        return f"{self.conversation_id}/{self.turn}/judge"

    plain = False
    """Always False: the answer is a JSON object."""

    @property
    def schema(self) -> Schema:
        """JSON schema of the answer; each call returns a new object."""
        properties: dict[str, Any] = {}
        if self.dimensions:
            properties["scores"] = scale_schema(self.dimensions, 1, 7)
        if self.questions:
            properties["answers"] = choice_schema(self.questions, "yes", "no")
        return object_schema(properties)

    def chat(self) -> list[dict[str, str]]:
        """The messages as new plain dicts, as chat clients expect."""
        return [dict(message) for message in self.messages]


def judge_request(
    conversation: Conversation, turn_number: int, draft: str | None, settings: Settings | None = None
) -> JudgeRequest | None:
    """Make the request to a judge about a draft.

    The judge sees the conversation up to the person's message, the human-edited reply as the reference, and
    the draft. It never sees the recorded reply of that turn, the other alternate, an annotation, the
    person's background, or the drafting model's reasoning; the request is the same in all modes.

    Args:
        conversation: the annotated conversation.
        turn_number: the turn's number in the conversation.
        draft: the drafted reply, plain text.
        settings: only the codebook and the prompt set are used.

    Returns None if there is nothing to judge or nothing to judge it by: the draft is None or blank, or the
    turn has neither a (non-blank) human-edited reply nor an applicable yes/no question. If it has only one of
    the two, only that half is asked.

    Raises UnknownNameError for a turn that does not exist, DataError for a faulty judge template.
    """
    asked = settings or Settings()
    here, turn = truth_of(conversation).turn(turn_number), conversation.turn(turn_number)
    if here is None or turn is None:
        known = [str(turn.turn_number) for turn in conversation.turns]
        raise UnknownNameError("turn", str(turn_number), known)
    draft = sound(draft or "").strip()
    reference = reference_of(conversation, here)
    if not draft or not (reference or here.applicable):
        return None
    earlier = takewhile(lambda before: before is not turn, conversation.turns)
    history = [(before.user_message, before.llm_response) for before in earlier]
    return question_about(
        draft, turn.user_message, history, here.applicable, reference,
        conversation_id=conversation.conversation_id, turn=turn_number, settings=asked,
    )  # fmt: skip


def question_about(
    draft: str,
    message: str,
    history: Sequence[tuple[str, str]],
    questions: tuple[str, ...],
    reference: str = "",
    *,
    conversation_id: str,
    turn: int,
    settings: Settings,
    more: Mapping[str, str] = MappingProxyType({}),
) -> JudgeRequest:
    """Make the request to a judge about a draft; without a reference, nothing is rated.

    `more` has the wording of those of the `questions` that are not in the codebook.
    """
    book = settings.codebook
    dimensions = JUDGE_DIMENSIONS if reference else ()
    texts = [text for pair in history for text in pair] + [message, reference, draft]
    values = {
        "turn": turn,
        "mark": unused_mark(texts, conversation_id, turn),
        "history": history,
        "user_message": message,
        "reference": reference,
        "draft": draft,
        "dimensions": [(name, book.judge[name]) for name in dimensions],
        "questions": [(id_, more.get(id_) or book.binary_text(id_, observer=True)) for id_ in questions],
    }
    messages = (Message("user", settings.prompt_set.render(JUDGE, values)),)
    return JudgeRequest(conversation_id, turn, messages, dimensions, questions)


def reference_of(conversation: Conversation, turn: TurnTruth) -> str:
    """The human-edited reply with which a draft is compared; "" if there is none."""
    return "" if are_model_replies(conversation) else (turn.responses.get("human") or "").strip()


def unused_mark(texts: list[str], conversation_id: str, turn: int) -> str:
    """A code for the delimiters around the texts that occurs in none of them, so that none can forge one."""
    whole = "\n".join(texts)
    codes = (digest("judge", conversation_id, turn, whole, number).hex()[:12] for number in count())
    return next(code for code in codes if code not in whole)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judge's ratings and answers about one draft."""

    scores: Mapping[str, int] = field(default_factory=dict)
    """Dimension -> 1–7; dimensions without a valid rating are left out."""
    answers: Mapping[str, YesNo] = field(default_factory=dict)
    """Question id -> answer about the draft; questions without a valid answer are left out."""


def parse_judgement(request: JudgeRequest, text: str | None) -> Judgement | Unparsed:
    """Parse a judge's reply. No reply raises an error; None, which some clients return, is an empty text.

    It is parsed like any other reply (`attune_episodes.parsing`), with the same codes. Each value in the
    object is read separately. A reply without any valid rating or requested answer is `no_fields`.
    """
    found = extract_object(text or "")
    if isinstance(found, Unparsed):
        return found
    said = Judgement(
        read_numbers(found.get("scores"), request.dimensions, 1, 7),
        read_answers(found.get("answers"), request.questions),
    )
    if not (said.scores or said.answers):
        wanted = [n for n, asked in (("scores", request.dimensions), ("answers", request.questions)) if asked]
        return Unparsed("no_fields", f"nothing valid in {' and '.join(wanted)}")
    return said
