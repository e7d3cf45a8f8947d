"""Texts and typed predictions as the answers to the requests of one step."""

from __future__ import annotations

import json

from gymnasium.error import InvalidAction

from attune_data.errors import show
from attune_episodes.gymnasium_envs.codec import check_prediction
from attune_episodes.gymnasium_envs.prepared import Asked
from attune_episodes.parsing import Unparsed, extract_object, parse, sound
from attune_rewards.predictions import Prediction, TurnPrediction

Answer = tuple[Prediction | Unparsed, str | None]
"""What was said to a request, and the raw text where there was one."""


def read_text(asked: tuple[Asked, ...], text: str) -> list[Answer]:
    """A model's text as `parse` reads it; of several requests each the object under its stage's name."""
    text = sound(text)
    if len(asked) == 1:
        return [(parse(asked[0].request, text), text)]
    found = extract_object(text)
    if isinstance(found, Unparsed):
        return [(found, text) for _ in asked]
    answers: list[Answer] = []
    for one in asked:
        part = found.get(one.request.stage)
        if part is None:
            answers.append((Unparsed("no_fields", f"no {one.request.stage}"), ""))
            continue
        own = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
        answers.append((parse(one.request, own), own))
    return answers


def read_typed(asked: tuple[Asked, ...], said: object) -> list[Answer]:
    """A prediction; of several requests a TurnPrediction, in which None is no answer.

    Raises InvalidAction for what belongs to another stage or turn, or is no prediction.
    """
    first = asked[0].request
    if isinstance(said, TurnPrediction) and first.turn is not None:
        if said.turn != first.turn:
            raise InvalidAction(f"the action answers turn {said.turn}, expected turn {first.turn}")
        return [_one_of(one, getattr(said, one.request.stage)) for one in asked]
    if len(asked) > 1:
        raise InvalidAction(
            f"turn {first.turn} asks {', '.join(one.request.stage for one in asked)}: expected a flat "
            f"action, text or TurnPrediction, found {show(said)} ({type(said).__name__})"
        )
    return [(check_prediction(first, said), None)]


def _one_of(one: Asked, said: Prediction | None) -> Answer:
    if said is None:
        return Unparsed("empty"), ""
    return check_prediction(one.request, said), None
