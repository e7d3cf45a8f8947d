"""Make rows from the replies that participants preferred or edited: for DPO, reward models and SFT.

Both are about replying to the person, not about judging: a prompt is the recorded conversation up to a
message of the person, and the replies follow it. `training_dataset` makes the rows for judging.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.format.constants import PAIRWISE_IDS, ResponseName
from attune_data.format.schema import Conversation, Turn
from attune_data.importing.imported import ALTERNATES, MODEL_REPLIES, are_model_replies
from attune_data.source.guard import for_training
from attune_data.version import __version__
from attune_episodes.training.rows import Row, described, sequence_of, table

if TYPE_CHECKING:
    from datasets import Dataset

GENERAL: Final = "general"
"""The question of which reply the person preferred overall."""
PAIRS: Final = ("prompt", "chosen", "rejected", "id", "conversation_id", "participant_id", "turn", "question",
                "chosen_response", "rejected_response", "provenance")  # fmt: skip
DEMONSTRATIONS: Final = ("prompt", "completion", "id", "conversation_id", "participant_id", "turn", "won",
                         "lost", "provenance")  # fmt: skip


def preference_pairs(
    conversations: Sequence[Conversation],
    questions: Sequence[str] = (GENERAL,),
    *,
    system: str | None = None,
    allow_benchmark_training: bool = False,
) -> Dataset:
    """Make pairs of a preferred and a rejected reply, for DPO and reward models.

    A comparison gives a row if the person chose, both texts exist, and they differ in more than surrounding
    white space. If several comparisons of a turn ask the same question about the same two texts, equal
    choices give one row, and opposite ones none. Other contradictions remain: choices may be circular, and
    two questions about the same texts may have opposite answers.

    Args:
        conversations: the annotated conversations, in a sequence.
        questions: ids of the questions whose comparisons count; "general" asks which reply was better
            overall.
        system: a system message at the start of every prompt, or None.
        allow_benchmark_training: as in `training_dataset`.

    Returns:
        Rows with `prompt` (chat messages: earlier turns with the recorded replies, then the person's
        message), `chosen` and `rejected` (one assistant message each), their `chosen_response` and
        `rejected_response` ("original", "alternate" or "human"), `question`, `id`
        (`conversation/turn/question/index of the comparison`) and their source.

    Raises (all at the call):
        BenchmarkTrainingError: benchmark or unmarked records are among the conversations.
        UnknownNameError: a question that is neither in the benchmark nor in these conversations.
        SettingsError: no question.
        DataError: there are no conversations, or no such pair in them.
        TypeError: something other than a sequence of conversations was given.
    """
    asked = _known(questions, sequence_of(conversations))
    what = f"Preference pairs on {', '.join(asked)}"
    wanted = f"a comparison on {', '.join(asked)} with a winner between two different texts"
    make = partial(_pairs, asked=asked)
    return _rows(conversations, make, PAIRS, what, wanted, system, allowed=allow_benchmark_training)


def demonstrations(
    conversations: Sequence[Conversation],
    *,
    system: str | None = None,
    allow_benchmark_training: bool = False,
    allow_model_replies: bool = False,
) -> Dataset:
    """Make rows for supervised fine-tuning of the replies that a human edited.

    The arguments and errors are those of `preference_pairs`. If a conversation says that its alternates are
    unedited replies of models (an import of PRISM), DataError is raised; with `allow_model_replies` they make
    rows too, and the description of the dataset says so.

    Returns:
        Rows with `prompt`, `completion` (one assistant message: the human-edited reply), `id`
        (`conversation/turn/human`), `won` and `lost` (how many of the turn's comparisons on "general" the
        reply won and lost: an edited reply is not always the preferred one) and where each comes from. Turns
        without such a reply make no row.
    """
    unedited = [
        about.conversation_id
        for about in sequence_of(conversations)
        if are_model_replies(about) and any(map(_edited, about.turns))
    ]
    what = "Demonstrations from human-edited replies"
    if unedited:
        what += f" (of {len(unedited)} conversations: {MODEL_REPLIES})"
    if unedited and not allow_model_replies:
        found = f'"{MODEL_REPLIES}" in {len(unedited)} of {len(conversations)}, the first {show(unedited[0])}'
        raise DataError(
            Problem("conversations", f"metadata.{ALTERNATES}",
                    f"{found}: their humanEdited replies were not edited",
                    "replies that a human edited",
                    f'leave them out with select(conversations, "{ALTERNATES}=unknown"); '
                    "allow_model_replies=True uses them anyway")
        )  # fmt: skip
    wanted = "a human-edited reply"
    return _rows(
        conversations, _edits, DEMONSTRATIONS, what, wanted, system, allowed=allow_benchmark_training
    )


def _rows(
    conversations: Sequence[Conversation],
    replies: Callable[[Turn], Iterable[Row]],
    columns: Sequence[str],
    what: str,
    wanted: str,
    system: str | None,
    *,
    allowed: bool,
) -> Dataset:
    mark = for_training(conversations, allow_benchmark_training=allowed)
    rows = (
        row
        | {
            "prompt": _prompt(about, turn, system),
            "id": f"{about.conversation_id}/{turn.turn_number}/{row['id']}",
            "conversation_id": about.conversation_id,
            "participant_id": about.participant,
            "turn": turn.turn_number,
            "provenance": about.origin,
        }
        for about in conversations
        for turn in about.turns
        for row in replies(turn)
    )
    advice = "attune data stats shows what is annotated"
    nothing = DataError(Problem("conversations", "", "nothing to make a row from", wanted, advice))
    return table(rows, columns, described(f"{what}, attune-env {__version__}", mark), nothing)


def _prompt(about: Conversation, turn: Turn, system: str | None) -> list[dict[str, str]]:
    said = [] if system is None else [("system", system)]
    for earlier in about.turns:
        if earlier.turn_number < turn.turn_number:
            said += [("user", earlier.user_message), ("assistant", earlier.llm_response)]
    said.append(("user", turn.user_message))
    return [{"role": role, "content": text} for role, text in said]


def _reply(turn: Turn, name: ResponseName) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": turn.responses[name] or ""}]


def _edited(turn: Turn) -> bool:
    return bool((turn.responses["human"] or "").strip())


def _pairs(turn: Turn, asked: Sequence[str]) -> Iterator[Row]:
    first: dict[tuple[str, str, str], Row] = {}
    for index, comparison in enumerate(turn.comparisons):
        if comparison.winner is None or comparison.question_id not in asked:
            continue
        pair = (comparison.response_a, comparison.response_b)
        chosen, rejected = pair if comparison.winner == "A" else pair[::-1]
        better, worse = ((turn.responses[name] or "").strip() for name in (chosen, rejected))
        if better and worse and better != worse:
            row = {
                "chosen": _reply(turn, chosen),
                "rejected": _reply(turn, rejected),
                "id": f"{comparison.question_id}/{index}",
                "question": comparison.question_id,
                "chosen_response": chosen,
                "rejected_response": rejected,
            }
            first.setdefault((comparison.question_id, better, worse), row)
    for (question, better, worse), row in first.items():
        if (question, worse, better) not in first:
            yield row


def _edits(turn: Turn) -> Iterator[Row]:
    if not _edited(turn):
        return
    played = [
        (one.response_a, one.response_b)[one.winner == "B"]
        for one in turn.comparisons
        if one.question_id == GENERAL
        and one.winner is not None
        and one.response_a != one.response_b
        and "human" in (one.response_a, one.response_b)
    ]
    won = played.count("human")
    yield {"completion": _reply(turn, "human"), "id": "human", "won": won, "lost": len(played) - won}


def _known(questions: object, conversations: Iterable[Conversation]) -> tuple[str, ...]:
    asked: tuple[str, ...] = ()
    if isinstance(questions, Sequence) and not isinstance(questions, str):
        asked = tuple(dict.fromkeys(map(str, questions)))
    if not asked:
        raise SettingsError(f'questions is {show(questions)}; expected a list such as ["general", "PW4"]')
    # a data set may have questions of its own
    own = {c.question_id for about in conversations for turn in about.turns for c in turn.comparisons}
    known = (*PAIRWISE_IDS, *sorted(own - {*PAIRWISE_IDS}))
    for question in asked:
        if question not in known:
            raise UnknownNameError("comparison question", question, known)
    return asked
