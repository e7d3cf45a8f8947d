"""The tasks of a reader: the valence of a feeling, what a reply did, and the preferred reply."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from attune_data.format.affect import POLARITY
from attune_data.format.constants import JUDGED
from attune_data.format.schema import Conversation
from attune_data.importing.imported import are_model_replies
from attune_rewards.truth import truth_of

VALENCE, DID, UNMARKED = "valence", "did", "did_unmarked"
PREFERRED, UNEDITED = "preferred", "preferred_unedited"
TASKS: Final[Mapping[str, str]] = {
    VALENCE: "valence of the feelings in a turn",
    DID: "what the reply did",
    UNMARKED: "what the reply did, without question marks",
    PREFERRED: "preferred reply",
    UNEDITED: "preferred reply, of two that the person did not edit",
}
"""Task -> its title."""
PAIRS: Final = (PREFERRED, UNEDITED)
"""The tasks that compare two replies."""
GENERAL: Final = "general"
"""The comparison on which of two replies is better overall."""
FEWEST: Final = 5
"""Labels of each kind that a question needs, both to be fitted and to be tested."""
_NO_QUESTION: Final = str.maketrans(dict.fromkeys("?¿;՞؟፧‽⁇⁈⁉⸮꘏？﹖", "."))

Model = tuple[str, str]
"""(task, question): what one linear model reads. The question is "" except for what a reply did."""


class Key(NamedTuple):
    """The place of a label."""

    conversation: str
    turn: int
    comparison: int = 0
    """Its index among the comparisons of the turn."""


class Item(NamedTuple):
    """A text with its label."""

    key: Key
    text: str
    against: str
    """The text of side B of a comparison; otherwise ""."""
    yes: bool
    """Whether the feelings are positive, the answer is yes, or side A won."""


Grouped = Mapping[Model, Sequence[Item]]


def without_question_marks(text: str) -> str:
    """The text with a full stop for every question mark of any script.

    >>> without_question_marks("Why？ And when?")
    'Why. And when.'
    """
    return text.translate(_NO_QUESTION)


def items(conversations: Iterable[Conversation]) -> dict[Model, list[Item]]:
    """Every text with a label, by model.

    A turn has a valence if all feelings named in it are of one polarity; turns without a feeling, and with
    feelings of both, are left out.
    """
    found: dict[Model, list[Item]] = {}
    for conversation in conversations:
        for model, item in _of(conversation):
            found.setdefault(model, []).append(item)
    return found


def _of(conversation: Conversation) -> Iterator[tuple[Model, Item]]:
    unedited = are_model_replies(conversation)
    for turn in truth_of(conversation).turns:
        key = Key(conversation.conversation_id, turn.turn)
        polarities = {POLARITY[tag.emotion] for tag in turn.tags or ()}
        if len(polarities) == 1:
            yield (VALENCE, ""), Item(key, turn.message, "", polarities == {"positive"})
        reply = turn.responses["original"] or ""
        unmarked = without_question_marks(reply)
        for question, answer in turn.observed:
            if question not in JUDGED:
                yield (DID, question), Item(key, reply, "", answer == "yes")
                yield (UNMARKED, question), Item(key, unmarked, "", answer == "yes")
        for index, side in turn.winners:
            pair = turn.comparisons[index]
            a, b = turn.responses[pair.response_a], turn.responses[pair.response_b]
            if pair.question_id == GENERAL and a is not None and b is not None:
                item = Item(key._replace(comparison=index), a, b, side == "A")
                yield (PREFERRED, ""), item
                if unedited or "human" not in (pair.response_a, pair.response_b):
                    yield (UNEDITED, ""), item


def labelled_texts(conversation: Conversation) -> dict[int, set[str]]:
    """Turn -> its texts that have a label, in lower case and with single spaces."""
    found: dict[int, set[str]] = {}
    for _, item in _of(conversation):
        plain = (" ".join(text.casefold().split()) for text in (item.text, item.against))
        found.setdefault(item.key.turn, set()).update(filter(None, plain))
    return found


def without_labels(conversation: Conversation, turns: Container[int]) -> Conversation:
    """A copy of the conversation in which these turns have no labels."""
    bare = {"mood_shift_tags": None, "annotations": None}
    kept = [one.model_copy(update=bare) if one.turn_number in turns else one for one in conversation.turns]
    return conversation.model_copy(update={"turns": tuple(kept)})


def enough(model: Model, those: Sequence[Item]) -> bool:
    """Whether there are enough labels: of each kind, or of comparisons, whose sides mean nothing."""
    yes = sum(item.yes for item in those)
    counts = [len(those)] if model[0] in PAIRS else [yes, len(those) - yes]
    return min(counts) >= FEWEST
