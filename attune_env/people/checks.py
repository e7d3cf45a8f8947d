"""Check played people beside the sample, on one page.

What is allowed comes from the sample's own interval. A check passes where the interval of a figure lies
within that, fails where it lies outside, and is undecided where it does neither, or with too few people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from attune_data.errors import DataError
from attune_data.format.constants import BINARY_IDS, JUDGED
from attune_data.format.schema import Conversation
from attune_env.people.figures import FIGURES, Array, Counted, People
from attune_env.tables.cells import DASH, Cell, Column
from attune_env.tables.table import Table
from attune_episodes.parsing import Unparsed
from attune_episodes.people.asks import Ask, GivenUpError, answered
from attune_episodes.people.pinned import CAST, Pinned
from attune_episodes.people.play import Played, legible, play
from attune_episodes.people.state import ANSWERS, GIVES_IN, feelings, first_state, moved
from attune_rewards.bootstrap import RESAMPLES, ROUNDING, Interval
from attune_rewards.predictions import Tag

Result = Literal["passes", "FAILS", "undecided", "–"]
ENOUGH: Final = 0.4
"""The κ from which the reader's answers to a question are good enough to train on."""
FOUND: Final = "messages in which a reader finds the feeling"


@dataclass(frozen=True)
class Check:
    """One figure beside that of the sample."""

    name: str
    own: Interval
    usual: Interval
    low: float = -inf
    high: float = inf
    note: str = ""

    @property
    def result(self) -> Result:
        """The result, from the interval and the bounds."""
        return "–" if self.low == -inf and self.high == inf else result(self.own, self.low, self.high)


@dataclass(frozen=True)
class Reading:
    """How far two readings of the same replies agree on one question."""

    question: str
    agreement: Interval
    chance: float
    kappa: Interval
    """Undefined where both always say the same."""

    @property
    def mark(self) -> str:
        """Whether one may train on these answers."""
        if self.kappa.mean is not None and self.kappa.meaningful and self.kappa.mean < ENOUGH:
            return "not for training"
        return "holds" if result(self.kappa, ENOUGH, inf) == "passes" else "undecided"


class Checked(NamedTuple):
    """The checks of played people."""

    checks: list[Check]
    readings: list[Reading]
    participants: int

    @property
    def failed(self) -> bool:
        """Whether a check fails."""
        return any(check.result == "FAILS" for check in self.checks)


def result(own: Interval, low: float, high: float) -> Result:
    """Compare an interval with bounds."""
    if own.low is None or own.high is None or not own.meaningful:
        return "undecided"
    if own.high < low - ROUNDING or own.low > high + ROUNDING:
        return "FAILS"
    return "passes" if own.low >= low - ROUNDING and own.high <= high + ROUNDING else "undecided"


def check(
    conversations: Sequence[Conversation], sample: Sequence[Conversation], folder: Path | None = None
) -> Checked:
    """Check conversations beside those of the sample.

    Args:
        conversations: those to check.
        sample: those whose figures are the bounds.
        folder: where they were played, with the plan and the answers of the hands.
    """
    size = min(len(conversations), len(sample))
    own, usual = People(conversations, size), People(sample, size)
    checks = []
    for figure in FIGURES:
        here, there = figure.measure(own), figure.measure(usual)
        beside = there.interval(usual.kernel)
        low = beside.low if figure.bound == "least" and beside.low is not None else -inf
        high = beside.high if figure.bound == "most" and beside.high is not None else inf
        note = f"{here.note or DASH}; sample: {there.note or DASH}" if here.note or there.note else ""
        checks.append(Check(figure.name, here.interval(own.kernel), beside, low, high, note))
    checks.append(_looked_for(own, folder))
    return Checked(checks, list(_readings(own)), own.kernel.units)


def _looked_for(own: People, folder: Path | None) -> Check:
    """How often the reader found what was felt in a first version, beside finding it by chance."""
    looks = looked_for(folder) if folder is not None and (folder / CAST).is_file() else {}
    found = own.counted(lambda one: (legible(*look) for look in looks.get(one.conversation_id, ())))
    each = [(name, look) for name, those in looks.items() for look in those]
    others = [legible(felt, said) for one, (felt, _) in each for other, (_, said) in each if other != one]
    if not others:
        return Check(FOUND, found.interval(own.kernel), Interval(), note="looked for in too few messages")
    low = fmean(others)
    return Check(FOUND, found.interval(own.kernel), Interval(), low, note="bound: by chance")


def looked_for(folder: Path) -> Mapping[str, list[tuple[Sequence[Tag], Sequence[Tag]]]]:
    """Card -> (feelings decided, feelings found) of each message in which the reader looked for them.

    The conversations are played again from the answers in the folder; those that are not played to their end
    are left out. Of a message that was asked for again, the first version counts.
    """
    looks: dict[str, list[tuple[Sequence[Tag], Sequence[Tag]]]] = {}
    pinned = Pinned(folder)
    cast, cards = pinned.cast, pinned.cards if pinned.answers else ()
    for card in cards:
        found: dict[str, Sequence[Tag]] = {}

        def answer(ask: Ask, found: dict[str, Sequence[Tag]] = found) -> str:
            text = pinned(ask)
            said = ask.request.parse(text) if ask.request.id.endswith("/feelings") else Unparsed("no_fields")
            if not isinstance(said, Unparsed):
                found.setdefault(ask.request.id, said)
            return text

        try:
            played = answered(play(card, cast), answer)
        except (DataError, GivenUpError):
            continue
        decided = _decided(played)
        looks[card.id] = [(decided[int(name.split("/")[-2]) - 1], said) for name, said in found.items()]
    return looks


def _decided(played: Played) -> list[Sequence[Tag]]:
    """The feelings decided before each message, also where the tags then followed the text."""
    state, decided = first_state(played.card), list[Sequence[Tag]]()
    for turn in played.turns:
        decided.append(feelings(played.card, state))
        state = moved(played.card, state, turn.tags, turn.wanted, turn.read)
    return decided


def _readings(own: People) -> Iterator[Reading]:
    """The agreement of the reader with itself on each question that it read twice."""
    twice: list[list[tuple[Mapping[str, Any], Mapping[str, Any]]]] = []
    for conversation in own.conversations:
        marks = [(turn.model_extra or {}).get("played") or {} for turn in conversation.turns]
        twice.append([({**m, **m["read"]}, m["read_again"]) for m in marks if "read_again" in m])
    for question in (*BINARY_IDS, ANSWERS, GIVES_IN):
        if question in JUDGED or not any(question in first for two in twice for first, _ in two):
            continue
        pairs = [
            np.array([[by[question] == "yes" for by in both] for both in two if question in both[0]], float)
            for two in twice
        ]
        pairs = [two.reshape(-1, 2) for two in pairs]
        n = [[float(len(two))] * 3 for two in pairs]
        agreed = Counted([float((two[:, 0] == two[:, 1]).sum()) for two in pairs], [of for of, *_ in n])
        # how often the first, the second, and both say yes
        yes = [[*two.sum(0).tolist(), float(two.prod(1).sum())] for two in pairs]
        first, second = np.concatenate(pairs).mean(0)
        chance = float(first * second + (1 - first) * (1 - second))
        kappa = Counted(yes, n, share=_kappa).interval(own.kernel)
        yield Reading(question, agreed.interval(own.kernel), chance, kappa)


def _kappa(found: Array, of: Array) -> Array:
    first, second, both = found / of
    chance = first * second + (1 - first) * (1 - second)
    agreed = 1 - first - second + 2 * both
    return np.asarray(np.where(chance < 1 - ROUNDING, (agreed - chance) / (1 - chance), np.nan))


def check_tables(found: Checked, name: str) -> list[Table]:
    """The page: each figure beside that of the sample, and the agreement of the reader with itself."""
    figures = Table(
        f"Played people: {name} beside sample",
        ("figure", "result", Column(name, "own"), "n", Column("sample"), Column("n", "sample_n"), "bound",
         "note"),
        unit="participant",
    )  # fmt: skip
    for one in found.checks:
        cells: tuple[Cell, ...] = (one.own, one.own.n, one.usual, one.usual.n or None, _bound(one), one.note)
        figures.rows.append((one.name, one.result, *cells))
    figures.notes = [
        f"Mean [95% percentile bootstrap interval], {RESAMPLES:,} resamples by participant "
        f"({found.participants}). The bound is the end of the sample's interval: a check passes where the "
        "whole interval keeps to it, fails where none of it does, and is undecided otherwise.",
        "Gone from the edit: what was done and unwanted, as annotated, and what the reader `fitted` finds in "
        "the received reply and no longer in the person's edit.",
        "In another conversation, and the gains of policies: within groups of as many conversations as the "
        "smaller of the two sets has.",
        "Phrases are reported without a bound: they depend on which assistant is played.",
    ]
    readings = Table(
        "Does the reader agree with itself? Replies read twice",
        ("question", "for training", "agreement", Column("chance"), Column("κ", "kappa"), "n"),
        unit="participant",
    )
    for by in found.readings:
        readings.rows.append((by.question, by.mark, by.agreement, by.chance, by.kappa, by.agreement.n))
    readings.notes = [
        f"Not for training: κ is below {ENOUGH}. Undecided: its interval goes below {ENOUGH}, both readings "
        "always say the same, or there are too few participants."
    ]
    if not found.readings:
        readings.notes = ["No reply was read twice."]
    return [figures, readings]


def _bound(one: Check) -> str:
    if one.low > -inf:
        return f"≥ {one.low:.3f}"
    return f"≤ {one.high:.3f}" if one.high < inf else ""
