"""Import PRISM (Kirk et al., 2024): people chat with several language models at once and score every reply.

The reply with which the conversation continued is the original, two of the others are its alternates, and
scores determine the winners of the comparison "general"; docs/importing.md has the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import StrictBool, StrictStr, model_validator

from attune_data.errors import DataError, Problem, UnknownNameError, show
from attune_data.files.conversations import Conversations
from attune_data.files.rows import jsonl
from attune_data.format.fields import expected
from attune_data.format.schema import Conversation
from attune_data.format.validate import conversation_from
from attune_data.importing.imported import (
    ALTERNATES,
    MODEL_REPLIES,
    Foreign,
    Imported,
    Left,
    Origin,
    Text,
    Unusable,
    gathered,
    number_in,
    read_as,
    stated,
)
from attune_data.importing.replies import compared

ORIGIN: Final = Origin(
    "PRISM", "CC BY 4.0 (texts by people), CC BY-NC 4.0 (replies of models)", non_commercial=True
)
CONVERSATIONS: Final = "conversations.jsonl"
SURVEY: Final = "survey.jsonl"
Pairs = Literal["all", "alternates"]
_ADVICE: Final = (
    "is this PRISM's conversations.jsonl (docs/importing.md)? "
    "--skip-invalid leaves out conversations that differ"
)
_SURVEY_ADVICE: Final = (
    f"is this PRISM's {SURVEY}? without the file the conversations come without demographics"
)
_LEFT: Final[Mapping[str, str]] = {
    "turns from where the thread is not known": "no reply, or several, are marked as chosen; what "
    "follows is cut too",
    "replies beyond two alternates": "those first by within_turn_id are kept, a random order",
    "replies with the text of another": "nothing to compare",
    "blank alternates": "no text",
    "comparisons without both scores": "nothing says which was preferred",
    "comparisons with the reply in the thread": "as asked: the thread itself tells their winner",
    "performance attributes": "ratings of one reply on seven sliders; no question asks that",
    "choice attributes": "reasons for a choice on seven sliders; no question asks that",
    "open feedback": "text on the whole conversation; the questions after it take options",
    "conversations without demographics": f"no line in {SURVEY} for their participant, or no such file",
    "other answers of the survey": "beliefs, religion, work, use of models, …: no field means the same",
    "other fields": "opening prompt (the first message again), counts, times, subsets, …",
}
"""Kind of entry left out of the source -> reason."""

_Index = number_in(0, whole=True)


class _Message(Foreign):
    turn: Annotated[int, _Index]
    role: Literal["user", "model"]
    content: StrictStr
    within_turn_id: Any = None
    score: Annotated[float | None, number_in(0, 100)] = None
    if_chosen: StrictBool | None = None
    model_name: Text = None

    @model_validator(mode="after")
    def _replies_are_numbered(self) -> _Message:
        if self.role == "model" and _Index.func(self.within_turn_id) is None:  # type: ignore[call-arg]
            raise expected("a whole number from 0 up as within_turn_id")
        return self


class _Conversation(Foreign):
    conversation_id: StrictStr
    conversation_history: list[_Message]
    user_id: Text = None
    conversation_type: Text = None
    performance_attributes: Any = None
    choice_attributes: Any = None
    open_feedback: Any = None


class _Location(Foreign):
    reside_country: Text = None


class _Participant(Foreign):
    user_id: StrictStr
    age: Text = None
    gender: Text = None
    education: Text = None
    english_proficiency: Text = None
    location: _Location | None = None

    @property
    def demographics(self) -> dict[str, str]:
        """Their answers about themselves, under the names of this format."""
        said = {
            "age_range": self.age and self.age.removesuffix(" years old"),
            "gender": self.gender,
            "education": self.education,
            "english_proficiency": self.english_proficiency,
            "country": self.location and self.location.reside_country,
        }
        return {name: text for name, text in said.items() if text and text.casefold() != "prefer not to say"}


def import_prism(path: str | Path, *, skip_invalid: bool = False, pairs: Pairs = "all") -> Imported:
    """Import PRISM's `conversations.jsonl`, with what `survey.jsonl` says of the participants.

    Args:
        path: the folder of both files, or `conversations.jsonl` itself; the survey may be missing.
        skip_invalid: leave out lines that do not follow the format instead of raising at the first one.
        pairs: "alternates" leaves out comparisons with the reply in the thread, since the thread reveals
            their winner.

    Returns:
        The conversations in the file's order; their ids and those of participants begin with `prism-`.
        One without a turn is left out without an error.

    Raises:
        DataError: a file cannot be read, a line does not follow the format, or no conversation is left.
        UnknownNameError: `pairs` is neither of its values.
    """
    if pairs not in get_args(Pairs):
        raise UnknownNameError("choice of pairs", pairs, get_args(Pairs))
    file = _conversations_in(Path(path))
    survey = _survey(file.parent / SURVEY)
    left: Left = Counter({"other answers of the survey": sum(one.unread for one in survey.values())})
    records = ((where, partial(_made, read, where, survey, pairs)) for where, read in jsonl(file))
    return gathered(str(path), ORIGIN, records, _LEFT, left, skip_invalid=skip_invalid, notes=_notes)


def _survey(path: Path) -> dict[str, _Participant]:
    """The lines of the survey by participant; {} if the file is missing."""
    found: dict[str, _Participant] = {}
    for where, read in jsonl(path) if path.exists() else ():
        one = read_as(_Participant, read(), where, "", _SURVEY_ADVICE)
        if one.user_id in found:
            again = f"{show(one.user_id)} again"
            raise DataError(Problem(where, "user_id", again, "each participant once", "remove the copy"))
        found[one.user_id] = one
    return found


def _notes(conversations: Conversations) -> Iterator[str]:
    turns = [turn for conversation in conversations for turn in conversation.turns]
    won = [
        (c.response_a if c.winner == "A" else c.response_b) == "original"
        for turn in turns
        for c in turn.comparisons
        if c.winner is not None and "original" in (c.response_a, c.response_b)
    ]
    if won:
        yield (
            f"the reply in the thread wins {sum(won)} of the {len(won)} comparisons that it stands in: "
            "a model that looks it up there has those"
        )
    if filled := sum(turn.responses["human"] is not None for turn in turns):
        yield (
            f"humanEdited holds a model's reply in {filled} of {len(turns)} turns: demonstrations refuse "
            "them, and a draft judge has no reference"
        )


def _conversations_in(path: Path) -> Path:
    """The file of conversations: `path` itself, or `conversations.jsonl` in the folder `path`."""
    if not path.is_dir():
        return path
    if (path / CONVERSATIONS).exists():
        return path / CONVERSATIONS
    inside = sorted(path.iterdir())
    below = [entry for entry in inside if (entry / CONVERSATIONS).is_file()]
    names = ", ".join(entry.name for entry in inside[:3])
    advice = f"did you mean {below[0]}?" if below else f"the folder contains {names or 'nothing'}"
    wanted = f"{CONVERSATIONS}, with {SURVEY} next to it"
    raise DataError(Problem(str(path), "", f"no {CONVERSATIONS}", wanted, advice))


def _made(
    read: Callable[[], Any], where: str, survey: Mapping[str, _Participant], pairs: Pairs, left: Left
) -> Conversation:
    """Convert one conversation; counts what is left out and raises Unusable if it has no turn."""
    source = read_as(_Conversation, read(), where, "", _ADVICE)
    turns: list[dict[str, Any]] = []
    models = set()
    for message, thread, others in _turns(source, where, left):
        number = len(turns) + 1
        turn: dict[str, Any] = {"turnNumber": number, "userMessage": message, "llmResponse": thread.content}
        if others:
            slots = zip(("llmImproved", "humanEdited"), (reply.content for reply in others), strict=False)
            place = f"{source.conversation_id}/{number}"
            compared = list(_comparisons((thread, *others), place, pairs, left))
            chosen = {"pairwiseComparisons": compared, "selectedPairwiseQuestions": ["general"]}
            turn["annotations"] = {"alternateResponses": dict(slots)} | (chosen if compared else {})
        turns.append(turn)
        models.add(thread.model_name)
    if not turns:
        raise Unusable(where, "conversation_history", "no turn with a known reply", "at least one")
    left["performance attributes"] += bool(source.performance_attributes)
    left["choice attributes"] += bool(source.choice_attributes)
    left["open feedback"] += bool(source.open_feedback)
    left["other fields"] += source.unread
    metadata = {
        "model": models.pop() if len(models) == 1 else None,
        "conversation_type": source.conversation_type,
        **ORIGIN.metadata,
        ALTERNATES: MODEL_REPLIES,
        "record": f"{CONVERSATIONS}:{where.rpartition(':')[2]}",
    }
    record: dict[str, Any] = {
        "conversationId": f"prism-{source.conversation_id}",
        "provenance": "imported",
        "metadata": stated(metadata),
        "participant_profile": None,
        "turns": turns,
    }
    if (user := source.user_id) is not None:
        said = survey[user].demographics if user in survey else None
        left["conversations without demographics"] += said is None
        profile = {"participant_id": f"prism-{user}", "demographics": said or None}
        record["participant_profile"] = stated(profile)
    return conversation_from(stated(record), where)


def _turns(source: _Conversation, where: str, left: Left) -> Iterator[tuple[str, _Message, list[_Message]]]:
    """(message, reply in the thread, alternates) of the turns up to the first without a known reply."""

    def refuse(found: str, wanted: str) -> DataError:
        return DataError(Problem(where, "conversation_history", found, wanted, _ADVICE))

    said: dict[int, str] = {}
    replies: dict[int, list[_Message]] = {}
    for part in source.conversation_history:
        if part.role == "model":
            replies.setdefault(part.turn, []).append(part)
        elif part.turn in said:
            raise refuse(f"two user messages in turn {part.turn}", "one message per turn")
        else:
            said[part.turn] = part.content
    if orphan := sorted(replies.keys() - said):
        raise refuse(f"replies in turn {orphan[0]}, but no message", "a user message in each turn")
    for turn in sorted(said):
        given = sorted(replies.get(turn, []), key=lambda reply: float(reply.within_turn_id))
        chosen = [reply for reply in given if reply.if_chosen] or (given if len(given) == 1 else [])
        if len({reply.content for reply in chosen}) != 1:
            left["turns from where the thread is not known"] += sum(later >= turn for later in said)
            return
        yield said[turn], chosen[0], _alternates(chosen[0], given, left)


def _alternates(thread: _Message, replies: Sequence[_Message], left: Left) -> list[_Message]:
    """At most two replies whose texts differ from the thread's and from each other."""
    others: dict[str, _Message] = {}
    for reply in replies:
        if reply is thread:
            continue
        if not reply.content.strip():
            left["blank alternates"] += 1
        elif reply.content == thread.content or reply.content in others:
            left["replies with the text of another"] += 1
        else:
            others[reply.content] = reply
    left["replies beyond two alternates"] += max(0, len(others) - 2)
    return list(others.values())[:2]


def _comparisons(
    replies: Sequence[_Message], place: str, pairs: Pairs, left: Left
) -> Iterator[dict[str, Any]]:
    named = dict(zip(("original", "alternate", "human"), replies, strict=False))
    for one, two in combinations(named, 2):
        if pairs == "alternates" and one == "original":
            left["comparisons with the reply in the thread"] += 1
            continue
        scores = {name: named[name].score for name in (one, two)}
        if None in scores.values():
            left["comparisons without both scores"] += 1
            continue
        yield compared(one, two, scores, "prism", place)
