"""The list of a report's conversations: searched by what was said, sorted by how well a model read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from attune_data.schema import Conversation
from attune_env.analyses.by_score.shared import over_models
from attune_env.analyses.by_score.wording import names_of
from attune_env.analyses.study import Study
from attune_env.pages.assets import asset, environment
from attune_env.pages.conversation_html import conversation_pages, page_name
from attune_env.pages.facts import facts_of
from attune_env.pages.tables import CellView, HeadView, RowView, TableView
from attune_env.pages.visible import visible
from attune_env.report.cells import unrounded
from attune_env.report.table import DASH
from attune_env.report.tables import mode_text

SEARCHED = 20_000
"""Characters of a conversation that a search looks through."""
SHOWN = 160
"""Characters of a topic that the list shows."""


def page_names(study: Study, prefix: str = "") -> dict[str, str]:
    """Conversation id -> the file of its page, for every scored conversation of the study's mode at hand.

    Names differ also where case is not seen, and none is that of the list.
    """
    if study.conversations is None:
        return {}
    here = {entry["conversationId"] for entry in study.entries if entry["mode"] == study.mode}
    taken = {f"{prefix}index.html"}
    names = {}
    for identity in study.table.ids:
        if identity in here and identity in study.conversations.by_id:
            name, number = prefix + page_name(identity), 2
            while name.casefold() in taken:
                name = f"{prefix}{page_name(identity).removesuffix('.html')}-{number}.html"
                number += 1
            taken.add(name.casefold())
            names[identity] = name
    return names


def pages(study: Study, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(file name, page) of each conversation in `names`, made one at a time."""
    by_page = {page_name(identity): name for identity, name in names.items()}
    for file, text in conversation_pages(study):
        yield by_page[file], text


def index_page(study: Study, names: Mapping[str, str], title: str) -> str:
    """The list as one HTML page: a row a conversation, hardest first, with each model's leading Composite."""
    return environment().get_template("index.html").render(
        title=title,
        table=_table(study, names),
        mode=mode_text(study.mode),
        facts=facts_of(study),
        style=asset("style.css"),
        script=asset("page.js"),
    )  # fmt: skip


def _table(study: Study, names: Mapping[str, str]) -> TableView:
    values = study.table.metric(study.composite, study.keys)
    of_models = study.table.metric(study.composite, study.models)[:, :, None]
    means = over_models(of_models)[:, 0]
    places = {identity: row for row, identity in enumerate(study.table.ids)}
    hardest = sorted(names, key=lambda one: (np.nan_to_num(means[places[one]], nan=np.inf), one))
    by_id = study.conversations.by_id if study.conversations is not None else {}
    rows = []
    for identity in hardest:
        scores = (means[places[identity]], *values[places[identity]])
        rows.append(
            RowView(
                [
                    CellView(visible(identity, SHOWN), link=names[identity]),
                    CellView(_topic(by_id[identity])),
                    _number(len(by_id[identity].turns), 0),
                    *(_number(float(score), 1) for score in scores),
                ],
                search=_words(by_id[identity]),
            )
        )
    heads = [
        HeadView("conversation", False), HeadView("topic", False), HeadView("turns", True),
        HeadView("mean of models", True), *(HeadView(name, True) for name in names_of(study.keys)),
    ]  # fmt: skip
    reading = "strict" if study.reading == "strict" else "canonical"
    notes = [
        f"{reading} Composite of each conversation, points of 100; {_mean_text(study)}.",
        "A click on a head sorts: best first, then worst first. The filter also looks through what was said.",
    ]
    title = f"{len(rows)} conversations; mode {mode_text(study.mode)}"
    return TableView("conversations", title, heads, rows, notes)


def _mean_text(study: Study) -> str:
    real = any(not key[0].startswith("builtin/") for key in study.models)
    return "the mean is over models, not policies" if real else "the mean is over policies, the ceiling aside"


def _number(value: float, places: int) -> CellView:
    if np.isnan(value):
        return CellView(DASH, defined=False)
    return CellView(f"{value:.{places}f}", value=unrounded(value))


def _topic(conversation: Conversation) -> str:
    about = conversation.metadata
    parts = [part for part in (about.category, about.subtopic) if part] if about else []
    return visible(": ".join(parts) or (about.text if about else None) or DASH, SHOWN)


def _words(conversation: Conversation) -> str:
    """What a search finds besides the row: topic and what both said."""
    said = [conversation.metadata.text or ""] if conversation.metadata else []
    for turn in conversation.turns:
        said += [turn.user_message, turn.llm_response]
    return visible(" ".join(" ".join(said).split())[:SEARCHED], SEARCHED)
