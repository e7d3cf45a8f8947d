"""The `truth` of a row: a request and what it pays for, as one JSON text.

It holds what reading and scoring a reply need and nothing more: what was asked (ids, options, the frame of
each comparison), the annotations that the row's parts read, and the parts with weights and nulls. No
prompt, no text of the conversation. It is the answer: never show it to the model that is trained.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attune_data.errors import DataError, Problem, show
from attune_data.version import SCORING_VERSION
from attune_episodes.request import Request, ShownComparison
from attune_rewards.portable import from_plain, to_plain
from attune_rewards.predictions import STAGES
from attune_rewards.reward import ScoredRequest


def write_truth(request: Request, scored: ScoredRequest) -> str:
    """The truth of one request, as JSON with its keys in a fixed order."""
    asked: dict[str, Any] = {}
    if request.questions:
        asked["questions"] = list(request.questions)
    if request.comparisons:
        asked["comparisons"] = [[c.number, c.index, c.swapped] for c in request.comparisons]
    if request.stage == "reflect":
        asked["options"] = {name: list(options) for name, options in request.options.items()}
        asked["changes"] = request.wants_change
    told = {
        "scoring": SCORING_VERSION,
        "conversation": request.conversation_id,
        "turn": request.turn,
        "stage": request.stage,
        "asked": asked,
        **to_plain(scored, changes=request.wants_change),
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def read_truth(text: str) -> tuple[Request, ScoredRequest]:
    """The request (without its messages and texts) and what it pays for.

    Raises DataError for a text that `write_truth` of this scoring version did not write.
    """
    try:
        told = json.loads(text)
    except (TypeError, ValueError) as error:
        raise _refused(show(text), f"it is no JSON ({error})") from error
    version = told.get("scoring") if isinstance(told, dict) else None
    if version != SCORING_VERSION:
        raise _refused(f"scoring version {show(version)}", f"this is {SCORING_VERSION}")
    try:
        request, scored = _read(told)
        scored.score(None)  # the weights make a mean
        return request, scored
    except (AttributeError, LookupError, TypeError, ValueError, ZeroDivisionError) as error:
        raise _refused(show(text), f"it does not read: {type(error).__name__} {error}") from error


def _read(told: Mapping[str, Any]) -> tuple[Request, ScoredRequest]:
    asked, stage, turn = told["asked"], told["stage"], told["turn"]
    if stage not in STAGES or (turn is None) != (stage == "reflect"):
        raise ValueError(f"no stage {stage!r} in turn {turn}")
    if not isinstance(told["conversation"], str) or not isinstance(turn, (int, type(None))):
        raise TypeError("conversation is a text, turn a number")
    questions = tuple(asked.get("questions", ()))
    scored = from_plain(told, told["conversation"], stage, turn, applicable=questions)
    compared = scored.turn.comparisons if scored.turn else ()
    request = Request(
        conversation_id=told["conversation"],
        turn=turn,
        stage=stage,
        messages=(),
        questions=questions,
        comparisons=tuple(
            ShownComparison(number, index, compared[index].question_id, "", "", swapped)
            for number, index, swapped in asked.get("comparisons", ())
        ),
        options={name: tuple(options) for name, options in asked.get("options", {}).items()},
        wants_change=asked.get("changes", False),
    )
    return request, scored


def _refused(found: str, why: str) -> DataError:
    return DataError(
        Problem("row", "truth", found, "the truth that to_dataset wrote", f"{why}; make the rows again")
    )
