"""Transcripts: truth, prediction and reward of each step side by side, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, Protocol

from rich.console import Console
from rich.table import Table
from rich.text import Text

from attune_data.errors import printable
from attune_data.schema import Conversation
from attune_episodes.parsing import Unparsed
from attune_episodes.request import Request
from attune_rewards.predictions import Assess, AssessHP, Draft, Prediction, Prefer, Reflect, Tag
from attune_rewards.reward import Score
from attune_rewards.truth import ConversationTruth, TurnTruth, truth_of

WIDTH = 110
"""Columns of an ansi transcript."""
SHOWN = 240
"""Characters of a message that a transcript shows."""
NO_ANSWER = "–"
Row = tuple[str, str, str]
"""What was asked, the truth, the prediction."""


class Answered(Protocol):
    """One request, what was said to it and what it earned."""

    @property
    def request(self) -> Request:
        """What was asked."""

    @property
    def outcome(self) -> Prediction | Unparsed:
        """What was said."""

    @property
    def score(self) -> Score:
        """What it earned."""

    @property
    def status(self) -> str:
        """`ok` or `unparsed:<code>`."""


def transcript(conversation: Conversation, done: Sequence[Answered]) -> str:
    """The steps so far as plain text of `WIDTH` columns, control characters escaped."""
    out = StringIO()
    console = Console(file=out, width=WIDTH, color_system=None, force_terminal=False, emoji=False)
    _opening(console, conversation)
    for one in done:
        _step(console, conversation, one)
    return out.getvalue()


def show_opening(conversation: Conversation) -> None:
    """Prints which conversation begins."""
    _opening(Console(emoji=False), conversation)


def show_step(conversation: Conversation, done: Sequence[Answered]) -> None:
    """Prints the requests of the step that was just taken."""
    console = Console(emoji=False)
    for one in done:
        _step(console, conversation, one)


def _opening(console: Console, conversation: Conversation) -> None:
    console.print(_plain(f"{conversation.conversation_id}, {len(conversation.turns)} turns"), style="bold")


def _step(console: Console, conversation: Conversation, one: Answered) -> None:
    request, score = one.request, one.score
    place = "end" if request.turn is None else f"turn {request.turn}"
    console.print()
    if request.stage in ("draft", "assess"):
        console.print(_plain(f"{place}, they wrote: {_short(request.user_message)}"))
    if request.stage == "assess":
        console.print(_plain(f"{place}, the reply: {_short(request.reply or '')}"))
    value = "not scored" if score.value is None else f"{score.value:.3f} x weight {score.weight:.4f}"
    table = Table(title=None, show_edge=False, pad_edge=False)
    for name in (f"{place} {request.stage}", "truth", "prediction"):
        table.add_column(name, overflow="fold")
    for row in rows(request, truth_of(conversation), one):
        table.add_row(*map(_plain, row))
    console.print(table)
    parts = ", ".join(f"{name} {part:.3f}" for name, part in score.parts.items())
    console.print(_plain(f"reward {score.reward:.4f} ({value}; {one.status}{'; ' if parts else ''}{parts})"))


def rows(request: Request, truth: ConversationTruth, one: Answered) -> list[Row]:
    """What was asked, what the person said and what was predicted, line by line."""
    said = None if isinstance(one.outcome, Unparsed) else one.outcome
    turn = None if request.turn is None else truth.turn(request.turn)
    if request.stage == "draft":
        return [("reply", _short(request.reply or ""), _short(said.text) if isinstance(said, Draft) else "–")]
    if turn is None:
        return list(_reflect(request, truth, said if isinstance(said, Reflect) else Reflect()))
    if request.stage == "prefer":
        return list(_prefer(request, turn, said if isinstance(said, Prefer) else Prefer()))
    found: list[Row] = []
    if request.stage == "assess":
        tags = said.tags if isinstance(said, Assess) else None
        found.append(("emotions", _tags(turn.tags), _tags(tags)))
    answers = said if isinstance(said, (Assess, AssessHP)) else AssessHP()
    did, should = dict(turn.observed), dict(turn.preferred)
    for q in request.questions:
        truths = did.get(q, NO_ANSWER), should.get(q, NO_ANSWER)
        given = answers.observed.get(q, NO_ANSWER), answers.preferred.get(q, NO_ANSWER)
        wrong = any(want in ("yes", "no") and want != said for want, said in zip(truths, given, strict=True))
        cells = (f"{did_it:3} / {should_it}" for did_it, should_it in (truths, given))
        label = "did it / should it" if q == request.questions[0] else ""
        found.append((f"{q:5} {label}".rstrip(), next(cells), next(cells) + (" (wrong)" if wrong else "")))
    return found


def _prefer(request: Request, turn: TurnTruth, said: Prefer) -> Iterator[Row]:
    winners = dict(turn.winners)
    for shown in request.comparisons:
        sides = {"A": shown.label_a, "B": shown.label_b}
        cells = [
            NO_ANSWER if pick is None else f"{(letter := shown.to_shown(pick))} ({sides[letter]})"
            for pick in (winners.get(shown.index), said.picks.get(shown.index))
        ]
        yield f"{shown.number}. {shown.question}: {shown.label_a} or {shown.label_b}", cells[0], cells[1]


def _reflect(request: Request, truth: ConversationTruth, said: Reflect) -> Iterator[Row]:
    if request.wants_change:
        moved = {
            name: after - before
            for name, after in truth.post.items()
            if after is not None and (before := truth.pre[name]) is not None
        }
        yield "PANAS changes", _items(moved), _items(said.panas_change or {})
    else:
        yield "PANAS items", _items(truth.post), _items(said.panas)
    yield "goals", _list(truth.q1), _list(said.q1)
    yield "clarity", truth.q2 or NO_ANSWER, said.q2 or NO_ANSWER
    yield "fit", truth.q3 or NO_ANSWER, said.q3 or NO_ANSWER
    yield "felt off", _list(truth.q3_follow_up), _list(said.q3_follow_up)
    yield "branches", _items(truth.branches), _items(said.branches)


def _tags(tags: Sequence[Tag] | None) -> str:
    if tags is None:
        return NO_ANSWER
    return ", ".join(f"{t.emotion} {'?' if t.intensity is None else t.intensity}" for t in tags) or "none"


def _items(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items() if value is not None) or NO_ANSWER


def _list(items: Sequence[str] | None) -> str:
    return NO_ANSWER if items is None else "; ".join(items) or "none"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _plain(text: str) -> Text:
    """The text as it stands: no markup, nothing that acts on a terminal."""
    return Text(printable(" ".join(text.split())))
