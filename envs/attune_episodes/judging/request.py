"""`judge_request`: what a judge is asked about the draft of one turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, takewhile
from typing import Any

from attune_data.constants import JUDGE_DIMENSIONS
from attune_data.errors import UnknownNameError
from attune_data.importing.imported import are_model_replies
from attune_data.schema import Conversation
from attune_data.seeding import digest
from attune_episodes.answers import Schema, choice_schema, object_schema, scale_schema
from attune_episodes.parsing import Unparsed, extract_object, sound
from attune_episodes.parsing.parse import read_answers, read_numbers
from attune_episodes.prompts import JUDGE
from attune_episodes.request import Message
from attune_episodes.settings import Settings
from attune_rewards.predictions import YesNo
from attune_rewards.truth import TurnTruth, truth_of


@dataclass(frozen=True, slots=True, repr=False)
class JudgeRequest:
    """One question to a judge. It contains no annotated answer."""

    conversation_id: str
    turn: int
    messages: tuple[Message, ...]
    dimensions: tuple[str, ...]
    """The dimensions rated 1–7: `JUDGE_DIMENSIONS`, or () where the turn has no human-edited reply."""
    questions: tuple[str, ...]
    """Ids of the yes/no questions about the draft; () where none is applicable in the turn."""

    def __repr__(self) -> str:
        return f"JudgeRequest({self.id}, {len(self.dimensions)} ratings, {len(self.questions)} questions)"

    @property
    def id(self) -> str:
        """`conversation/turn/judge`, beside the ids of the plan."""
        return f"{self.conversation_id}/{self.turn}/judge"

    plain = False
    """The answer is a JSON object."""

    @property
    def schema(self) -> Schema:
        """JSON schema of the answer, a new one at each call."""
        properties: dict[str, Any] = {}
        if self.dimensions:
            properties["scores"] = scale_schema(self.dimensions, 1, 7)
        if self.questions:
            properties["answers"] = choice_schema(self.questions, "yes", "no")
        return object_schema(properties)

    def chat(self) -> list[dict[str, str]]:
        """The messages as fresh plain dicts, as chat clients take them."""
        return [dict(message) for message in self.messages]


def judge_request(
    conversation: Conversation, turn_number: int, draft: str | None, settings: Settings | None = None
) -> JudgeRequest | None:
    """Make the question to a judge about a draft.

    The judge sees the conversation up to the person's message, the human-edited reply as the reference, and
    the draft. It never sees the recorded reply of that turn, the other alternate, an annotation, the
    person's background, or the drafting model's reasoning, whatever the mode: the question is the same in
    all of them.

    Args:
        conversation: the annotated conversation.
        turn_number: as the conversation numbers it.
        draft: the drafted reply, plain text.
        settings: only the codebook and the prompt set are used.

    Returns None if there is nothing to judge or nothing to judge it by: the draft is None or blank; or the
    turn has neither a human-edited reply (absent or blank) nor an applicable yes/no question. With one of the
    two, only that half is asked.

    Raises UnknownNameError for a turn that does not exist, DataError for a faulty judge's template.
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
) -> JudgeRequest:
    """The question to a judge about a draft; without a reference nothing is rated."""
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
        "questions": [(id_, book.binary_text(id_, observer=True)) for id_ in questions],
    }
    messages = (Message("user", settings.prompt_set.render(JUDGE, values)),)
    return JudgeRequest(conversation_id, turn, messages, dimensions, questions)


def reference_of(conversation: Conversation, turn: TurnTruth) -> str:
    """The human-edited reply that a draft is compared with; "" if there is none."""
    return "" if are_model_replies(conversation) else (turn.responses.get("human") or "").strip()


def unused_mark(texts: list[str], conversation_id: str, turn: int) -> str:
    """A code for the marks around the texts that occurs in none of them, so none can close its mark."""
    whole = "\n".join(texts)
    codes = (digest("judge", conversation_id, turn, whole, number).hex()[:12] for number in count())
    return next(code for code in codes if code not in whole)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judge's ratings and answers about one draft."""

    scores: Mapping[str, int] = field(default_factory=dict)
    """Dimension -> 1–7; what was not rated validly is not there."""
    answers: Mapping[str, YesNo] = field(default_factory=dict)
    """Question id -> answer about the draft; what was not answered validly is not there."""


def parse_judgement(request: JudgeRequest, text: str | None) -> Judgement | Unparsed:
    """Read a judge's reply. Never raises on a reply; None, as some clients give, is an empty text.

    Read as every other reply (`attune_episodes.parsing`), with the same codes. Within the object each value
    is read on its own. A reply that rates nothing and answers nothing that was asked is `no_fields`.
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
