"""Pinned people: a folder of cards and answers, from which the same people are played again, offline.

`attune people play` leaves such a folder: `plan.jsonl`, `cast.json` and `answers.jsonl`. Published, it gives
everybody the same people, as far as they are asked the same: what a person says to a new reply is nowhere in
it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem, show
from attune_data.jsonio import parse_json, read_json, read_text
from attune_episodes.people.asks import ASSISTANTS, PERSON, READER, Ask, Cast, Hand, answered
from attune_episodes.people.cards import Card, read_plan
from attune_episodes.people.play import Played, play

PLAN: Final = "plan.jsonl"
ANSWERS: Final = "answers.jsonl"
CAST: Final = "cast.json"
SHIPPED: Final = Path(__file__).with_name("shipped")
"""Three people that come with the package, for tests and for a first episode without an endpoint."""


class Pinned:
    """An answerer that knows the answers in a folder and asks nobody."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.cards: list[Card] = read_plan(self.folder / PLAN)
        """The cards of its plan."""

    @cached_property
    def cast(self) -> Cast:
        """Who played which hand, under whose names the answers are pinned."""
        path = self.folder / CAST
        found = read_json(path)
        try:
            hands = {name: Hand(**about) for name, about in found["hands"].items()}
            return Cast(
                hands[PERSON], tuple(hands[name] for name in ASSISTANTS), hands[READER],
                found["attempts"], found["checked"], found["twice"],
            )  # fmt: skip
        except (KeyError, TypeError, AttributeError) as error:
            expected = "the file that `attune people play` wrote"
            raise DataError(Problem(str(path), "", f"{type(error).__name__}: {error}", expected)) from error

    @cached_property
    def answers(self) -> dict[str, str]:
        """Key -> answer."""
        return read_answers(self.folder / ANSWERS)

    @cached_property
    def replies(self) -> dict[str, str]:
        """Message -> the reply that was received; with these, a live episode goes on to its end."""
        return {turn.message: turn.replies[0] for played in self.play() for turn in played.turns}

    def play(self) -> Iterator[Played]:
        """Play every card again."""
        for card in self.cards:
            yield answered(play(card, self.cast), self)

    def __call__(self, ask: Ask) -> str:
        """The answer; raises DataError if it is not in the folder."""
        found = self.answers.get(ask.key)
        if found is None:
            missing = f"no answer by {show(ask.by.model)} for key {ask.key}"
            expected = "a pinned answer: these people know no other replies, hands or wording"
            advice = "name an endpoint that plays this hand, or play what was pinned"
            raise DataError(Problem(str(self.folder / ANSWERS), ask.id, missing, expected, advice))
        return found


def read_answers(path: Path) -> dict[str, str]:
    """Read answers from JSON lines: `{"key": …, "text": …}`, or the output of an OpenAI batch.

    A line that is cut off at the end of the file is skipped, as is a request that failed in the batch. Raises
    DataError for any other line.
    """
    found: dict[str, str] = {}
    lines = read_text(path).splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = parse_json(line, f"{path}:{number}")
        except DataError:
            if number == len(lines):
                break
            raise
        answer = answer_in(value)
        if answer is None:
            expected = 'an answer: {"key": …, "text": …} or a line of a batch\'s output'
            raise DataError(Problem(f"{path}:{number}", "", show(value), expected, "remove the line"))
        if answer[1] is not None:
            found[answer[0]] = answer[1]
    return found


def answer_in(value: object) -> tuple[str, str | None] | None:
    """(key, text) of a line, with None for the text of a failed request; None if it is no answer."""
    if not isinstance(value, Mapping):
        return None
    if isinstance(value.get("key"), str) and isinstance(value.get("text"), str):
        return value["key"], value["text"]
    key = value.get("custom_id")
    if not isinstance(key, str) or "response" not in value:
        return None
    return key, _text_of(value["response"])


def _text_of(response: Any) -> str | None:
    try:
        if response["status_code"] != 200:
            return None
        choice = response["body"]["choices"][0]
        text = choice["message"]["content"] if choice.get("finish_reason") in (None, "stop") else ""
    except (KeyError, IndexError, TypeError):
        return None
    return text if isinstance(text, str) else ""


def answer_line(key: str, text: str) -> str:
    """An answer as one line of JSON, which no text of a model can break."""
    return json.dumps({"key": key, "text": text}, ensure_ascii=True, separators=(",", ":")) + "\n"
