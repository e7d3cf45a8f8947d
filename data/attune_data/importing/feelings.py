"""Import a table of texts with the labels or ratings that their writers gave to their feelings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem, one_line, show
from attune_data.files.conversations import Conversations
from attune_data.format.affect import POLARITY
from attune_data.format.schema import Conversation
from attune_data.format.validate import conversation_from
from attune_data.importing.identity import names_in, prefix_of
from attune_data.importing.imported import Imported, Left, LeftOut, gathered, stated, stretched
from attune_data.importing.mapping import FeelingsMap, load_map
from attune_data.importing.table import Row, read_table, word

REPLIES, NONE = "replies", "none"
"""The field of `metadata` that says that there are no replies, and its value: each `llmResponse` is ""."""
UNFELT: Final = "rows in which no rating is high enough"
UNANSWERED: Final = "messages after the last reply"
_LEFT: Final = {
    UNFELT: "the map's felt",
    UNANSWERED: "nobody replied, and they have no label",
}
_Tags = dict[str, int | None]
"""Feeling -> intensity 1–7, or None."""


def import_feelings(
    table: str | Path, map: str | Path, *, split: str | None = None, skip_invalid: bool = False
) -> Imported:
    """Import a table of texts with the feelings that their writers stated.

    Args:
        table: a `.csv`, `.tsv`, `.json`, `.jsonl` or `.parquet` file, a folder of Parquet files or one
            written by `datasets.Dataset.save_to_disk`, or the name of a dataset that `datasets` loads.
        map: the name of a ready-made map (`ready_made(FeelingsMap)`), or the path of one.
        split: the split of a dataset that has several.
        skip_invalid: leave out rows that the map does not fit instead of raising at the first one.

    Returns:
        A conversation of one turn for each row, or, if the map names the column of the conversation, one for
        each conversation. Without replies, each `llmResponse` is "", and `metadata.replies` is "none".

    Raises:
        DataError: the table or the map cannot be read, or a row has a label that the map does not name.
        SettingsError: a split of a table that has none.
        UnknownNameError: there is no map or split of that name.
        MissingExtraError: `datasets` is needed and not installed.
    """
    mapping = load_map(FeelingsMap, map)
    by = Path(map).name
    rows = read_table(str(table), mapping.table, split, mapping.used(), by)
    made = partial(_made, mapping=mapping, prefix=prefix_of(mapping.origin, str(table), split))
    records = (
        (where, partial(made, number, read))
        for number, (where, read) in enumerate(_grouped(rows, mapping), 1)
    )
    return gathered(
        str(table), mapping.origin, records, _LEFT, Counter(), skip_invalid=skip_invalid,
        notes=partial(_notes, mapping=mapping),
    )  # fmt: skip


_Read = Callable[[], list[Row]]


def _grouped(
    rows: Iterable[tuple[str, Callable[[], Row]]], mapping: FeelingsMap
) -> Iterator[tuple[str, _Read]]:
    """The rows of each conversation, wherever they stand, with the place of the first."""
    together: dict[object, list[tuple[str, Callable[[], Row]]]] = {}
    for where, read in rows:
        key: object = (where,)  # the row is alone: it is a conversation, or it raises again when it is made
        if column := mapping.columns.conversation:
            with suppress(DataError):
                key = word(read().needed(column, "columns.conversation"))
        together.setdefault(key, []).append((where, read))
    for group in together.values():
        yield group[0][0], partial(lambda reads: [read() for _, read in reads], group)


def _made(number: int, read: _Read, left: Left, *, mapping: FeelingsMap, prefix: str) -> Conversation:
    """Convert the rows of one conversation."""
    rows, columns = read(), mapping.columns
    first = rows[0]
    for row in rows:
        if columns.conversation is not None:
            row.needed(columns.conversation, "columns.conversation")
        row.leave_out(mapping.skip)
    turns: list[dict[str, Any]] = []
    told: list[str] = []
    for said, replied in _exchanges(rows, mapping, left):
        labelled = said if mapping.labelled == "each" else said[: not turns]
        tags = _tags(labelled, mapping, told, left) if labelled else None
        if not replied and not tags and turns:
            left[UNANSWERED] += len(said)
            continue
        turn = {
            "turnNumber": len(turns) + 1,
            "userMessage": "\n".join(_text(row, mapping) for row in said),
            "llmResponse": "\n".join(replied),
            "moodShiftTags": None if tags is None else [
                stated({"emotion": emotion, "intensity": intensity}) for emotion, intensity in tags.items()
            ],
        }  # fmt: skip
        turns.append(stated(turn))
    if not turns:
        raise DataError(Problem(first.where, columns.text, "no text", "a message"))
    bare = not any(turn["llmResponse"] for turn in turns)
    names = names_in(
        first, prefix, number, mapping.origin, id=columns.conversation or columns.id, person=columns.person
    )
    metadata = mapping.origin.metadata | {
        "record": names.record,
        "labels": list(dict.fromkeys(told)) or None,
        REPLIES: NONE if bare else None,
    }
    record = {**names.fields, "metadata": stated(metadata), "turns": turns}
    return conversation_from(stated(record), first.where)


def _exchanges(rows: list[Row], mapping: FeelingsMap, left: Left) -> Iterator[tuple[list[Row], list[str]]]:
    """(rows of the person, replies), in order."""
    columns = mapping.columns
    if columns.speaker is None:
        for row in rows:
            reply = None if columns.reply is None else row.cell(columns.reply)
            yield [row], [mapping.clean(str(reply))] if reply is not None else []
        return
    who = [word(row.needed(columns.speaker, "columns.speaker")) for row in rows]
    first_two = list(dict.fromkeys(who))[:2]
    for row, one in zip(rows, who, strict=True):
        if one not in first_two:
            wanted = "at most two speakers in a conversation"
            raise DataError(Problem(row.where, columns.speaker, f"a third one, {show(one)}", wanted))
    runs = [
        [row for row, _ in run]
        for _, run in groupby(zip(rows, who, strict=True), lambda one: one[1] == who[0])
    ]
    for said, replied in zip(runs[::2], [*runs[1::2], []], strict=False):
        yield said, [_text(row, mapping) for row in replied]


def _text(row: Row, mapping: FeelingsMap) -> str:
    return mapping.clean(row.text(mapping.columns.text, "columns.text"))


def _tags(rows: list[Row], mapping: FeelingsMap, told: list[str], left: Left) -> _Tags:
    """The feelings of some rows of the person; adds the labels in the source's words to `told`."""
    tags: _Tags = {}
    for row in rows:
        found = {**_labelled(row, mapping, told), **_rated(row, mapping)}
        for emotion, intensity in found.items():
            tags[emotion] = max(tags.get(emotion) or 0, intensity or 0) or None
    if mapping.columns.labels is None and not tags:
        raise LeftOut(UNFELT)
    return tags


def _labelled(row: Row, mapping: FeelingsMap, told: list[str]) -> _Tags:
    column = mapping.columns.labels
    if column is None:
        return {}
    value = row.needed(column, "columns.labels")
    tags: _Tags = {}
    for label in value if isinstance(value, (list, tuple)) else [value]:
        plain = word(label)
        if (emotions := mapping.by_label.get(plain.casefold())) is None:
            known = ", ".join(map(one_line, mapping.labels))
            advice = (
                f"add {show(plain)} to [labels] of {row.map}, or to [skip], "
                "or leave such rows out with --skip-invalid"
            )
            wanted = f"one of the map's labels: {known}"
            raise DataError(Problem(row.where, column, show(label), wanted, advice))
        told.append(plain)
        if emotions:
            tags |= dict.fromkeys(emotions, _intensity(row, mapping))
    return tags


def _rated(row: Row, mapping: FeelingsMap) -> _Tags:
    """The feelings whose rating is high enough; the highest, if several are of the same feeling."""
    tags: _Tags = {}
    for column, emotion in mapping.ratings.items():
        rating = _number(row, column, mapping)
        if rating is not None and rating >= (mapping.felt or 0):
            low, high = mapping.scale or (1, 7)
            tags[emotion] = max(tags.get(emotion) or 0, stretched(rating, low, high))
    return tags


def _intensity(row: Row, mapping: FeelingsMap) -> int | None:
    column = mapping.columns.intensity
    value = None if column is None else _number(row, column, mapping)
    return None if value is None or mapping.scale is None else stretched(value, *mapping.scale)


def _number(row: Row, column: str, mapping: FeelingsMap) -> float | None:
    return row.number(column, *(mapping.scale or (1, 7)))


def _notes(conversations: Conversations, mapping: FeelingsMap) -> Iterator[str]:
    if mapping.about:
        yield mapping.about
    turns = [turn for conversation in conversations for turn in conversation.turns]
    tagged = [
        {POLARITY[tag.emotion] for tag in turn.mood_shift_tags} for turn in turns if turn.mood_shift_tags
    ]
    counts = Counter("both" if len(sides) > 1 else min(sides) for sides in tagged)
    yield (
        f"turns with only positive feelings: {counts['positive']}, with only negative ones: "
        f"{counts['negative']}, with both: {counts['both']}"
    )
    if bare := sum(not turn.llm_response for turn in turns):
        yield (
            f"{bare} of {len(turns)} turns have no reply: ask and train only for feelings "
            "(stages assess), and do not score replies"
        )
