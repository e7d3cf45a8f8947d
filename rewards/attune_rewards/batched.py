"""The strict leaves for many answers at once: the engine's scores in NumPy, for numeric environments.

`BatchedScorer` scores rows of numbers (`attune_rewards.coded`) as `ScoredRequest.score` scores the
predictions that they stand for, one by one: equal to 1e-9 in every part (tested on random conversations).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from attune_data.affect import EMOTIONS, POSITIVE, SIMILARITY, canonical_emotion
from attune_data.constants import BINARY_IDS, BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_data.errors import SettingsError
from attune_rewards.batched_matching import many_tags, one_by_one, one_tag, two_tags
from attune_rewards.branches import SPAN
from attune_rewards.coded import CODES, LAYOUT, PICKS, Ints, Shown, asked, option_number
from attune_rewards.parts import Format
from attune_rewards.predictions import Stage
from attune_rewards.reward import ScoredRequest
from attune_rewards.tree import LEAVES
from attune_rewards.truth import ConversationTruth, TurnTruth

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

COLUMNS: Final[tuple[str, ...]] = (*LEAVES, Format().name)
"""The parts that a batch is scored on, in the order of the scores' columns."""
_COLUMN: Final = {name: i for i, name in enumerate(COLUMNS)}
_STAGES: Final[tuple[Stage, ...]] = ("assess", "prefer", "reflect")
_BINARY: Final = slice(LAYOUT["observed"].start, LAYOUT["preferred"].stop)
_MATCHED: Final = 6
"""True tags up to which the matching runs in arrays; more are matched turn by turn."""


@dataclass(frozen=True, slots=True)
class Place:
    """One request as a batch scores it."""

    stage: Stage
    truth: ConversationTruth
    turn: TurnTruth | None
    """None in the reflect stage."""
    scored: ScoredRequest | None
    """What the reward pays there; None: nothing."""
    shown: Shown = ()
    """Of a prefer request: place of a pick -> (index of the comparison, whether its sides are swapped)."""


class BatchedScorer:
    """Scores answers to a fixed list of requests, many at a time.

    Args:
        places: the requests, numbered from 0.

    Raises SettingsError for a reward with parts that are functions of their own: only the engine can call
    them, one answer at a time.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        size = len(places)
        # one row more than there are requests, on which nothing is scored: where an episode is over
        self._weights = np.zeros((size + 1, len(COLUMNS)))
        self._constant = np.zeros(size + 1)
        """What a request pays at scores of 0: below 0 where parts are measured from nulls."""
        self._scored = np.zeros((size + 1, len(COLUMNS)), np.bool_)
        self._stage = np.full(size + 1, len(_STAGES), np.int8)
        self._local = np.zeros(size + 1, np.int64)
        """Number of a request among those of its stage."""
        groups: dict[Stage, list[Place]] = {stage: [] for stage in _STAGES}
        for row, place in enumerate(places):
            self._stage[row] = _STAGES.index(place.stage)
            self._local[row] = len(groups[place.stage])
            groups[place.stage].append(place)
            for name, weight, null in place.scored.parts if place.scored else ():
                if name not in _COLUMN:
                    raise SettingsError(
                        f"part {name!r} of the reward is a function of its own, which cannot be scored in "
                        'batches; use vectorization_mode="sync", or a reward of leaves and format only'
                    )
                self._scored[row, _COLUMN[name]] = True
                self._weights[row, _COLUMN[name]] = weight / (1.0 - null)
                self._constant[row] -= weight * null / (1.0 - null)
        self._truths: tuple[_AssessTruths | _PreferTruths | _ReflectTruths, ...] = (
            _AssessTruths(groups["assess"]),
            _PreferTruths(groups["prefer"]),
            _ReflectTruths(groups["reflect"]),
        )

    @property
    def nbytes(self) -> int:
        """Memory of the arrays, in bytes."""
        values = [value for part in (self, *self._truths) for value in vars(part).values()]
        return sum(value.nbytes for value in values if isinstance(value, np.ndarray))

    def score(self, rows: Ints, answers: Ints) -> tuple[Floats, Floats, Bools]:
        """What answers earn.

        Args:
            rows: the number of the request that each answer is to, shape (n,); the number of requests stands
                for none, which pays 0.
            answers: shape (n, WIDTH), values within `coded.VALUES` (not checked).

        Returns:
            Rewards, shape (n,): the weighted sum of the parts, after nulls. The parts' scores in [0, 1],
            shape (n, len(COLUMNS)). And which of them are scored: the others read 0 and mean nothing.
        """
        scores = np.zeros((len(rows), len(COLUMNS)))
        stages = _at(self._stage, rows)
        for number, truths in enumerate(self._truths):
            here = np.flatnonzero(stages == number)
            if here.size:
                truths.score(_at(self._local, _at(rows, here)), _at(answers, here), here, scores)
        rewards: Floats = np.einsum("ij,ij->i", scores, _at(self._weights, rows))
        rewards += _at(self._constant, rows)
        scored = _at(self._scored, rows)
        scores *= scored
        return rewards, scores, scored

    @property
    def weights(self) -> Floats:
        """Weight of each request, shape (requests + 1,): the most that it pays, 0 where nothing is scored."""
        total: Floats = self._weights.sum(axis=1) + self._constant
        return total


def _counts_format(place: Place) -> bool:
    return place.scored is not None and any(name == Format().name for name, _, _ in place.scored.parts)


def _count(rows: npt.NDArray[Any]) -> Floats:
    """The sum of each row of small whole numbers: exact, and far quicker than `sum` over short rows."""
    # no matrix product: BLAS would start threads, which wait for each other on a busy machine
    total: Floats = np.einsum("ij->i", rows.astype(np.float32)).astype(np.float64)
    return total


def _at(table: npt.NDArray[Any], rows: Ints) -> npt.NDArray[Any]:
    """Those rows of a table; they are there, and clipping them is several times quicker than checking."""
    return table.take(rows, axis=0, mode="clip")


def _write(scores: Floats, here: Ints, parts: Sequence[str], values: npt.NDArray[Any]) -> None:
    """Writes columns of values; one by one, which is quicker than all at once."""
    for number, part in enumerate(parts):
        scores[here, _COLUMN[part]] = values[:, number]


class _AssessTruths:
    """What was felt, what the reply did and what was wanted, one row a request."""

    def __init__(self, places: Sequence[Place]) -> None:
        size = len(places)
        turns = [place.turn for place in places if place.turn is not None]
        self.counts_format = any(map(_counts_format, places))
        self.felt = np.zeros((size, len(EMOTIONS)), np.bool_)
        self.distinct = np.zeros(size)
        """Distinct true emotions, names outside the 20 included."""
        self.listed = np.zeros(size)
        """True tags as they stand, doubles included."""
        most = max([2, *(min(_MATCHED, len(turn.tags or ())) for turn in turns)])
        self.near = np.zeros((size, most, len(EMOTIONS)))
        """Similarity of each true tag with each item; 0 beyond the last tag."""
        self.names: dict[int, list[str]] = {}
        """The true tags of rows that have too many for arrays."""
        self.answers = np.full((size, 2 * len(BINARY_IDS)), -1, np.int8)
        """Codes of the true answers, observed then preferred; -1 = none."""
        self.again: dict[int, list[tuple[int, int]]] = {}
        """Row -> (place, code) of questions that a turn holds once more."""
        self.asked = np.zeros_like(self.answers, np.bool_)
        self.known = np.ones((size, 2))
        """Questions with a true answer, observed and preferred; at least 1."""
        self.fields = np.ones(size)
        """Fields asked, for the format."""
        for row, turn in enumerate(turns):
            self._tags(row, turn)
            for side, pairs in enumerate((turn.observed, turn.preferred)):
                self.known[row, side] = max(1, len(pairs))
                for question, answer in pairs:
                    self._answer(row, side, question, CODES[answer])
            self.asked[row] = asked("assess", turn.applicable)[_BINARY]
            self.fields[row] = 2 * len(turn.applicable) + 1

    def _answer(self, row: int, side: int, question: str, code: int) -> None:
        if question in _QUESTION:
            place = side * len(BINARY_IDS) + _QUESTION[question]
            if self.answers[row, place] < 0:
                self.answers[row, place] = code
            else:
                self.again.setdefault(row, []).append((place, code))

    def _tags(self, row: int, turn: TurnTruth) -> None:
        tags = turn.tags or ()
        folded = {tag.emotion.casefold() for tag in tags}
        self.felt[row] = [name.casefold() in folded for name in EMOTIONS]
        self.distinct[row], self.listed[row] = len(folded), len(tags)
        names = [canonical_emotion(tag.emotion) or "" for tag in tags]
        if len(names) > _MATCHED:
            self.names[row] = names
        else:
            for place, name in enumerate(names):
                self.near[row, place] = [SIMILARITY.get((name, item), 0.0) for item in EMOTIONS]

    def score(self, rows: Ints, answers: Ints, here: Ints, scores: Floats) -> None:
        """Writes the columns of this stage for answers to `rows`, at the places `here` of `scores`."""
        given = answers[:, LAYOUT["emotions"]] > 0
        said = _count(given)
        answered = (said > 0) | (answers[:, LAYOUT["emotions_none"].start] > 0)
        both = said + _at(self.distinct, rows)
        shared = _count(given & _at(self.felt, rows))
        f1 = np.where(both > 0, 2 * shared / np.maximum(both, 1), 1.0)
        scores[here, _COLUMN["emotion_f1"]] = np.where(answered, f1, 0.0)
        longer = np.maximum(said, _at(self.listed, rows))
        va = np.where(longer > 0, self._matched(rows, given, said) / np.maximum(longer, 1), 1.0)
        scores[here, _COLUMN["emotion_va"]] = np.where(answered, va, 0.0)
        binary = answers[:, _BINARY]
        right = (binary == _at(self.answers, rows)).astype(np.float32)
        hits = np.einsum("ijk->ij", right.reshape(-1, 2, len(BINARY_IDS)))
        for row, more in self.again.items():
            for place in np.flatnonzero(rows == row):
                for number, code in more:
                    hits[place, number // len(BINARY_IDS)] += binary[place, number] == code
        _write(scores, here, ("binary_om", "binary_hp"), hits / _at(self.known, rows))
        if self.counts_format:
            filled = _count((binary > 0) & _at(self.asked, rows)) + answered
            scores[here, _COLUMN["format"]] = filled / _at(self.fields, rows)

    def _matched(self, rows: Ints, given: Bools, said: Floats) -> Floats:
        """Total similarity of the best one-to-one matching of the true tags with the given emotions."""
        tags = _at(self.listed, rows)
        total = np.zeros(len(rows))
        for number in (1, 2):
            those = np.flatnonzero((tags == number) & (said > 0))
            if those.size:
                near, free = _at(self.near, _at(rows, those))[:, :number], _at(given, those)[:, None]
                total[those] = (one_tag if number == 1 else two_tags)(np.where(free, near, -1.0))
        several = np.flatnonzero((tags > 2) & (tags <= _MATCHED))
        if several.size:
            total[several] = many_tags(self.near[rows[several]], given[several])
        for place in np.flatnonzero(tags > _MATCHED):
            total[place] = one_by_one(self.names[int(rows[place])], given[place])
        return total


class _PreferTruths:
    """Which side was chosen in each comparison, in the order and frame of the picks."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.counts_format = any(map(_counts_format, places))
        self.winners = np.zeros((len(places), PICKS), np.int8)
        self.known = np.ones(len(places))
        self.asked = np.zeros_like(self.winners, np.bool_)
        self.fields = np.ones(len(places))
        for row, place in enumerate(places):
            turn = place.turn
            winners = dict(turn.winners) if turn else {}
            self.known[row] = max(1, len(winners))
            self.asked[row, : len(place.shown)] = True
            self.fields[row] = max(1, len(turn.comparisons) if turn else 0)
            for pick, (index, swapped) in enumerate(place.shown[:PICKS]):
                code = CODES[winners.get(index)]
                self.winners[row, pick] = 3 - code if swapped and code else code

    def score(self, rows: Ints, answers: Ints, here: Ints, scores: Floats) -> None:
        """Writes the columns of this stage for answers to `rows`, at the places `here` of `scores`."""
        picks, winners = answers[:, LAYOUT["picks"]], _at(self.winners, rows)
        right = _count((picks == winners) & (winners > 0))
        scores[here, _COLUMN["pairwise"]] = right / _at(self.known, rows)
        if self.counts_format:
            filled = _count((picks > 0) & _at(self.asked, rows))
            scores[here, _COLUMN["format"]] = filled / _at(self.fields, rows)


class _ReflectTruths:
    """How each conversation ended, one row a conversation."""

    def __init__(self, places: Sequence[Place]) -> None:
        size = len(places)
        self.counts_format = any(map(_counts_format, places))
        self.before, self.after = np.zeros((size, 2)), np.ones((size, 2))
        self.goals = np.zeros((size, len(Q1_OPTIONS)), np.bool_)
        self.wanted = np.zeros(size)
        """Distinct goals, those outside the options included."""
        self.options = np.full((size, 2), -1, np.int8)
        """True numbers of Q2 and Q3; -1 = no number is right."""
        self.branches = np.zeros((size, len(BRANCHES)), np.int8)
        for row, truth in enumerate(place.truth for place in places):
            for side, (pre, post) in enumerate(zip(truth.pre_totals, truth.post_totals, strict=True)):
                if pre is not None and post is not None and pre != post:
                    self.before[row, side], self.after[row, side] = pre, post
            folded = {goal.strip().casefold() for goal in truth.q1 or ()}
            self.goals[row] = [option.strip().casefold() in folded for option in Q1_OPTIONS]
            self.wanted[row] = len(folded)
            for number, (options, said) in enumerate(((Q2_OPTIONS, truth.q2), (Q3_OPTIONS, truth.q3))):
                self.options[row, number] = option_number(options, said) or -1
            self.branches[row] = [truth.branches.get(name, 0) for name in BRANCHES]

    def score(self, rows: Ints, answers: Ints, here: Ints, scores: Floats) -> None:
        """Writes the columns of this stage for answers to `rows`, at the places `here` of `scores`."""
        items = answers[:, LAYOUT["panas"]]
        before, after = _at(self.before, rows), _at(self.after, rows)
        change = np.abs(after - before)
        given = items > 0
        error = np.abs(after - np.einsum("ij,jk->ik", items.astype(np.float32), _SIDES))
        adjusted = np.clip((change - error) / change, -1.0, 1.0)
        complete = np.einsum("ij,jk->ik", given.astype(np.float32), _SIDES) == len(EMOTIONS) / 2
        _write(scores, here, ("panas_pa", "panas_na"), np.where(complete, (adjusted + 1) / 2, 0.0))
        chosen = answers[:, LAYOUT["q1"]] > 0
        shared, said = _count(chosen & _at(self.goals, rows)), _count(chosen)
        union = said + _at(self.wanted, rows) - shared
        overlap = np.where(union > 0, shared / np.maximum(union, 1), 1.0)
        goals_given = (said > 0) | (answers[:, LAYOUT["q1_none"].start] > 0)
        scores[here, _COLUMN["q1"]] = np.where(goals_given, overlap, 0.0)
        options = answers[:, [LAYOUT["q2"].start, LAYOUT["q3"].start]]
        _write(scores, here, ("q2", "q3"), options == _at(self.options, rows))
        rated = answers[:, LAYOUT["branches"]]
        closeness = 1.0 - np.abs(_at(self.branches, rows) - rated) / SPAN
        _write(scores, here, _BRANCH_LEAVES, np.where(rated > 0, closeness, 0.0))
        if self.counts_format:
            filled = _count(given) + goals_given + _count(options > 0) + _count(rated > 0)
            scores[here, _COLUMN["format"]] = filled / (len(EMOTIONS) + 4 + len(BRANCHES))


_BRANCH_LEAVES: Final = tuple(f"branch_{name}" for name in BRANCHES)
_QUESTION: Final = {question: i for i, question in enumerate(BINARY_IDS)}
_SIDES: Final = np.array([[name in POSITIVE, name not in POSITIVE] for name in EMOTIONS], np.float32)
"""Sums the items of positive and of negative affect."""
