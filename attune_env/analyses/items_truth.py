"""The truths of single items, as columns: yes/no judgements, comparisons, affect items, branch scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from attune_data.affect import EMOTIONS
from attune_data.constants import BINARY_IDS, BRANCHES, PAIRWISE_IDS, RESPONSES, ResponseName
from attune_rewards.truth import ConversationTruth, TurnTruth

Whole = npt.NDArray[np.int32]
Array = npt.NDArray[np.float64]

OM, HP = 0, 1
"""Sides of a judgement: what the reply did, what the person would have wanted."""


@dataclass(frozen=True, slots=True)
class JudgementColumns:
    """One entry a judgement with a yes or no."""

    ids: tuple[str, ...]
    """Question ids: the benchmark's order, others behind it by name."""
    row: Whole
    """Conversation, as a row of the study's table."""
    turn: Whole
    question: Whole
    """Index into `ids`."""
    side: Whole
    """`OM` or `HP`."""
    yes: npt.NDArray[np.bool_]
    """The truth."""


@dataclass(frozen=True, slots=True)
class ComparisonColumns:
    """One entry a comparison that has a winner."""

    ids: tuple[str, ...]
    row: Whole
    turn: Whole
    question: Whole
    responses: Whole
    """(items, 2): A and B as indices into `RESPONSES`."""
    lengths: Whole
    """(items, 2): characters of their texts; -1 where a text is not in the file."""
    winner: Whole
    """0 for A, 1 for B."""


@dataclass(frozen=True, slots=True)
class AffectColumns:
    """PANAS items before and after, (rows, 20) each in the order of `EMOTIONS`; NaN = not annotated."""

    before: Array
    after: Array


@dataclass(frozen=True, slots=True)
class Place:
    """Where the items of one conversation stand in the columns."""

    row: int
    truth: ConversationTruth
    starts: dict[int, tuple[int, int]]
    """Turn -> index of its first judgement (observed, then preferred ones) and of its first comparison."""


@dataclass(frozen=True, slots=True)
class Truths:
    """All columns, and where each conversation's items stand in them."""

    places: Mapping[str, Place]
    judgements: JudgementColumns
    comparisons: ComparisonColumns
    affect: AffectColumns
    branches: Array
    """(rows, 4) in the order of `BRANCHES`; NaN = not annotated."""

    @classmethod
    def of(cls, truths: Sequence[ConversationTruth | None]) -> Self:
        """Of the conversations of a study, one a row; None where the conversation is not at hand."""
        known = [truth for truth in truths if truth is not None]
        turns = [turn for truth in known for turn in truth.turns]
        asked = ordered(
            BINARY_IDS, (q for t in turns for pairs in (t.observed, t.preferred) for q, _ in pairs)
        )
        compared = ordered(PAIRWISE_IDS, (c.question_id for t in turns for c in t.comparisons))
        columns = _Columns({q: i for i, q in enumerate(asked)}, {q: i for i, q in enumerate(compared)})
        places = {}
        affect = np.full((2, len(truths), len(EMOTIONS)), np.nan)
        branches = np.full((len(truths), len(BRANCHES)), np.nan)
        for row, truth in enumerate(truths):
            if truth is None:
                continue
            place = places[truth.conversation_id] = Place(row, truth, {})
            for turn in truth.turns:
                columns.add(turn, place)
            for moment, items in enumerate((truth.pre, truth.post)):
                affect[moment, row] = [np.nan if (v := items.get(n)) is None else v for n in EMOTIONS]
            branches[row] = [truth.branches.get(name, np.nan) for name in BRANCHES]
        judged = np.array(columns.judged, dtype=np.int32).reshape(-1, 5)
        picked = np.array(columns.picked, dtype=np.int32).reshape(-1, 8)
        of, number, question, side, yes = judged.T
        at, of_turn, compared_by = picked.T[:3]
        return cls(
            places,
            JudgementColumns(asked, of, number, question, side, yes == 1),
            ComparisonColumns(
                compared, at, of_turn, compared_by, picked[:, 3:5], picked[:, 5:7], picked[:, 7]
            ),
            AffectColumns(*affect),
            branches,
        )


def ordered(known: Sequence[str], found: Iterable[str]) -> tuple[str, ...]:
    """The ids that were found: known ones in their order, others behind them by name."""
    names = set(found)
    return (*(name for name in known if name in names), *sorted(names - set(known)))


_RESPONSE: Final[Mapping[ResponseName, int]] = {name: i for i, name in enumerate(RESPONSES)}


class _Columns:
    """Collects the entries of one turn after another."""

    def __init__(self, asked: Mapping[str, int], compared: Mapping[str, int]) -> None:
        self.asked, self.compared = asked, compared
        self.judged: list[tuple[int, ...]] = []
        self.picked: list[tuple[int, ...]] = []

    def add(self, turn: TurnTruth, place: Place) -> None:
        place.starts[turn.turn] = (len(self.judged), len(self.picked))
        for side, pairs in ((OM, turn.observed), (HP, turn.preferred)):
            for question, want in pairs:
                self.judged.append((place.row, turn.turn, self.asked[question], side, want == "yes"))
        lengths = {name: -1 if text is None else len(text) for name, text in turn.responses.items()}
        for index, winner in turn.winners:
            pair = turn.comparisons[index]
            sides = (pair.response_a, pair.response_b)
            self.picked.append((
                place.row, turn.turn, self.compared[pair.question_id],
                *(_RESPONSE[name] for name in sides), *(lengths[name] for name in sides), winner == "B",
            ))  # fmt: skip
