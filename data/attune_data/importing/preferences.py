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
from attune_data.importing.identity import names_in, prefix_of
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
from attune_data.importing.table import Row, read_table, word

TIES, EQUAL, FEW, APART, MORE = (
    "ties", "rows whose replies are equal", "rows with fewer than two rated replies",
    "chats that differ before the last reply", "replies beyond three",
)  # fmt: skip
_LEFT: Final = {
    TIES: "no reply is preferred",
    EQUAL: "nothing to compare",
    FEW: "nothing to compare",
    APART: "their last replies do not answer the same",
    MORE: "the format holds three; the best one is kept",
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
        SettingsError: a split of a table that has none.
        UnknownNameError: there is no map or split of that name.
        MissingExtraError: `datasets` is needed and not installed.
    """
    mapping = load_map(PreferencesMap, map)
    by = Path(map).name
    rows = read_table(str(table), mapping.table, split, mapping.used(), by)
    made = partial(_made, mapping=mapping, prefix=prefix_of(mapping.origin, str(table), split))
    records = ((where, partial(made, number, read)) for number, (where, read) in enumerate(rows, 1))
    return gathered(
        str(table), mapping.origin, records, _LEFT, Counter(), skip_invalid=skip_invalid,
        notes=partial(_notes, mapping=mapping),
    )  # fmt: skip


def _made(
    number: int, read: Callable[[], Row], left: Left, *, mapping: PreferencesMap, prefix: str
) -> Conversation:
    row = read()
    row.leave_out(mapping.skip)
    chat, replies = _chat(row, mapping, left)
    given = zip(replies, _scores(row, mapping), strict=True)
    rated = [(reply, score) for reply, score in given if reply and score is not None]
    if len(rated) < 2:
        raise LeftOut(FEW)
    if len({reply for reply, _ in rated}) < len(rated):
        raise LeftOut(EQUAL)
    left[MORE] += max(0, len(rated) - len(RESPONSES))
    if rated[2:]:  # of those from the third on, the best one, which may be the winner
        rated = [*rated[:2], max(rated[2:], key=lambda one: one[1])]
    scores: dict[str, float | None] = {
        name: score for name, (_, score) in zip(RESPONSES, rated, strict=False)
    }
    place = f"{prefix}/{number}"
    pairs = [compared(one, two, scores, "preferences", place) for one, two in combinations(scores, 2)]
    pairs = [pair for pair in pairs if pair["winner"]]
    if not pairs:
        raise LeftOut(TIES)
    messages = [text for _, text in chat]
    turns = [
        turn_of(index, said, [replied], [])
        for index, (said, replied) in enumerate(zip(messages[:-1:2], messages[1::2], strict=True), 1)
    ]
    turns.append(turn_of(len(turns) + 1, messages[-1], (reply for reply, _ in rated), pairs))
    columns = mapping.columns
    names = names_in(row, prefix, number, mapping.origin, id=columns.id, person=columns.person)
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
        if chats[0][-1][0] == "user":
            found, wanted = "a user's message last", "a chat whose last message is a reply"
            raise DataError(Problem(row.where, columns.chats[0], found, wanted))
        return before, [chat[-1][1] for chat in chats]
    chat = _messages(row, columns.messages, mapping, left)
    if chat[-1][0] != "user":
        found, wanted = "an assistant's message last", "a chat whose last message is the user's"
        raise DataError(Problem(row.where, columns.messages, found, wanted))
    replies = [
        mapping.clean(reply) if isinstance(reply := row.cell(column), str) else ""
        for column in columns.replies
    ]
    return chat, replies


def _messages(row: Row, column: str, mapping: PreferencesMap, left: Left) -> Chat:
    value = row.needed(column, "columns.messages" if mapping.columns.messages else "columns.chats")
    return [(role, mapping.clean(text)) for role, text in chat_of(value, row.where, column, left)]


def _scores(row: Row, mapping: PreferencesMap) -> list[float | None]:
    """A number for each reply, of which the higher is better; None if it has none."""
    columns = mapping.columns
    if columns.preference is not None:
        second = row.number(columns.preference)
        return [None if second is None else -second, second]
    if columns.ratings:
        return [row.number(column) for column in columns.ratings]
    column = columns.winner or ""
    value = row.needed(column, "columns.winner")
    named = mapping.by_winner.get(word(value), word(value))
    if named not in columns.texts:
        known = ", ".join(
            map(one_line, dict.fromkeys((*mapping.winners, *(mapping.winners or columns.texts))))
        )
        advice = f"add it to [winners] of {row.map}, or to [skip] if it is a tie"
        raise DataError(Problem(row.where, column, show(value), f"one of the map's winners: {known}", advice))
    return [float(one == named) for one in columns.texts]


def _notes(conversations: Conversations, mapping: PreferencesMap) -> Iterator[str]:
    if mapping.about:
        yield mapping.about
