"""`parse_judgement`: a judge's text to its ratings and answers, or to the reason why it holds none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attune_episodes.judging.request import JudgeRequest
from attune_episodes.parsing import Unparsed, extract_object
from attune_episodes.parsing.parse import read_answers, read_numbers
from attune_rewards.predictions import YesNo


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judge's ratings and answers about one draft."""

    scores: Mapping[str, int] = field(default_factory=dict)
    """Dimension -> 1–7; what was not rated validly is not there."""
    answers: Mapping[str, YesNo] = field(default_factory=dict)
    """Question id -> answer about the draft; what was not answered validly is not there."""


def parse_judgement(request: JudgeRequest, text: str | None) -> Judgement | Unparsed:
    """Read a judge's reply. Never raises on a reply; None, as some clients give, is an empty text.

    Read as every other reply (`attune_episodes.parsing`), with the same codes. Within the object each value
    stands for itself. A reply that rates nothing and answers nothing that was asked is `no_fields`.
    """
    found = extract_object(text or "")
    if isinstance(found, Unparsed):
        return found
    said = Judgement(
        read_numbers(found.get("scores"), request.dimensions, 1, 7),
        read_answers(found.get("answers"), request.questions),
    )
    if not (said.scores or said.answers):
        wanted = [n for n, asked in (("scores", request.dimensions), ("answers", request.questions)) if asked]
        return Unparsed("no_fields", f"nothing valid in {' and '.join(wanted)}")
    return said
