"""The pages of a study as HTML: what each step shows, from the templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import Any, Final

import jinja2

from attune_env.study.fields import Field
from attune_env.study.folder import Study
from attune_env.study.redaction import redacted, words_in
from attune_env.study.steps import MACHINE, STEPS, may_end, progress
from attune_env.study.texts import asset
from attune_env.study.view import View

_BUTTONS: Final = {"consent": "agree", "say": "send", "debrief": "finish"}
"""Kind of step -> the name of its button's text, if it is not the usual one."""


SUMMED: Final = 5
"""The most errors that are listed above a form; each also stands beside its field."""


@dataclass(frozen=True)
class Said:
    """What a page says besides what its step asks."""

    values: Mapping[str, Any] | None = None
    """What was entered; None for a page that is shown for the first time."""
    troubles: Mapping[str, str] = field(default_factory=dict)
    """Field -> the name of what is wrong with it."""
    note: str = ""
    """The name of a text at the top."""
    failure: str = ""
    """The name of an error at the top."""
    failed: bool = False
    """Whether the model that the page waits for gave no answer."""


def step_page(view: View, home: str, said: Said) -> str:
    """The page of a step; `home` is the path of the participant's link."""
    texts, step = view.study.design.texts, STEPS[view.kind]
    fields = {one.name: one for one in step.fields(view)}
    done, total = progress(view.study, view.state)
    waits = view.kind in MACHINE and not said.failed
    title, paragraphs = _heading(view)
    turns = view.turns[: view.number or None] if step.transcript else []
    if view.kind == "redact":
        turns = _turns_without(view, words_in((said.values or {}).get("words")))
    replies = [(view.word("reply_number", number=at), text) for at, (_, text) in enumerate(view.masked, 1)]
    return render(
        view.study,
        "step.html",
        title,
        home=home,
        step=view.step,
        texts=paragraphs,
        progress=texts["progress"].format(part=texts[f"part_{step.part}"], done=done + 1, total=total),
        done=done,
        total=total,
        turns=turns,
        apart=step.part == 3,
        replies=replies if view.kind == "compare" else [],
        fields=list(fields.values()),
        values=said.values or {name: one.given for name, one in fields.items()},
        troubles={
            name: view.word(trouble, most=fields[name].most, low=fields[name].low, high=fields[name].high)
            for name, trouble in said.troubles.items()
        },
        amiss=_amiss([one for one in fields.values() if one.name in said.troubles]),
        note=texts.get(said.note, ""),
        failure=texts.get(said.failure, ""),
        failed=said.failed,
        waiting=texts["preparing" if view.kind == "alternate" else "writing"] if waits else "",
        button=texts[_BUTTONS.get(view.kind, "go_on")],
        second=_second(view),
    )


def message_page(study: Study, title: str, text: str, **given: Any) -> str:
    """A page with nothing to answer; `title` and `text` are names of texts."""
    texts = study.design.texts
    given = {"code": "", "url": "", "withdraw": ""} | given
    return render(study, "message.html", texts[title], text=texts[text], **given)


def render(study: Study, template: str, title: str, **given: Any) -> str:
    """A template filled in."""
    design = study.design
    return _templates().get_template(template).render(title=title, design=design, word=design.texts, **given)


def _second(view: View) -> tuple[str, str] | None:
    """The value and the text of a further button."""
    if view.kind == "redact":
        return "try", view.word("redact_try")
    return ("end", view.word("end")) if may_end(view) else None


def _heading(view: View) -> tuple[str, list[str]]:
    """The title of a step's page, and its paragraphs."""
    design = view.study.design
    if view.kind in ("own", "after"):
        return view.page.title, _paragraphs(view.page.text)
    text = {"consent": design.consent.text, "debrief": design.ending.debriefing}.get(view.kind)
    if text is None:
        assigned = view.kind == "topic" and view.topic
        text = view.word("text_topic_assigned" if assigned else f"text_{view.kind}", topic=view.topic)
    extra = [view.word("end_hint")] if may_end(view) else []
    return view.word(f"title_{view.kind}", number=view.number), [*_paragraphs(text), *extra]


def _amiss(fields: Sequence[Field]) -> list[tuple[str, str]]:
    """What the summary of a form's errors names: question -> its first wrong field; "…" for more."""
    first: dict[str, str] = {}
    for one in fields:
        first.setdefault(one.group or one.text, one.name)
    rest = [("…", "")] if len(first) > SUMMED else []
    return [*list(first.items())[:SUMMED], *rest]


def _paragraphs(text: str) -> list[str]:
    return [part.strip() for part in text.split("\n\n") if part.strip()]


def _turns_without(view: View, remove: list[str]) -> list[dict[str, Any]]:
    """The turns with the participant's own edits, without the words that are to be removed."""
    shown = []
    for turn in view.turns:
        edit = view.state.answer(f"edit.{turn['number']}").get("reply")
        reply = f"{turn['reply']}\n\n{view.word('edit')}:\n{edit}" if edit else turn["reply"]
        shown.append(redacted(turn | {"reply": reply}, remove, view.word("redacted")))
    return shown


@cache
def _templates() -> jinja2.Environment:
    """The templates, which escape everything that they show."""
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["groups"] = lambda fields: [list(held) for _, held in groupby(fields, lambda one: one.group)]
    return made
