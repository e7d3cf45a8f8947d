"""What the person's hand says about the replies: of each one after their next message, of all at the end.

The person sees the card, the transcript, and what the reader found. They are told no wishes: whoever has a
list of them ticks it off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

from attune_data.format.affect import EMOTIONS
from attune_data.format.constants import JUDGED
from attune_episodes.parsing import Unparsed, extract_object, sound
from attune_episodes.parsing.parse import read_answers
from attune_episodes.people.cards import GOALS, Card
from attune_episodes.people.closing import CLARITY, FIT, OFF, Closing, panas
from attune_episodes.people.draws import Draws
from attune_episodes.people.hands import HandRequest, History, mark_for, prompt, tags_text
from attune_episodes.people.state import Read, first_state
from attune_episodes.people.usable import unusable
from attune_episodes.protocol.schemas import Schema, choice_schema, object_schema
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import Tag, YesNo

PARTICULAR: Final = 0.3
"""The share of people who are particular about how they are answered: in the sample, six of twenty people
would have wanted more than a fifth of the answers otherwise, and the others at most an eighth."""
KEPT: Final = 0.4
"""The share of edits that are asked for as a mended reply; the others, as one of the person's own."""
ORDERS: Final = tuple(">".join(order) for order in permutations("ABE"))
_OFF: Final = "q3_followUp_whatFeltOff"
_RATING: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": 7}


@dataclass(frozen=True)
class Judged:
    """What the person says about a received reply."""

    answers: Mapping[str, YesNo]
    otherwise: tuple[str, ...]
    """The questions whose answer they would have wanted the other way round."""
    edit: str
    """The reply as the person would have liked it; the reply itself if nothing changes."""
    ranks: Mapping[str, str]
    """Comparison question -> the order of A (received), B (the other one) and E (the edit), best first."""


def judgement(
    card: Card, turn: int, history: History, said: str, replies: tuple[str, str], tags: Sequence[Tag],
    applies: Sequence[str], read: Read, following: str, settings: Settings, again: str = "",
) -> HandRequest:  # fmt: skip
    """Ask the person's hand what they think of a received reply, and for an edit and rankings.

    They answer what a text does not settle, are shown what the reader found, and say which answers they would
    have wanted otherwise.

    Args:
        card: who judges.
        turn: number of the turn, from 1.
        history: the turns before.
        said: their message.
        replies: the reply that they received, and the other one.
        tags: what they felt as they wrote.
        applies: the questions that apply to this turn.
        read: what the reader found in the received reply.
        following: the message that they wrote next; "" after the last.
        settings: the codebook of the questions.
        again: what was wrong with the last answer; "" at first.
    """
    book = settings.codebook
    questions = tuple(one for one in applies if one in JUDGED)
    compared = ("general", *card.compared[turn - 1])
    values = vars(card) | {
        "goals": [GOALS[goal] for goal in card.goals], "tags": tags_text(tags), "history": history,
        "particular": Draws("particular", card.id, card.seed).yes(PARTICULAR),
        "kept": Draws("edit", card.id, card.seed, turn).yes(KEPT),
        "user_message": said, "received": replies[0], "other": replies[1], "following": following,
        "questions": [(one, book.binary_text(one, observer=False)) for one in questions],
        "found": [
            (one, book.binary_text(one, observer=False), read[one]) for one in applies if one not in JUDGED
        ],
        "compared": [(one, book.pairwise[one]) for one in compared],
        "mark": mark_for(card, history, said, following, *replies), "again": again,
    }  # fmt: skip

    def parse(text: str) -> Judged | Unparsed:
        return _judged(text, questions, applies, compared, replies[0])

    properties: Schema = {"answers": choice_schema(questions, "yes", "no")} if questions else {}
    properties["otherwise"] = {"type": "array", "items": {"type": "string", "enum": applies}}
    properties |= {"edit": {"type": "string"}, "ranks": choice_schema(compared, *ORDERS)}
    messages = prompt("judgement", **values)
    return HandRequest(f"{card.id}/{turn}/judgement", messages, parse, False, object_schema(properties))


def _judged(
    text: str, questions: tuple[str, ...], applies: Sequence[str], compared: tuple[str, ...], received: str
) -> Judged | Unparsed:
    found = extract_object(text)
    if isinstance(found, Unparsed):
        return found
    answers, given = read_answers(found.get("answers"), questions), found.get("ranks")
    given = given if isinstance(given, dict) else {}
    ranks = {one: str(given.get(one)).replace(" ", "") for one in compared}
    edit, otherwise = found.get("edit"), found.get("otherwise")
    if missing := [one for one in questions if one not in answers]:
        return unusable(f"no answer to {', '.join(missing)}")
    if wrong := [one for one in compared if ranks[one] not in ORDERS]:
        return unusable(f"no order of A, B and E for {', '.join(wrong)}")
    if not isinstance(otherwise, list) or not set(map(str, otherwise)) <= set(applies):
        return unusable('"otherwise" is no list of ids of questions that were asked')
    if not isinstance(edit, str) or not edit.strip():
        return unusable("no edit")
    same = edit.strip().strip('."').lower() == "unchanged"
    chosen = tuple(one for one in applies if one in otherwise)
    return Judged(answers, chosen, received if same else sound(edit.strip()), ranks)


def closing(
    card: Card, history: History, judged: Sequence[tuple[Sequence[Tag], Judged]], settings: Settings,
    again: str = "",
) -> HandRequest:  # fmt: skip
    """Ask the person's hand about the whole conversation: the closing questions, and how they feel now.

    Args:
        card: who judges.
        history: all turns.
        judged: what they felt in each turn, and what they said about its reply.
        settings: the codebook of the questions.
        again: what was wrong with the last answer; "" at first.
    """
    book = settings.codebook
    asked = {"clarity": CLARITY, "fit": FIT, "off": dict(zip(OFF, book.options[_OFF], strict=True))}
    turns = [
        (said, replied, tags_text(tags), [book.binary_text(one, observer=False) for one in here.otherwise])
        for (said, replied), (tags, here) in zip(history, judged, strict=True)
    ]
    values = vars(card) | {
        "goals": [GOALS[goal] for goal in card.goals], "turns": turns, "asked": asked,
        "texts": {"clarity": book.questions["q2_emotionClarity"].text,
                  "fit": book.questions["q3_modelFit"].text, "off": book.questions[_OFF].text},
        "branches": {name: wording.text for name, wording in book.branches.items()},
        "before": panas(card, first_state(card), "before"),
        "mark": mark_for(card, history), "again": again,
    }  # fmt: skip
    branches, items = tuple(book.branches), tuple(EMOTIONS)
    schema = object_schema({
        "clarity": {"type": "string", "enum": list(CLARITY)}, "fit": {"type": "string", "enum": list(FIT)},
        "off": {"type": "array", "items": {"type": "string", "enum": list(OFF)}},
        "branches": object_schema(dict.fromkeys(branches, _RATING)),
        "now": object_schema(dict.fromkeys(items, _RATING)),
    })  # fmt: skip

    def parse(text: str) -> Closing | Unparsed:
        found = extract_object(text)
        if isinstance(found, Unparsed):
            return found
        rated, now = _ratings(found, "branches", branches), _ratings(found, "now", items)
        if isinstance(rated, Unparsed):
            return rated
        if isinstance(now, Unparsed):
            return now
        clarity, fit, off = str(found.get("clarity")), str(found.get("fit")), found.get("off")
        for name, value, of in (("clarity", clarity, CLARITY), ("fit", fit, FIT)):
            if value not in of:
                return unusable(f'"{name}" is none of {", ".join(of)}')
        if not isinstance(off, list) or not set(map(str, off)) <= set(OFF):
            return unusable(f'"off" is no list of some of {", ".join(OFF)}')
        return Closing(
            goals=tuple(goal for goal in GOALS if goal in card.goals), clarity=clarity, fit=fit,
            off=tuple(name for name in OFF if name in off) if fit in tuple(FIT)[2:] else (),
            branches=rated, panas=now,
        )  # fmt: skip

    return HandRequest(f"{card.id}/closing", prompt("closing", **values), parse, False, schema)


def _ratings(found: Mapping[str, object], field: str, names: Sequence[str]) -> dict[str, int] | Unparsed:
    """The ratings from 1 to 7 in a field of an answer, one for each name."""
    given = found.get(field)
    known = given if isinstance(given, dict) else {}
    wrong = [name for name in names if type(known.get(name)) is not int or not 1 <= known[name] <= 7]
    if wrong:
        return unusable(f'"{field}" has no rating from 1 to 7 for {", ".join(wrong)}')
    return {name: known[name] for name in names}
