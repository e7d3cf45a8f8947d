"""Import a table of replies that people compared: by a winner, ratings, or a preference for one of two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem, one_line, show
from attune_data.files.conversations import Conversations
from attune_data.format.constants import RESPONSES
from attune_data.format.schema import Conversation
from attune_data.format.validate import conversation_from
from attune_data.importing.identity import names_in
from attune_data.importing.imported import (
    ALTERNATES,
    MODEL_REPLIES,
    Imported,
    Left,
    LeftOut,
    gathered,
    stated,
)
from attune_data.importing.mapping import PreferencesMap, load_map
from attune_data.importing.replies import SYSTEM, Chat, chat_of, compared, turn_of
from attune_data.importing.table import Row, read_table

TIES, EQUAL, APART, FOURTH = (
    "ties", "rows of which replies are equal or blank", "chats that differ before the last reply",
    "replies after the third",
)  # fmt: skip
_LEFT: Final = {
    TIES: "no reply is preferred",
    EQUAL: "nothing to compare",
    APART: "their last replies do not answer the same",
    FOURTH: "the format holds three",
    SYSTEM: "the format has no place for them",
}


def import_preferences(
    table: str | Path, map: str | Path, *, split: str | None = None, skip_invalid: bool = False
) -> Imported:
    """Import a table of messages with two or more replies and what people preferred.

    Args:
        table: as for `import_feelings`.
        map: the name of a ready-made map (`ready_made(PreferencesMap)`), or the path of one.
        split: the split of a dataset that has several.
        skip_invalid: leave out rows that the map does not fit instead of raising at the first one.

    Returns:
        A conversation for each row with a preference, whose last turn has the replies and their comparisons
        on "general". The first reply of the row stands in the thread, whether it won or not. Ties are left
        out and counted.

    Raises:
        DataError: the table or the map cannot be read, or a row does not fit it.
        UnknownNameError: there is no map of that name.
        MissingExtraError: `datasets` is needed and not installed.
    """
    mapping = load_map(PreferencesMap, map)
    rows = read_table(str(table), mapping.table, split)
    made = partial(_made, mapping=mapping, table=str(table))
    records = ((where, partial(made, number, read)) for number, (where, read) in enumerate(rows, 1))
    return gathered(
        str(table), mapping.origin, records, _LEFT, Counter(), skip_invalid=skip_invalid,
        notes=partial(_notes, mapping=mapping),
    )  # fmt: skip


def _made(
    number: int, read: Callable[[], Row], left: Left, *, mapping: PreferencesMap, table: str
) -> Conversation:
    row = read()
    row.leave_out(mapping.skip)
    chat, replies = _chat(row, mapping, left)
    scores = _scores(row, mapping)
    if len(set(replies)) < len(replies) or not all(replies):
        raise LeftOut(EQUAL)
    left[FOURTH] += max(0, len(replies) - len(RESPONSES))
    kept: dict[str, float | None] = dict(zip(RESPONSES, scores, strict=False))
    place = f"{Path(table).stem}/{number}"
    pairs = [compared(one, two, kept, "preferences", place) for one, two in combinations(kept, 2)]
    pairs = [pair for pair in pairs if pair["winner"]]
    if not pairs:
        raise LeftOut(TIES)
    messages = [text for _, text in chat]
    turns = [
        turn_of(index, said, [replied], [])
        for index, (said, replied) in enumerate(zip(messages[:-1:2], messages[1::2], strict=True), 1)
    ]
    turns.append(turn_of(len(turns) + 1, messages[-1], replies[: len(RESPONSES)], pairs))
    names = names_in(row, table, number, mapping.origin, id=mapping.columns.id, person=mapping.columns.person)
    metadata = mapping.origin.metadata | {ALTERNATES: MODEL_REPLIES, "record": names.record}
    record: dict[str, Any] = {**names.fields, "metadata": metadata, "turns": turns}
    return conversation_from(stated(record), row.where)


def _chat(row: Row, mapping: PreferencesMap, left: Left) -> tuple[Chat, list[str]]:
    """The chat up to the person's last message, and the replies to it."""
    columns = mapping.columns
    if columns.messages is None:
        chats = [_messages(row, column, mapping, left) for column in columns.chats]
        before = chats[0][:-1]
        if any(chat[:-1] != before for chat in chats):
            raise LeftOut(APART)
        return _asked(row, columns.chats[0], before), [chat[-1][1] for chat in chats]
    chat = _messages(row, columns.messages, mapping, left)
    replies = [
        mapping.clean(reply) if isinstance(reply := row.cell(column, "a reply"), str) else ""
        for column in columns.replies
    ]
    return _asked(row, columns.messages, chat), replies


def _messages(row: Row, column: str, mapping: PreferencesMap, left: Left) -> Chat:
    value = row.cell(column, "messages", needed=True)
    return [(role, mapping.clean(text)) for role, text in chat_of(value, row.where, column, left)]


def _asked(row: Row, column: str, chat: Chat) -> Chat:
    if not chat or chat[-1][0] != "user":
        wanted = "a chat whose last message before the replies is the user's"
        raise DataError(Problem(row.where, column, "another one", wanted))
    return chat


def _scores(row: Row, mapping: PreferencesMap) -> list[float]:
    """A number for each reply, of which the higher is better."""
    columns = mapping.columns
    if columns.preference is not None:
        second = _number(row, columns.preference)
        return [-second, second]
    if columns.ratings:
        return [_number(row, column) for column in columns.ratings]
    column = columns.winner or ""
    value = row.cell(column, "columns.winner", needed=True)
    named = mapping.winners.get(str(value).strip(), str(value).strip())
    if named not in columns.texts:
        known = ", ".join(
            map(one_line, dict.fromkeys((*mapping.winners, *(mapping.winners or columns.texts))))
        )
        advice = "add it to [winners] of the map, or to [skip] if it is a tie"
        raise DataError(Problem(row.where, column, show(value), f"one of the map's winners: {known}", advice))
    return [float(one == named) for one in columns.texts]


def _number(row: Row, column: str) -> float:
    number = row.number(column, "ratings", "correct the map")
    if number is None:
        raise LeftOut(f"rows without {column}")
    return number


def _notes(conversations: Conversations, mapping: PreferencesMap) -> Iterator[str]:
    if mapping.about:
        yield mapping.about
