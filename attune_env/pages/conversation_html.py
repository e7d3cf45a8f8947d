"""The pages of a report's conversations, each one file that needs nothing besides itself, and their list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

import jinja2
import numpy as np

from attune_data.schema import Conversation
from attune_env.analyses.answers import scored_record
from attune_env.analyses.study import Study
from attune_env.pages.assets import environment, joined
from attune_env.pages.conversation import ConversationView, conversation_view
from attune_env.pages.facts import Fact, facts_of
from attune_env.pages.visible import visible
from attune_env.report.names import mode_text, short_names
from attune_env.report.table import DASH, Cell, Column, Table
from attune_env.results.files import safe_name

LONGEST: Final = 20_000
"""Characters of a prompt or a draft that a page shows, and that a search in the list looks through."""
SAID: Final = 200_000
"""Characters of a message or reply of the conversation."""
CELL: Final = 2_000
"""Characters of an answer in a grid."""
REPLIES: Final = 100_000
"""Characters of raw replies on a page, all models together; one that could not be read has more room."""
LEAST, TROUBLED = 200, 4_000
SHOWN: Final = 160
"""Characters of a topic in the list."""


def page_names(study: Study, prefix: str = "") -> dict[str, str]:
    """Conversation id -> the file of its page, for every scored conversation of the mode that is available.

    Names differ also where case is not seen, and none is that of the list.
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
    facts = facts_of(study)
    short = dict(zip(study.keys, short_names([key[0] for key in study.keys]), strict=True))
    entries = {(e["conversationId"], (e["em_model"], e["mode"])): e for e in study.entries}
    for identity, conversation in zip(study.table.ids, study.records, strict=True):
        if identity not in names or conversation is None:
            continue
        found = [
            (short[key], entry, record)
            for key in study.keys
            if (entry := entries.get((identity, key))) is not None
            and study.results is not None
            and (record := scored_record(study.results, entry)) is not None
        ]
        view = conversation_view(
            conversation,
            [record for _, _, record in found],
            mode=study.mode,
            names=[name for name, _, _ in found],
            scores=[entry for _, entry, _ in found],
        )
        yield names[identity], conversation_page(view, home=home, facts=facts)


def conversation_page(view: ConversationView, *, home: str = "", facts: Sequence[Fact] = ()) -> str:
    """The page of one conversation.

    Args:
        view: what it shows.
        home: where the report stands, relative to the page; no link without it.
        facts: what stands at its foot.
    """
    replies = sum(len(asked.replies) for stretch in view.stretches for asked in stretch.asked)
    most = max(LEAST, min(LONGEST, REPLIES // max(1, replies)))
    return _template().render(
        view=view,
        home=home,
        facts=facts,
        cell=CELL,
        longest=LONGEST,
        said=SAID,
        most=most,
        troubled=TROUBLED,
        style=joined("style.css", "conversation.css"),
        script=joined("page.js", "conversation.js"),
    )


@lru_cache(maxsize=1)
def _template() -> jinja2.Template:
    return environment().get_template("conversation.html")


def index_page(study: Study, names: Mapping[str, str], title: str) -> str:
    """The list as one HTML page: a row per conversation, hardest first, with each model's Composite."""
    values = study.table.metric(study.composite, study.keys)
    means = study.over_models(study.composite)
    records = dict(zip(study.table.ids, study.records, strict=True))
    places = {identity: row for row, identity in enumerate(study.table.ids)}
    hardest = sorted(names, key=lambda one: (np.nan_to_num(means[places[one]], nan=np.inf), one))
    real = "models" if not study.only_policies else "policies without the ceiling"
    short = short_names([key[0] for key in study.keys])
    table = Table(
        f"{len(hardest)} conversations; mode {mode_text(study.mode)}",
        ("conversation", "topic", "turns", Column(f"mean of {real}", places=1),
         *(Column(name, places=1) for name in short)),
        notes=[
            f"{study.variant} Composite of each conversation, points of 100.",
            "A click on a head sorts: best first, then worst first. The filter also looks through what "
            "was said.",
        ],
    )  # fmt: skip
    for identity in hardest:
        record, row = records[identity], places[identity]
        assert record is not None  # it has a page
        scores: list[Cell] = [None if np.isnan(one) else float(one) for one in (means[row], *values[row])]
        table.rows.append((visible(identity, SHOWN), _topic(record), len(record.turns), *scores))
    return environment().get_template("index.html").render(
        title=title,
        table=table,
        links=[names[identity] for identity in hardest],
        words=[_words(record) for identity in hardest if (record := records[identity])],
        mode=mode_text(study.mode),
        facts=facts_of(study),
        style=joined("style.css"),
        script=joined("page.js"),
    )  # fmt: skip


def _topic(conversation: Conversation) -> str:
    about = conversation.metadata
    parts = [part for part in (about.category, about.subtopic) if part] if about else []
    return visible(": ".join(parts) or (about.text if about else None) or DASH, SHOWN)


def _words(conversation: Conversation) -> str:
    """The text that a search looks through besides the row: topic and messages."""
    said = [conversation.metadata.text or ""] if conversation.metadata else []
    for turn in conversation.turns:
        said += [turn.user_message, turn.llm_response]
    return visible(" ".join(" ".join(said).split())[:LONGEST], LONGEST)
