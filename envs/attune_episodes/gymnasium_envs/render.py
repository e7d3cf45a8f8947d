"""Transcripts for people: truth, prediction and reward of each step side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from attune_data.errors import printable
from attune_data.schema import Conversation
from attune_episodes.episode import Step
from attune_episodes.parsing import Unparsed
from attune_episodes.request import Request
from attune_rewards.predictions import Assess, AssessHP, Draft, Prediction, Prefer, Reflect
from attune_rewards.truth import ConversationTruth, truth_of

WIDTH: Final = 110
"""Columns of an ansi transcript."""
LONGEST: Final = 240
"""Characters of a message that a transcript quotes."""
NO_ANSWER: Final = "–"


def transcript(conversation: Conversation, steps: Sequence[Step]) -> str:
    """The steps so far as plain text of `WIDTH` columns, control characters escaped."""
    out = StringIO()
    console = Console(file=out, width=WIDTH, color_system=None, force_terminal=False, emoji=False)
    print_opening(conversation, console)
    print_steps(conversation, steps, console)
    return out.getvalue()


def print_opening(conversation: Conversation, console: Console | None = None) -> None:
    """Prints which conversation begins."""
    line = _plain(f"{conversation.conversation_id}, {len(conversation.turns)} turns")
    (console or Console(emoji=False)).print(line, style="bold")


def print_steps(conversation: Conversation, steps: Sequence[Step], console: Console | None = None) -> None:
    """Prints answered requests."""
    console = console or Console(emoji=False)
    for step in steps:
        for part in _step(truth_of(conversation), step):
            console.print(part)


def _step(truth: ConversationTruth, step: Step) -> Iterator[Text | Table]:
    request, score = step.request, step.score
    place = "end" if request.turn is None else f"turn {request.turn}"
    yield Text("")
    if request.stage in ("draft", "assess"):
        yield _plain(f"{place}, they wrote: {_short(request.user_message)}")
    if request.stage == "assess":
        yield _plain(f"{place}, the reply: {_short(request.reply or '')}")
    table = Table(show_edge=False, pad_edge=False)
    for name in (f"{place} {request.stage}", "truth", "prediction"):
        table.add_column(name, overflow="fold")
    right = _cells(request, _truth(request, truth))
    said = {} if isinstance(step.outcome, Unparsed) else _cells(request, step.outcome)
    for label, cell in right.items():
        table.add_row(*map(_plain, (label, cell, said.get(label, NO_ANSWER))))
    yield table
    value = "not scored" if score.value is None else f"{score.value:.3f} x weight {score.weight:.4f}"
    parts = ", ".join(f"{name} {part:.3f}" for name, part in score.parts.items())
    yield _plain(f"reward {score.reward:.4f} ({value}; {step.status}{'; ' if parts else ''}{parts})")


def _truth(request: Request, truth: ConversationTruth) -> Prediction:
    """The annotations that answer a request, as a prediction."""
    turn = None if request.turn is None else truth.turn(request.turn)
    if turn is None:
        changes = {
            n: v - b for n, v in truth.post.items() if v is not None and (b := truth.pre[n]) is not None
        }
        return Reflect(
            panas={name: value for name, value in truth.post.items() if value is not None},
            panas_change=changes,
            q1=truth.q1,
            q2=truth.q2,
            q3=truth.q3,
            q3_follow_up=truth.q3_follow_up,
            branches=truth.branches,
        )
    if request.stage == "draft":
        return Draft(request.reply or "")
    if request.stage == "prefer":
        return Prefer(dict(turn.winners))
    observed, preferred = dict(turn.observed), dict(turn.preferred)
    return (
        Assess(turn.tags, observed, preferred) if request.stage == "assess" else AssessHP(observed, preferred)
    )


def _cells(request: Request, said: Prediction) -> dict[str, str]:
    """What is asked -> the answer."""
    if isinstance(said, Draft):
        return {"reply": _short(said.text) or NO_ANSWER}
    if isinstance(said, Prefer):
        return {
            f"{one.number}. {one.question}: {one.label_a} or {one.label_b}": NO_ANSWER
            if (pick := said.picks.get(one.index)) is None
            else f"A ({one.label_a})"
            if one.to_shown(pick) == "A"
            else f"B ({one.label_b})"
            for one in request.comparisons
        }
    if isinstance(said, Reflect):
        items = said.panas_change if request.wants_change else said.panas
        return {
            "PANAS changes" if request.wants_change else "PANAS items": _items(items or {}),
            "goals": _list(said.q1),
            "clarity": said.q2 or NO_ANSWER,
            "fit": said.q3 or NO_ANSWER,
            "felt off": _list(said.q3_follow_up),
            "branches": _items(said.branches),
        }
    cells: dict[str, str] = {}
    if isinstance(said, Assess):
        tags = said.tags
        cells["emotions"] = _list(
            None
            if tags is None
            else [f"{t.emotion} {'?' if t.intensity is None else t.intensity}" for t in tags]
        )
    for question in request.questions:
        did, should = (answers.get(question, NO_ANSWER) for answers in (said.observed, said.preferred))
        cells[f"{question} did it / should it"] = f"{did} / {should}"
    return cells


def _items(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items()) or NO_ANSWER


def _list(items: Sequence[str] | None) -> str:
    return NO_ANSWER if items is None else ", ".join(items) or "none"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _plain(text: str) -> Text:
    """The text as it stands: no markup, nothing that acts on a terminal."""
    return Text(printable(" ".join(text.split())))
