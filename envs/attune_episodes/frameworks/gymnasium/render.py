"""Transcripts of truth, prediction and reward."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from attune_data.errors import printable
from attune_data.format.schema import Conversation
from attune_episodes.parsing import Unparsed, render
from attune_episodes.play.episode import Step
from attune_episodes.protocol.request import Request
from attune_rewards.predictions import Assess, AssessHP, Draft, Prediction, Prefer, Reflect
from attune_rewards.truth import ConversationTruth, truth_of

WIDTH: Final = 110
"""Width of an ansi transcript in columns."""
LONGEST_QUOTE: Final = 240
"""Most characters of a message that a transcript quotes."""
NO_ANSWER: Final = "–"


def transcript(conversation: Conversation, steps: Sequence[Step]) -> str:
    """The steps so far as plain text, `WIDTH` columns wide, with control characters escaped."""
    out = StringIO()
    console = Console(file=out, width=WIDTH, color_system=None, force_terminal=False, emoji=False)
    print_opening(conversation, console)
    print_steps(conversation, steps, console)
    return out.getvalue()


def print_opening(conversation: Conversation, console: Console | None = None) -> None:
    """Print which conversation begins."""
    line = _plain(f"{conversation.conversation_id}, {len(conversation.turns)} turns")
    (console or Console(emoji=False)).print(line, style="bold")


def print_steps(conversation: Conversation, steps: Sequence[Step], console: Console | None = None) -> None:
    """Print answered requests."""
    console = console or Console(emoji=False)
    for step in steps:
        for part in _step(truth_of(conversation), step):
            console.print(part)


def _step(truth: ConversationTruth, step: Step) -> Iterator[Text | Table]:
    request, score = step.request, step.score
    place = "end" if request.turn is None else f"turn {request.turn}"
    yield Text("")
    if request.stage in ("draft", "assess"):
        yield _plain(f"{place}, they wrote: {request.user_message}")
    if request.stage == "assess":
        yield _plain(f"{place}, the reply: {request.reply or ''}")
    table = Table(show_edge=False, pad_edge=False)
    for name in (f"{place} {request.stage}", "truth", "prediction"):
        table.add_column(name, overflow="fold")
    right = _cells(request, _truth(request, truth))
    said = {} if isinstance(step.outcome, Unparsed) else _cells(request, step.outcome)
    for label in right | said:
        table.add_row(*map(_plain, (label, right.get(label, NO_ANSWER), said.get(label, NO_ANSWER))))
    yield table
    value = "not scored" if score.value is None else f"{score.value:.3f} x weight {score.weight:.4f}"
    parts = ", ".join(f"{name} {part:.3f}" for name, part in score.parts.items())
    yield _plain(f"reward {score.reward:.4f} ({value}; {step.status}{'; ' if parts else ''}{parts})")


def _truth(request: Request, truth: ConversationTruth) -> Prediction:
    turn = None if request.turn is None else truth.turn(request.turn)
    if turn is None:
        after = {name: value for name, value in truth.post.items() if value is not None}
        change = {
            name: value - before for name, value in after.items() if (before := truth.pre[name]) is not None
        }
        return Reflect(after, panas_change=change, q1=truth.q1, q2=truth.q2, q3=truth.q3,
                       q3_follow_up=truth.q3_follow_up, branches=truth.branches)  # fmt: skip
    if request.stage == "draft":
        return Draft(request.reply or "")
    if request.stage == "prefer":
        return Prefer(dict(turn.winners))
    observed, preferred = dict(turn.observed), dict(turn.preferred)
    if request.stage == "assess_hp":
        return AssessHP(observed, preferred)
    return Assess(turn.tags, observed, preferred)


def _cells(request: Request, said: Prediction) -> dict[str, str]:
    """Field of the answer (for picks, the comparison) -> its value as text."""
    cells: dict[str, str] = {}
    for name, value in json.loads(render(request, said)).items():
        if name == "picks":
            for shown in request.comparisons:
                pick = value.get(str(shown.number))
                label = shown.label_a if pick == "A" else shown.label_b
                asked = f"{shown.number}. {shown.question}: {shown.label_a} or {shown.label_b}"
                cells[asked] = NO_ANSWER if pick is None else f"{pick} ({label})"
        elif value or not isinstance(value, dict):
            cells[name] = _told(value)
    return cells


def _told(value: Any) -> str:
    """Format tags as `Upset 5, Proud`, answers as `B1 yes, B2 no`, and an empty list as `none`."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {one}" for key, one in value.items())
    if not isinstance(value, list):
        return str(value)
    texts = (" ".join(map(str, one.values())) if isinstance(one, dict) else str(one) for one in value)
    return ", ".join(texts) or "none"


def _plain(text: str) -> Text:
    """The text without markup or anything that could affect a terminal, truncated if it is long."""
    one_line = printable(" ".join(text.split()))
    return Text(one_line if len(one_line) <= LONGEST_QUOTE else f"{one_line[: LONGEST_QUOTE - 1]}…")
