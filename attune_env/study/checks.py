"""`attune study status` and `check`: who is where, and whether the answers can be relied on."""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, median, stdev
from typing import Any, Final

from attune_data.format.affect import EMOTIONS
from attune_env.study.events import INVITED, STOPPED, State, Store
from attune_env.study.export import seconds_of
from attune_env.study.folder import Study
from attune_env.study.steps import SIDES, STEPS, current
from attune_env.tables.cells import Cell, Column
from attune_env.tables.table import Table

SECONDS_AN_ANSWER: Final = 1.0
"""Below so many seconds an answer, a page was hardly read."""
WIDTHS: Final = (0.02, 0.05, 0.1)
"""Half widths of a 95% interval."""
_Z: Final = 1.96
"""Standard errors in half a 95% interval."""


def place_of(study: Study, state: State) -> str:
    """Where a participant is, in a word or the name of a step."""
    if state.withdrawn:
        return "withdrawn"
    if STOPPED in state.answers:
        return "stopped"
    step = current(study, state)
    if step is None:
        return "finished"
    if time.time() > state.answer(INVITED)["expires"]:
        return "expired"
    return step if state.begun else "invited"


def status(study: Study, store: Store) -> list[Table]:
    """Tables of a study's progress: in all, by page and by participant."""
    states = store.states()
    places = {state.participant: place_of(study, state) for state in states}
    ends = Counter(places.values())
    begun = sum(state.begun for state in states)
    dollars, _ = store.spent()
    words = ("finished", "stopped", "withdrawn", "expired")
    rows: list[tuple[Cell, ...]] = [("invited", str(len(states))), ("begun", str(begun))]
    rows += [(word, str(ends[word])) for word in words]
    rows.append(("cost of models", f"${dollars:.2f}"))
    minutes = [
        sum(seconds_of(state).values()) / 60 for state in states if places[state.participant] == "finished"
    ]
    rows.append(("minutes, median of the finished", f"{median(minutes):.1f}" if minutes else "–"))
    people = Table("participants", ("participant", "where", "turns", Column("minutes", places=1), "cost"))
    for state in states:
        turns = sum(step.startswith("reply.") for step in state.answers)
        spent = sum(seconds_of(state).values()) / 60
        people.rows.append(
            (state.participant, places[state.participant], str(turns), spent, f"${state.cost:.4f}")
        )
    return [Table(study.design.name, ("participants", "number"), rows), _pages(states, places), people]


def _pages(states: Sequence[State], places: dict[str, str]) -> Table:
    seconds: dict[str, list[float]] = defaultdict(list)
    for state in states:
        for step, taken in seconds_of(state).items():
            seconds[step.partition(".")[0]].append(taken)
    at = Counter(place.partition(".")[0] for place in places.values())
    table = Table("pages", ("page", "answered", Column("minutes, median", places=1), "there now"))
    for kind in STEPS:
        if seconds[kind] or at[kind]:
            middle = median(seconds[kind]) / 60 if seconds[kind] else None
            table.rows.append((kind, str(len(seconds[kind])), middle, str(at[kind])))
    table.notes = [
        "there now: have not gone on from such a page yet; those who never come back have dropped out"
    ]
    return table


def check(study: Study, store: Store) -> list[Table]:
    """Tables about the answers of the finished: participants, questions, and how many are needed."""
    done = [state for state in store.states() if "debrief" in state.answers and not state.withdrawn]
    people = Table(
        "participants",
        ("participant", Column("pages all alike", share=True), Column("pages too fast", share=True),
         Column("edit rejected", share=True)),
    )  # fmt: skip
    for state in done:
        people.rows.append((state.participant, _alike(state), _too_fast(state), _against_edit(state)))
    people.notes = [
        "pages all alike: feelings, yes/no questions or comparisons with one answer to all",
        f"pages too fast: below {SECONDS_AN_ANSWER:g} s an answer",
        "edit rejected: comparisons in which the participant's own edit lost to the reply that it improves",
        f"{len(done)} of {sum(state.begun for state in store.states())} who began have finished",
    ]
    questions, needed = _questions(study, done), _needed(done)
    if needed.rows:
        return [people, questions, needed]
    questions.notes = [f"{needed.title}: told once two participants with such answers have finished"]
    return [people, questions]


def _judged(state: State) -> Iterator[dict[str, Any]]:
    return (dict(payload) for step, payload in state.answers.items() if step.startswith("judge."))


def _compared(state: State) -> Iterator[tuple[str, dict[str, str]]]:
    """(turn, {responses of a comparison, and the winner's}) of every comparison."""
    for step, payload in state.answers.items():
        if step.startswith("compare."):
            for index, one in enumerate(payload["shown"]):
                yield step.partition(".")[2], {**one, "winner": one[f"response{payload[f'c{index}']}"]}


def _mean(values: Iterable[float]) -> float | None:
    held = list(values)
    return fmean(held) if held else None


def _alike(state: State) -> float | None:
    pages = [
        [payload[e] for e in EMOTIONS] for step, payload in state.answers.items() if step in ("pre", "post")
    ]
    for judged in _judged(state):
        pages += [[answer for name, answer in judged.items() if name.endswith(side)] for side in SIDES]
    for step, payload in state.answers.items():
        if step.startswith("compare."):
            pages.append([payload[f"c{index}"] for index in range(len(payload["shown"]))])
    return _mean(len(set(page)) == 1 for page in pages if len(page) > 3)


def _too_fast(state: State) -> float | None:
    taken = seconds_of(state)
    counts = {
        step: sum(value is not None and name != "shown" for name, value in payload.items())
        for step, payload in state.answers.items()
        if step in taken and step.partition(".")[0] in ("pre", "post", "judge", "compare")
    }
    return _mean(taken[step] < SECONDS_AN_ANSWER * count for step, count in counts.items())


def _against_edit(state: State) -> float | None:
    pairs = [
        one for _, one in _compared(state) if {one["responseA"], one["responseB"]} == {"original", "human"}
    ]
    return _mean(one["winner"] == "original" for one in pairs)


def _questions(study: Study, done: Sequence[State]) -> Table:
    table = Table(
        "questions",
        ("question", "answers", Column("did it: yes", share=True), Column("wanted: yes", share=True),
         Column("does not apply", share=True), "text"),
    )  # fmt: skip
    judged = [one for state in done for one in _judged(state)]
    for question in study.design.questions.binary:
        held = {
            side: [one[f"{question}.{side}"] for one in judged if f"{question}.{side}" in one]
            for side in SIDES
        }
        rates = [_mean(answer == "yes" for answer in held[side] if answer != "na") for side in SIDES]
        na = _mean(answer == "na" for side in SIDES for answer in held[side])
        text = study.codebook.binary_text(question, observer=False)
        table.rows.append((question, str(len(held["observed"])), *rates, na, text))
    return table


def _needed(done: Sequence[State]) -> Table:
    """How many participants a 95% interval of so much needs, from how much those there differ."""
    shares = {
        "replies that did it (yes/no questions)": [_rate(state, "observed") for state in done],
        "replies that should (yes/no questions)": [_rate(state, "preferred") for state in done],
        "own edit beats the reply": [
            None if (lost := _against_edit(state)) is None else 1 - lost for state in done
        ],
    }
    heads = [f"±{width:.0%}" for width in WIDTHS]
    table = Table("participants needed for a 95% interval", ("share", Column("mean", share=True), *heads))
    for name, values in shares.items():
        known = [value for value in values if value is not None]
        if len(known) > 1:
            spread = stdev(known)
            needed = [str(max(2, math.ceil((_Z * spread / width) ** 2))) for width in WIDTHS]
            table.rows.append((name, fmean(known), *needed))
    table.notes = [
        "participants are the unit; from those who have finished, so that a few of them tell little"
    ]
    return table


def _rate(state: State, side: str) -> float | None:
    answers = [answer for one in _judged(state) for name, answer in one.items() if name.endswith(side)]
    return _mean(answer == "yes" for answer in answers if answer != "na")
