"""PRISM (Kirk et al., 2024): people talk with several language models at once and score every reply.

The reply that the conversation went on with is the original, two of the others are its alternates, and
scores become winners of the comparison "general"; docs/importing.md has the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Literal

from attune_data.constants import ResponseName
from attune_data.errors import DataError, Problem, UnknownNameError
from attune_data.importing.alternates import FIELD, MODEL_REPLIES
from attune_data.importing.foreign import Part, missing
from attune_data.importing.imported import Gathered, Imported, Unusable, check_length
from attune_data.importing.prism_survey import CONVERSATIONS, SURVEY, Survey, read_survey
from attune_data.lines import jsonl
from attune_data.loading import Conversations
from attune_data.schema import Conversation
from attune_data.seeding import digest
from attune_data.validate import conversation_from

DATASET: Final = "PRISM"
LICENCE: Final = "CC BY 4.0 (texts by people), CC BY-NC 4.0 (replies of models)"

Pairs = Literal["all", "alternates"]
PAIRS: Final[tuple[Pairs, ...]] = ("all", "alternates")

_READ: Final = frozenset(["conversation_id", "user_id", "conversation_type", "conversation_history"])
_ADVICE: Final = (
    "is this PRISM's conversations.jsonl (docs/importing.md)? "
    "--skip-invalid leaves out conversations that differ"
)
_HISTORY: Final = "a list of messages {turn, role, content, …}"
_CUT: Final = "turns from where the thread is not known"
_THIRD: Final = "replies beyond two alternates"
_SAME: Final = "replies with the text of another"
_BLANK: Final = "blank alternates"
_UNSCORED: Final = "comparisons without both scores"
_THREAD: Final = "comparisons with the reply in the thread"
_NOBODY: Final = "conversations without demographics"
_SURVEY: Final = "other answers of the survey"
_REASONS: Final[Mapping[str, str]] = {
    _CUT: "no reply, or several different ones, are marked as chosen; nor is what follows imported",
    _THIRD: "the format has two; those first by within_turn_id, an order that is random in the source",
    _SAME: "nothing to compare",
    _BLANK: "no text",
    _UNSCORED: "nothing says which was preferred",
    _THREAD: "left out as asked: the thread itself tells their winner",
    "performance attributes": "ratings of one reply on seven sliders; no question asks that",
    "choice attributes": "reasons for a choice on seven sliders; no question asks that",
    "open feedback": "text about the whole conversation; the questions after it take options",
    _NOBODY: f"their participant has no line in {SURVEY}, or there is no such file",
    _SURVEY: "beliefs, religion, ethnicity, work, use of models, …: no field here means the same",
    "other fields": "not read: opening prompt (the first message again), counts, times, subsets, …",
}
_COUNTED: Final[Mapping[str, str]] = {
    "performance_attributes": "performance attributes",
    "choice_attributes": "choice attributes",
    "open_feedback": "open feedback",
}


def import_prism(path: str | Path, *, skip_invalid: bool = False, pairs: Pairs = "all") -> Imported:
    """The conversations of PRISM's `conversations.jsonl`, with what `survey.jsonl` says of who held them.

    Args:
        path: the folder of both files, or `conversations.jsonl` itself; the survey may be missing.
        skip_invalid: leave out lines that are not of the format instead of raising at the first.
        pairs: "alternates" leaves out comparisons with the reply that stands in the thread, whose winner
            the thread tells.

    Returns:
        The conversations in the file's order; `prism-` stands before their ids and those of participants.
        One without a turn is left out, which is no error.

    Raises:
        DataError: a file cannot be read, or the first place that is not of the format; or no conversation
            is left.
        UnknownNameError: `pairs` is neither of its values.
    """
    if pairs not in PAIRS:
        raise UnknownNameError("choice of pairs", pairs, PAIRS)
    file = _conversations_in(Path(path))
    survey = read_survey(file.parent / SURVEY)
    result = Gathered(skip_invalid)
    result.left[_SURVEY] = survey.other_fields
    for where, read in jsonl(file):
        result.add(partial(_made, read, where, survey, pairs), where)
    return result.imported(str(path), DATASET, LICENCE, _REASONS, _notes)


def _notes(conversations: Conversations) -> Iterator[str]:
    turns = [turn for conversation in conversations for turn in conversation.turns]
    filled = sum(turn.responses["human"] is not None for turn in turns)
    if filled:
        yield (
            f"humanEdited holds a model's reply in {filled} of {len(turns)} turns: demonstrations refuses "
            "them, and a draft judge has no reference"
        )


def _conversations_in(path: Path) -> Path:
    """The file of conversations: `path`, or the one of its name in the folder `path`."""
    file = path / CONVERSATIONS if path.is_dir() else path
    if file.exists():
        return file
    if not path.is_dir():
        raise missing(path, f"{CONVERSATIONS} of PRISM, or its folder")
    inside = sorted(entry.name for entry in path.iterdir())
    shown = f"the folder holds {', '.join(inside[:3])}{' …' if len(inside) > 3 else ''}"
    below = [entry for entry in sorted(path.iterdir()) if (entry / CONVERSATIONS).is_file()]
    raise DataError(
        Problem(str(path), "", f"no {CONVERSATIONS}", f"{CONVERSATIONS}, and {SURVEY} beside it",
                f"did you mean {below[0]}?" if below else shown if inside else "the folder is empty")
    )  # fmt: skip


def _made(
    read: Callable[[], Any],
    where: str,
    survey: Survey,
    pairs: Pairs,
    left: Counter[str],
) -> Conversation:
    expected = f"a conversation with conversation_history, {_HISTORY}"
    record = Part.of(read(), where, "", expected, _ADVICE)
    identity = record.needed_text("conversation_id")
    user = record.text("user_id")
    turns = list(_turns(record, left))
    if not turns:
        raise Unusable(where, "conversation_history", "no turn whose reply is known", "at least one")
    check_length(len(turns), where, "conversation_history")
    for name, what in _COUNTED.items():
        left[what] += record.fields.get(name) not in (None, "", {})
    left["other fields"] += len(record.fields.keys() - _READ - _COUNTED.keys())
    models = {turn.thread.model for turn in turns}
    metadata = {
        "model": models.pop() if len(models) == 1 else None,
        "conversation_type": record.text("conversation_type"),
        "dataset": DATASET,
        "licence": LICENCE,
        FIELD: MODEL_REPLIES,
        "record": f"{CONVERSATIONS}:{where.rpartition(':')[2]}",
    }
    value: dict[str, Any] = {
        "conversationId": f"prism-{identity}",
        "provenance": "imported",
        "metadata": {name: said for name, said in metadata.items() if said is not None},
    }
    if user is not None:
        demographics = survey.people.get(user)
        left[_NOBODY] += demographics is None
        value["participant_profile"] = {"participant_id": f"prism-{user}"} | (
            {"demographics": dict(demographics)} if demographics else {}
        )
    value["turns"] = [turn.record(number, identity, pairs, left) for number, turn in enumerate(turns, 1)]
    return conversation_from(value, where)


@dataclass(frozen=True, slots=True)
class _Reply:
    text: str
    score: float | None
    chosen: bool
    model: str | None


@dataclass(frozen=True, slots=True)
class _Turn:
    message: str
    thread: _Reply
    """What the conversation went on with."""
    others: Sequence[_Reply]
    """Two at most, by within_turn_id."""

    def record(self, number: int, identity: str, pairs: Pairs, left: Counter[str]) -> dict[str, Any]:
        """The turn in the format; counts the comparisons that are left out."""
        turn: dict[str, Any] = {
            "turnNumber": number,
            "userMessage": self.message,
            "llmResponse": self.thread.text,
        }
        if not self.others:
            return turn
        slots = dict(zip(("llmImproved", "humanEdited"), (reply.text for reply in self.others), strict=False))
        annotations: dict[str, Any] = {"alternateResponses": slots}
        turn["annotations"] = annotations
        if comparisons := list(self._comparisons(f"{identity}/{number}", pairs, left)):
            annotations["pairwiseComparisons"] = comparisons
            annotations["selectedPairwiseQuestions"] = ["general"]
        return turn

    def _comparisons(self, place: str, pairs: Pairs, left: Counter[str]) -> Iterator[dict[str, Any]]:
        names: tuple[ResponseName, ...] = ("original", "alternate", "human")
        replies = dict(zip(names, (self.thread, *self.others), strict=False))
        for one, two in combinations(replies, 2):
            if pairs == "alternates" and one == "original":
                left[_THREAD] += 1
                continue
            # sides by a hash: the reply in the thread is mostly the winner and would always stand on one
            swapped = bool(digest("prism", place, one, two)[0] & 1)
            first, second = (two, one) if swapped else (one, two)
            a, b = replies[first].score, replies[second].score
            if a is None or b is None:
                left[_UNSCORED] += 1
                continue
            yield {
                "questionId": "general",
                "responseA": first,
                "responseB": second,
                "winner": None if a == b else "A" if a > b else "B",
            }


def _turns(record: Part, left: Counter[str]) -> Iterator[_Turn]:
    """The turns up to the first one without a known reply."""
    said, replies = _by_turn(record)
    for turn in sorted(said):
        thread = _in_thread(replies.get(turn, []))
        if thread is None:
            left[_CUT] += sum(later >= turn for later in said)
            return
        yield _Turn(said[turn], thread, _alternates(thread, replies[turn], left))


def _by_turn(record: Part) -> tuple[dict[int, str], dict[int, list[_Reply]]]:
    """Number of the turn -> the message, and -> the replies by within_turn_id."""
    said: dict[int, str] = {}
    replies: dict[int, list[tuple[int, _Reply]]] = {}
    for part in record.parts("conversation_history", _HISTORY):
        turn = part.whole("turn", "the number of the turn, from 0")
        text = part.needed_text("content")
        role = part.fields.get("role")
        if role == "user":
            if turn in said:
                raise part.differs("turn", f"one message of the user a turn; turn {turn} has one before")
            said[turn] = text
        elif role == "model":
            chosen = part.fields.get("if_chosen")
            if chosen is not None and not isinstance(chosen, bool):
                raise part.differs("if_chosen", "true or false")
            within = part.whole("within_turn_id", "the number of the reply in its turn, from 0")
            reply = _Reply(text, part.number("score", 0, 100), chosen is True, part.text("model_name"))
            replies.setdefault(turn, []).append((within, reply))
        else:
            raise part.differs("role", '"user" or "model"')
    if orphan := sorted(replies.keys() - said):
        found = f"replies in turn {orphan[0]} and no message"
        raise DataError(
            Problem(record.file, "conversation_history", found, "a message of the user in each turn", _ADVICE)
        )
    return said, {turn: [reply for _, reply in sorted(r, key=lambda e: e[0])] for turn, r in replies.items()}


def _in_thread(replies: Sequence[_Reply]) -> _Reply | None:
    """The reply that the conversation went on with; None where that is not said."""
    chosen = [reply for reply in replies if reply.chosen]
    if not chosen and len(replies) == 1:
        chosen = list(replies)
    return chosen[0] if len({reply.text for reply in chosen}) == 1 else None


def _alternates(thread: _Reply, replies: Sequence[_Reply], left: Counter[str]) -> list[_Reply]:
    others: dict[str, _Reply] = {}
    for reply in replies:
        if reply is thread:
            continue
        if not reply.text.strip():
            left[_BLANK] += 1
        elif reply.text == thread.text or reply.text in others:
            left[_SAME] += 1
        else:
            others[reply.text] = reply
    left[_THIRD] += max(0, len(others) - 2)
    return list(others.values())[:2]
