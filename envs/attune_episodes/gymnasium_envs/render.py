"""`ChatEnv`, the common base of both environments; transcripts of truth, prediction and reward."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any, Final

import gymnasium
from gymnasium.error import ResetNeeded
from rich.console import Console
from rich.table import Table
from rich.text import Text

from attune_data.errors import SettingsError, printable, show
from attune_data.schema import Conversation
from attune_episodes.episode import Step
from attune_episodes.parsing import Unparsed, render
from attune_episodes.request import Request
from attune_rewards.predictions import Assess, AssessHP, Draft, Prediction, Prefer, Reflect
from attune_rewards.truth import ConversationTruth, truth_of

WIDTH: Final = 110
"""Width of an ansi transcript in columns."""
LONGEST: Final = 240
"""Most characters of a message that a transcript quotes."""
NO_ANSWER: Final = "–"


class ChatEnv(gymnasium.Env[dict[str, Any], Any]):
    """An environment with length-limited texts in its observations, and with transcripts."""

    metadata: dict[str, Any] = {  # noqa: RUF012  (Gymnasium's own declaration)
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
    }

    def __init__(self, max_chars: int, render_mode: str | None) -> None:
        if type(max_chars) is not int or max_chars < 1:
            raise SettingsError(f"max_chars is {show(max_chars)}; it must be a whole number, at least 1")
        known = self.metadata["render_modes"]
        if render_mode is not None and render_mode not in known:
            # a TypeError: helpers that ask every environment for "rgb_array" take it for "does not draw"
            raise TypeError(
                f"render_mode is {show(render_mode)}; expected one of {', '.join(known)}, or None"
            )
        self.max_chars = max_chars
        self.render_mode = render_mode

    def render(self) -> str | None:
        """Return the transcript so far, with truth and rewards, in mode ansi; None in other modes."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                'render() does nothing: make the environment with render_mode="ansi" or "human"'
            )
            return None
        shown = self._transcript()
        if shown is None:
            raise ResetNeeded("call reset() before render()")
        return shown if self.render_mode == "ansi" else None

    def _transcript(self) -> str | None:
        """The transcript; None before the first reset."""
        raise NotImplementedError


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
    return Text(one_line if len(one_line) <= LONGEST else f"{one_line[: LONGEST - 1]}…")
