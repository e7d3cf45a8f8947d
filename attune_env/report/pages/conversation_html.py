"""The pages of a report's conversations, each a self-contained file, and their index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from attune_data.format.schema import Conversation
from attune_env.report.analyses.study import Study
from attune_env.report.pages.assets import environment, joined
from attune_env.report.pages.conversation import ConversationView, conversation_view, topic_of
from attune_env.report.pages.notes import Note, notes_of
from attune_env.report.pages.visible import visible
from attune_env.results.files import safe_name
from attune_env.tables.cells import DASH, Column
from attune_env.tables.labels import mode_text, short_names
from attune_rewards.bootstrap import known

LONGEST_TEXT: Final = 20_000
"""Characters of a prompt or a draft that a page shows, and that the filter of the index searches."""
SAID: Final = 200_000
"""Characters of a message or reply of the conversation."""
CELL: Final = 2_000
"""Characters of an answer in a grid."""
REPLIES: Final = 100_000
"""Characters of raw replies on a page, all models together; a reply that could not be read has more room."""
LEAST, TROUBLED = 200, 4_000
LONGEST_TITLE: Final = 160
"""Characters of a topic in the list."""


def page_names(study: Study, prefix: str = "") -> dict[str, str]:
    """Conversation id -> the file of its page, for every scored conversation of the mode that is available.

    Names differ even without case, and none is that of the index.
    """
    here = {entry["conversationId"] for entry in study.entries if entry["mode"] == study.mode}
    taken = {f"{prefix}index.html"}
    names = {}
    for identity, record in zip(study.table.ids, study.records, strict=True):
        if identity in here and record is not None:
            stem, number = f"{prefix}{safe_name(identity)}", 2
            name = f"{stem}.html"
            while name.casefold() in taken:
                name, number = f"{stem}-{number}.html", number + 1
            taken.add(name.casefold())
            names[identity] = name
    return names


def pages(study: Study, names: Mapping[str, str], home: str = "../report.html") -> Iterator[tuple[str, str]]:
    """(file name, page) of each conversation in `names`, one after another.

    Models come in the study's order; a model without a result for a conversation is not on its page.
    Without a folder of results the pages show the annotations alone.
    """
    footer = notes_of(study)
    short = dict(zip(study.keys, short_names([key[0] for key in study.keys]), strict=True))
    entries = {(e["conversationId"], (e["em_model"], e["mode"])): e for e in study.entries}
    for identity, conversation in zip(study.table.ids, study.records, strict=True):
        if identity not in names or conversation is None:
            continue
        answered = [
            (name, entry, record, study.scored.prediction(record, conversation))
            for key, name in short.items()
            if study.scored is not None
            and (entry := entries.get((identity, key))) is not None
            and (record := study.scored.record(entry)) is not None
        ]
        shown, scores, records, predictions = (
            (list(column) for column in zip(*answered, strict=True)) if answered else ([], [], [], [])
        )
        view = conversation_view(
            conversation, records, predictions, mode=study.mode, names=shown, scores=scores
        )
        yield names[identity], conversation_page(view, home=home, footer=footer)


def conversation_page(view: ConversationView, *, home: str = "", footer: Sequence[Note] = ()) -> str:
    """The page of one conversation.

    Args:
        view: what it shows.
        home: path of the report, relative to the page; without it there is no link.
        footer: the notes below it.
    """
    replies = sum(len(asked.replies) for stretch in view.stretches for asked in stretch.asked)
    return (
        environment()
        .get_template("conversation.html")
        .render(
            view=view,
            home=home,
            footer=footer,
            cell=CELL,
            longest=LONGEST_TEXT,
            said=SAID,
            most=max(LEAST, min(LONGEST_TEXT, REPLIES // max(1, replies))),
            troubled=TROUBLED,
            style=joined("style.css", "conversation.css"),
            script=joined("page.js", "conversation.js"),
        )
    )


def index_page(study: Study, names: Mapping[str, str]) -> str:
    """The index as one HTML page: a row per conversation, hardest first, with each model's Composite."""
    values = np.column_stack(
        [study.over_models(study.composite), study.table.metric(study.composite, study.keys)]
    )
    found = [
        (identity, record, scores)
        for identity, record, scores in zip(study.table.ids, study.records, values, strict=True)
        if identity in names and record is not None
    ]
    found.sort(key=lambda one: (np.nan_to_num(one[2][0], nan=np.inf), one[0]))
    real = "models" if not study.only_policies else "policies without the oracle"
    alone = len(study.models) == 1
    heads = [*([] if alone else [f"mean of {real}"]), *short_names([key[0] for key in study.keys])]
    table = study.sheet(
        "conversations",
        f"{len(found)} conversations",
        ("conversation", "topic", "turns", *(Column(name, places=1) for name in heads)),
        (
            (visible(identity, LONGEST_TITLE), _topic(record), len(record.turns), *map(known, scores[alone:]))
            for identity, record, scores in found
        ),
        notes=[
            f"{study.variant} Composite of each conversation, points of 100.",
            "Click a model's heading to sort by it, best first; click again for worst first. The filter also "
            "searches what was said.",
        ],
    )
    return (
        environment()
        .get_template("index.html")
        .render(
            title="Conversation by conversation",
            table=table,
            links=[names[identity] for identity, _, _ in found],
            words=[_words(record) for _, record, _ in found],
            mode=mode_text(study.mode),
            footer=notes_of(study),
            style=joined("style.css"),
            script=joined("page.js"),
        )
    )


def _topic(conversation: Conversation) -> str:
    about = conversation.metadata
    return visible(topic_of(conversation) or (about.text if about else None) or DASH, LONGEST_TITLE)


def _words(conversation: Conversation) -> str:
    """The text that the filter searches besides the row: topic and messages."""
    said = [conversation.metadata.text or ""] if conversation.metadata else []
    for turn in conversation.turns:
        said += [turn.user_message, turn.llm_response]
    return visible(" ".join(" ".join(said).split())[:LONGEST_TEXT], LONGEST_TEXT)
