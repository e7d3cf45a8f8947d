"""A live conversation for people to read: what was said, felt, wanted, read and earned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Final

from attune_data.codebook import Codebook
from attune_data.errors import printable
from attune_episodes.live.episode import LiveEpisode, LiveTurn
from attune_episodes.live.questions import Felt

WIDTH: Final = 110
"""The width of a transcript, in columns."""
LONGEST: Final = 1_200
"""The most characters of a text that a transcript quotes."""
SHOWN: Final = 3
"""How many wants of each sign are shown, the strongest first."""
_LABEL: Final = 11


def transcript(live: LiveEpisode) -> str:
    """The turns so far and the total, with control characters escaped."""
    return "\n".join([*lines_of(live), *closing(live)])


def lines_of(live: LiveEpisode) -> Iterator[str]:
    """The turns so far, line by line."""
    for number, (turn, felt) in enumerate(zip(live.turns, live.felt, strict=True), 1):
        yield from turn_lines(number, turn, felt)
        yield ""


def turn_lines(number: int, turn: LiveTurn, felt: Felt) -> Iterator[str]:
    """One turn: message and reply, then the person's state and how the reply was read."""
    yield f"turn {number}: {turn.reward:+.3f}"
    yield from _labelled("they said", [turn.message])
    yield from _labelled("you said", [turn.reply or "(nothing)"])
    yield from _labelled(
        "they felt", [", ".join(f"{item} {strength}" for item, strength in felt.tags) or "no shift"]
    )
    ranked = sorted(felt.wants.items(), key=lambda one: (-one[1], one[0]))
    yield from _labelled("wanted", [_asked(q, f"{v:+.2f}") for q, v in ranked[:SHOWN] if v > 0])
    yield from _labelled("unwanted", [_asked(q, f"{v:+.2f}") for q, v in ranked[::-1][:SHOWN] if v < 0])
    read = [
        _asked(q, f"{p:.2f}, credited {turn.heard.done[q]:.2f}" if q in turn.heard.done else f"{p:.2f}")
        for q, p in turn.reading.probabilities.items()
        if turn.reading.says(q)
    ]
    claims = dict.fromkeys(claim.family for claim in turn.reading.claims)
    yield from _labelled(
        "read as", [*read, *([f"saying that they feel {', '.join(claims)}"] if claims else [])]
    )
    worth = turn.taken
    parts = {
        "wanted": worth.wanted,
        "unwanted": worth.unwanted,
        "the feeling": worth.claim,
        "length": worth.length,
        "said before": worth.stale,
    }
    told = ", ".join(f"{name} {value + 0.0:+.2f}" for name, value in parts.items())
    yield from _labelled("worth", [f"{worth.worth:+.2f} ({told})"])
    yield from _labelled("then", [f"the person {turn.answer}"])


def closing(live: LiveEpisode) -> Iterator[str]:
    """The total, and how it ended."""
    if live.done and live.turns[-1].answer == "leaves":
        yield from _labelled("they said", [live.message])
    lost = live.length - len(live.turns) if live.done else 0
    ended = f", {lost} turns lost because they left" if lost else ""
    yield f"total {live.total:+.3f}{ended} (0: the best goal-blind replies; 1: the oracle)"


def _asked(question: str, value: str) -> str:
    """What a question asks about a reply, in the codebook's words, with a number."""
    text = Codebook.own().binary_text(question, observer=True)
    return f"{text.removeprefix('Did the reply ').removesuffix('?')} ({question} {value})"


def _labelled(label: str, texts: Iterable[str]) -> Iterator[str]:
    """Texts under one label, wrapped to `WIDTH`; no lines if there are none."""
    for text in texts:
        shown = printable(" ".join(text.split()))
        shown = shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
        for line in wrap(shown, WIDTH - _LABEL) or [""]:
            yield f"{label:<{_LABEL}}{line}".rstrip()
            label = ""
