"""A conversation as one HTML page that needs nothing besides itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import jinja2
from markupsafe import Markup, escape

from attune_env.analyses.by_score.wording import names_of
from attune_env.analyses.items import scored_record
from attune_env.analyses.study import Study
from attune_env.pages.assets import asset, environment
from attune_env.pages.conversation import ConversationView, conversation_view
from attune_env.pages.conversation_grids import Grid
from attune_env.pages.facts import Fact, facts_of
from attune_env.pages.visible import visible
from attune_env.results.files import safe_name

LONGEST: Final = 20_000
"""Characters of a prompt or a draft that a page shows."""
SAID: Final = 200_000
"""Characters of a message or reply of the conversation that a page shows."""
CELL: Final = 2_000
"""Characters of an answer in a grid."""
REPLIES: Final = 100_000
"""Characters of raw replies on a page, all models together; one that could not be read has more room."""
LEAST, TROUBLED = 200, 4_000


def page_name(conversation_id: str) -> str:
    """The file name of a conversation's page."""
    return f"{safe_name(conversation_id)}.html"


def conversation_pages(study: Study, *, home: str = "../report.html") -> Iterator[tuple[str, str]]:
    """(file name, page) of every scored conversation of the study's mode that is at hand, one after another.

    Models stand in the study's order; a model without a result for a conversation is not on its page.
    Without a folder of results the pages show the annotations alone.
    """
    if study.conversations is None:
        return
    by_id, facts = study.conversations.by_id, facts_of(study)
    names = dict(zip(study.keys, names_of(study.keys), strict=True))
    entries = {(e["conversationId"], (e["em_model"], e["mode"])): e for e in study.entries}
    for identity in study.table.ids:
        found = [
            (names[key], entry, record)
            for key in study.keys
            if (entry := entries.get((identity, key))) is not None
            and study.results is not None
            and (record := scored_record(study.results, entry)) is not None
        ]
        if identity in by_id and any((identity, key) in entries for key in study.keys):
            view = conversation_view(
                by_id[identity],
                [record for _, _, record in found],
                mode=study.mode,
                names=[name for name, _, _ in found],
                scores=[entry for _, entry, _ in found],
            )
            yield page_name(identity), conversation_page(view, home=home, facts=facts)


def conversation_page(view: ConversationView, *, home: str = "", facts: Sequence[Fact] = ()) -> str:
    """The page of one conversation.

    Args:
        view: what it shows.
        home: where the report stands, relative to the page; no link without it.
        facts: what stands at its foot.
    """
    replies = sum(len(asked.replies) for stretch in view.stretches for asked in stretch.asked)
    return _template().render(
        view=view,
        home=home,
        facts=facts,
        grid=lambda one: grid_markup(one, view.models),
        show=visible,
        longest=LONGEST,
        said=SAID,
        most=max(LEAST, min(LONGEST, REPLIES // max(1, replies))),
        troubled=TROUBLED,
        style=_joined("style.css", "conversation.css"),
        script=_joined("page.js", "conversation.js"),
    )


@lru_cache(maxsize=1)
def _template() -> jinja2.Template:
    return environment().get_template("conversation.html")


@lru_cache(maxsize=4)
def _joined(*names: str) -> str:
    return "\n".join(map(asset, names))


def grid_markup(grid: Grid, models: Sequence[str]) -> Markup:
    """A grid as a table; made here rather than in a template, since a page has thousands of cells."""
    heads = "".join([f'<th scope="col">{_text(head)}</th>' for head in grid.heads])
    heads += "".join([f'<th scope="col"><bdi>{_text(name)}</bdi></th>' for name in models])
    labels = [texts for texts, _ in grid.rows]
    rows = "".join(
        [
            f"<tr>{_texts(texts, _spanned(labels, i))}{''.join([_cell(*cell) for cell in cells])}</tr>\n"
            for i, (texts, cells) in enumerate(grid.rows)
        ]
    )
    return Markup(
        f'<div class="table grid" role="region" tabindex="0" aria-label="{escape(grid.title)}">'
        f'<table data-models="{len(models)}"><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{rows}</tbody></table></div>"
    )


def _spanned(labels: Sequence[tuple[str, ...]], row: int) -> int:
    """How many rows the first two columns of a row stand for: those below that leave them empty."""
    below = row + 1
    while below < len(labels) and labels[below][:2] == ("", ""):
        below += 1
    return below - row


@lru_cache(maxsize=4096)
def _texts(texts: tuple[str, ...], rows: int) -> str:
    if texts[:2] == ("", ""):  # under the cells of the row above
        return "".join([_cell(text, None) for text in texts[2:]])
    head, *rest = texts
    if rows == 1:
        return f'<th scope="row">{_text(head)}</th>' + "".join([_cell(text, None) for text in rest])
    return (
        f'<th scope="rowgroup" rowspan="{rows}">{_text(head)}</th>'
        f'<td class="wide" rowspan="{rows}">{_text(rest[0])}</td>'
        + "".join([_cell(text, None) for text in rest[1:]])
    )


@lru_cache(maxsize=4096)
def _cell(text: str, right: bool | None) -> str:
    # what is right or wrong is said by the style sheet, for eyes and ears: a page has thousands of cells
    kind = "" if right is None else ' class="hit"' if right else ' class="miss"'
    side = "" if text.isascii() else ' dir="auto"'
    return f"<td{kind}{side}>{_text(text)}</td>"


def _text(text: str) -> Markup:
    return escape(visible(text, CELL))
