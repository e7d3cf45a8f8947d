"""Rows from what people preferred and wrote: `preference_pairs` (DPO, reward models), `demonstrations` (SFT).

Both are about replying to the person, not about judging: a prompt is the conversation as it went, up to a
message of the person, and what follows it are replies. `to_dataset` makes the rows for judging.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from attune_data.constants import PAIRWISE_IDS, Provenance, ResponseName
from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.guard import for_training
from attune_data.importing.alternates import FIELD, MODEL_REPLIES, are_model_replies
from attune_data.schema import Conversation, PairwiseComparison, Turn
from attune_data.version import __version__
from attune_episodes.training.arguments import described, sequence_of
from attune_episodes.training.dataset import CHUNK

if TYPE_CHECKING:
    from datasets import Dataset, Features

Row = dict[str, Any]
Chat = list[dict[str, str]]
GENERAL: Final = "general"
"""The question which reply the person liked better on the whole."""


def preference_pairs(
    conversations: Sequence[Conversation],
    questions: Sequence[str] = (GENERAL,),
    *,
    system: str | None = None,
    allow_benchmark_training: bool = False,
) -> Dataset:
    """Pairs of replies of which the person preferred one, for DPO and for reward models.

    A comparison makes a row where the person chose, both texts are there, and they differ in more than the
    white space around them. Of comparisons that ask a question about the same two texts in a turn, equal
    choices make one row, and opposite ones none. Nothing else is evened out: choices may go in a circle,
    and two questions about the same texts may have opposite answers.

    Args:
        conversations: the annotated conversations, in a sequence.
        questions: ids of the questions whose comparisons count; "general" is which reply was better on the
            whole.
        system: a system message at the head of every prompt; none if None.
        allow_benchmark_training: make rows of benchmark records too, against their authors' rule; the rows
            are marked `benchmark`, and the description of the dataset says so.

    Returns:
        Rows with `prompt` (chat messages: earlier turns with the replies that were really given, then the
        person's message), `chosen` and `rejected` (one assistant message each), `id`
        (`conversation/turn/question/index of the comparison`), `conversation_id`, `participant_id`, `turn`,
        `question`, `chosen_response` and `rejected_response` ("original", "alternate" or "human") and
        `provenance`, in the order of the conversations.

    Raises (all at the call):
        BenchmarkTrainingError: benchmark or unmarked records are among the conversations.
        UnknownNameError: a question that is neither one of the benchmark's nor compared anywhere here.
        SettingsError: no question, or a system message that is no text.
        DataError: there are no conversations, or no such pair in them.
        TypeError: something else than conversations in a sequence was given.
    """
    mark = _checked(conversations, system, allow_benchmark_training)
    asked = _known(questions, conversations)
    rows = (
        _shared(about, turn, system)
        | {
            "chosen": _reply(turn, chosen),
            "rejected": _reply(turn, rejected),
            "id": f"{about.conversation_id}/{turn.turn_number}/{comparison.question_id}/{index}",
            "question": comparison.question_id,
            "chosen_response": chosen,
            "rejected_response": rejected,
        }
        for about in conversations
        for turn in about.turns
        for index, comparison, chosen, rejected in _chosen(turn, asked)
    )
    wanted = f"a comparison on {', '.join(asked)} with a winner between two different texts"
    types = _features("prompt", "chosen", "rejected", "id", "conversation_id", "participant_id", "turn",
                      "question", "chosen_response", "rejected_response", "provenance")  # fmt: skip
    return _table(rows, types, f"Preference pairs on {', '.join(asked)}", mark, wanted)


def demonstrations(
    conversations: Sequence[Conversation],
    *,
    system: str | None = None,
    allow_benchmark_training: bool = False,
    allow_model_replies: bool = False,
) -> Dataset:
    """The replies that a human edited, as rows for supervised fine-tuning.

    Args:
        conversations: the annotated conversations, in a sequence.
        system: a system message at the head of every prompt; none if None.
        allow_benchmark_training: as in `preference_pairs`.
        allow_model_replies: make rows of conversations too that say of their alternates that nobody edited
            them (an import of PRISM), with the reply of a model as the completion; the description of the
            dataset says so.

    Returns:
        Rows with `prompt` (as in `preference_pairs`), `completion` (one assistant message: the human-edited
        reply), `id` (`conversation/turn/human`), `conversation_id`, `participant_id`, `turn`, `won` and
        `lost` (how many of the turn's comparisons on "general" the person decided for it and against it: an
        edited reply is not always the preferred one) and `provenance`. Turns without such a reply, or with
        an empty one, make no row.

    Raises (all at the call): as `preference_pairs`; DataError for alternates that are replies of models.
    """
    mark = _checked(conversations, system, allow_benchmark_training)
    unedited = _unedited(conversations)
    if unedited and not allow_model_replies:
        raise DataError(
            Problem(
                "conversations",
                f"metadata.{FIELD}",
                f'"{MODEL_REPLIES}" in {len(unedited)} of {len(conversations)}, the first '
                f"{show(unedited[0])}: what they hold under humanEdited was edited by nobody",
                "replies that a human edited",
                f'leave them out with select(conversations, "{FIELD}=unknown"); '
                "allow_model_replies=True takes them all the same",
            )
        )
    rows = (
        _shared(about, turn, system)
        | {"completion": _reply(turn, "human"), "id": f"{about.conversation_id}/{turn.turn_number}/human"}
        | _record_of_wins(turn)
        for about in conversations
        for turn in about.turns
        if (turn.responses["human"] or "").strip()
    )
    types = _features("prompt", "completion", "id", "conversation_id", "participant_id", "turn", "won",
                      "lost", "provenance")  # fmt: skip
    what = "Demonstrations from human-edited replies"
    if unedited:
        what += f" (of {len(unedited)} conversations: {MODEL_REPLIES})"
    return _table(rows, types, what, mark, "a human-edited reply")


def _unedited(conversations: Iterable[Conversation]) -> list[str]:
    """Ids of the conversations whose replies under humanEdited are those of models."""
    return [
        about.conversation_id
        for about in conversations
        if are_model_replies(about) and any((turn.responses["human"] or "").strip() for turn in about.turns)
    ]


def _chosen(
    turn: Turn, asked: Sequence[str]
) -> Iterator[tuple[int, PairwiseComparison, ResponseName, ResponseName]]:
    """(index, comparison, chosen, rejected) of the turn's comparisons that make a row."""
    first: dict[tuple[str, str, str], tuple[int, PairwiseComparison, ResponseName, ResponseName]] = {}
    for index, comparison in enumerate(turn.comparisons):
        if comparison.winner is None or comparison.question_id not in asked:
            continue
        pair = (comparison.response_a, comparison.response_b)
        chosen, rejected = pair if comparison.winner == "A" else pair[::-1]
        better, worse = ((turn.responses[name] or "").strip() for name in (chosen, rejected))
        if better and worse and better != worse:
            first.setdefault((comparison.question_id, better, worse), (index, comparison, chosen, rejected))
    for (question, better, worse), row in first.items():
        if (question, worse, better) not in first:
            yield row


def _record_of_wins(turn: Turn) -> dict[str, int]:
    record = {"won": 0, "lost": 0}
    for comparison in turn.comparisons:
        pair = {"A": comparison.response_a, "B": comparison.response_b}
        if comparison.question_id != GENERAL or comparison.winner is None or len({*pair.values()}) < 2:
            continue
        if "human" in pair.values():
            record["won" if pair[comparison.winner] == "human" else "lost"] += 1
    return record


def _shared(about: Conversation, turn: Turn, system: str | None) -> Row:
    prompt: Chat = [] if system is None else [{"role": "system", "content": system}]
    for earlier in about.turns:
        if earlier.turn_number >= turn.turn_number:
            break
        prompt.append({"role": "user", "content": earlier.user_message})
        prompt.append({"role": "assistant", "content": earlier.llm_response})
    prompt.append({"role": "user", "content": turn.user_message})
    return {
        "prompt": prompt,
        "conversation_id": about.conversation_id,
        "participant_id": about.participant,
        "turn": turn.turn_number,
        "provenance": about.origin,
    }


def _reply(turn: Turn, name: ResponseName) -> Chat:
    return [{"role": "assistant", "content": turn.responses[name] or ""}]


def _checked(conversations: object, system: object, allow_benchmark_training: bool) -> Provenance:
    items = sequence_of(conversations)
    if not isinstance(system, (str, type(None))):
        raise SettingsError(f"system is {show(system)}; expected a text, or None for no system message")
    return for_training(items, allow_benchmark_training=allow_benchmark_training)


def _known(questions: object, conversations: Iterable[Conversation]) -> tuple[str, ...]:
    asked: tuple[str, ...] = ()
    if isinstance(questions, Sequence) and not isinstance(questions, str):
        asked = tuple(dict.fromkeys(map(str, questions)))
    if not asked:
        raise SettingsError(f'questions is {show(questions)}; expected a list such as ["general", "PW4"]')
    if not {*asked} <= {*PAIRWISE_IDS}:  # a data set may have questions of its own
        own = {c.question_id for about in conversations for turn in about.turns for c in turn.comparisons}
        known = (*PAIRWISE_IDS, *sorted(own - {*PAIRWISE_IDS}))
        for question in asked:
            if question not in known:
                raise UnknownNameError("comparison question", question, known)
    return asked


def _features(*columns: str) -> Features:
    """The types of the columns, stated so that no batch of nulls can change them."""
    from datasets import Features, List, Value

    text, number = Value("string"), Value("int32")
    chat = List({"role": text, "content": text})
    types = dict.fromkeys(("prompt", "chosen", "rejected", "completion"), chat)
    types |= dict.fromkeys(("turn", "won", "lost"), number)
    return Features({name: types.get(name, text) for name in columns})


def _table(rows: Iterator[Row], types: Features, what: str, mark: Provenance, wanted: str) -> Dataset:
    from datasets import Dataset, concatenate_datasets

    chunks = []
    while some := list(islice(rows, CHUNK)):
        ordered = [{name: row[name] for name in types} for row in some]
        chunks.append(Dataset.from_list(ordered, features=types))
    if not chunks:
        advice = "attune data stats shows what is annotated"
        raise DataError(Problem("conversations", "", "nothing that makes a row", wanted, advice))
    dataset = concatenate_datasets(chunks)
    dataset.info.description = described(f"{what}, attune-env {__version__}", mark)
    return dataset
