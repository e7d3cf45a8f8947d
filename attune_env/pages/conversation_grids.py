"""Truth and prediction side by side: grids with a row an item and a column a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from attune_data.affect import EMOTIONS, POLARITY
from attune_data.codebook import Codebook
from attune_data.constants import BRANCHES
from attune_env.pages.conversation_steps import Answers, Place
from attune_episodes.request import Request
from attune_rewards.predictions import Tag
from attune_rewards.tree import LEAVES
from attune_rewards.truth import ConversationTruth, TurnTruth


class Cell(NamedTuple):
    """What a model answered."""

    text: str
    right: bool | None = None
    """None where there is nothing to be right about, or being right has degrees."""


NO_ANSWER: Final = Cell("–")
QUESTIONS: Final = (
    ("q1", "What the person was looking for"),
    ("q2", "How clear the feelings were"),
    ("q3", "How well the model fitted"),
    ("q3_follow_up", "What felt off"),
)


@dataclass(slots=True)
class Grid:
    """A table of answers."""

    name: str
    title: str
    heads: tuple[str, ...]
    """Of the columns before the models': what the row is, and the truth last."""
    rows: list[tuple[tuple[str, ...], tuple[Cell, ...]]] = field(default_factory=list)
    """(texts under `heads`, one cell a model)"""
    note: str = ""


@lru_cache(maxsize=4096)
def _answer(said: str | None, want: str | None) -> Cell:
    if said is None:
        return NO_ANSWER
    return Cell(said, None if want is None else said == want)


def _tags(tags: Sequence[Tag]) -> str:
    return (
        ", ".join(t.emotion if t.intensity is None else f"{t.emotion} {t.intensity}" for t in tags) or "none"
    )


def feeling_grid(truth: TurnTruth, answers: Sequence[Answers]) -> Grid:
    """The feelings of a turn with their intensities: one row for what was hit, missed and invented."""
    grid = Grid("feelings", "What the person felt", ("", "felt"), note="names with their intensity, 1 to 7")
    if truth.tags is None:
        return grid
    felt = {tag.emotion.casefold() for tag in truth.tags}
    rows: list[list[Cell]] = [[], []]
    for one in answers:
        said = one.prediction.turns.get(truth.turn)
        tags = said.assess.tags if said and said.assess else None
        if tags is None:
            rows[0].append(NO_ANSWER)
            rows[1].append(NO_ANSWER)
            continue
        same = {tag.emotion.casefold() for tag in tags} == felt
        rows[0].append(Cell(_tags(tags), True if same else None))
        missed = [
            tag for tag in truth.tags if tag.emotion.casefold() not in {t.emotion.casefold() for t in tags}
        ]
        rows[1].append(Cell(", ".join(tag.emotion for tag in missed) or "–", False if missed else None))
    grid.rows = [(("read", _tags(truth.tags)), tuple(rows[0]))]
    if truth.tags and answers:
        grid.rows.append((("missed", ""), tuple(rows[1])))
    return grid


def judgement_grid(truth: TurnTruth, answers: Sequence[Answers], book: Codebook) -> Grid:
    """The yes/no questions of a turn: what the reply did, what the person wanted."""
    grid = Grid("judgements", "The reply, question by question", ("", "question", "about", "person"),
                note="did: what the reply did; wanted: what the person would have wanted")  # fmt: skip
    observed, preferred = dict(truth.observed), dict(truth.preferred)
    given = []
    for one in answers:
        said = one.prediction.turns.get(truth.turn)
        assess = said.assess if said else None
        given.append((assess.observed, assess.preferred) if assess else ({}, {}))
    named = ""
    for question in dict.fromkeys([*observed, *preferred, *truth.applicable]):
        for side, (about, wants) in enumerate((("did", observed), ("wanted", preferred))):
            want = wants.get(question)
            if want is None and not any(question in pair[side] for pair in given):
                continue
            cells = tuple([_answer(pair[side].get(question), want) for pair in given])
            first = not (grid.rows and named == question)  # the wording stands once
            named = question
            text = book.binary_text(question, observer=True) if first else ""
            grid.rows.append(((question if first else "", text, about, want or "–"), cells))
    return grid


def choice_grid(truth: TurnTruth, answers: Sequence[Answers], book: Codebook) -> Grid:
    """The comparisons of a turn: which reply the person and the models chose."""
    grid = Grid("choices", "Which reply is preferred", ("", "question", "between", "person"),
                note="original: the reply that was given; alternate: improved by a language model; "
                "human: edited by the person")  # fmt: skip
    picks = []
    for one in answers:
        said = one.prediction.turns.get(truth.turn)
        picks.append(said.prefer.picks if said and said.prefer else {})
    winners = dict(truth.winners)
    for index, pair in enumerate(truth.comparisons):
        names = {"A": str(pair.response_a), "B": str(pair.response_b)}
        want = winners.get(index)
        won = names[want] if want else None
        cells = tuple([_answer(names[p[index]] if index in p else None, won) for p in picks])
        between = f"{names['A']} / {names['B']}"
        grid.rows.append(
            ((pair.question_id, book.pairwise_text(pair.question_id), between, won or "–"), cells)
        )
    return grid


def affect_grid(truth: ConversationTruth, answers: Sequence[Answers]) -> Grid:
    """The 20 PANAS items: before, after, and as predicted after."""
    grid = Grid("affect", "Feelings after the conversation (PANAS, 1 to 7)", ("item", "before", "after"))
    predicted = [one.prediction.reflect.panas if one.prediction.reflect else {} for one in answers]
    for name in sorted(EMOTIONS, key=lambda name: POLARITY[name] == "negative"):
        after = truth.post.get(name)
        if after is None and not any(name in one for one in predicted):
            continue
        grid.rows.append(
            ((name, _number(truth.pre.get(name)), _number(after)), _numbers(predicted, name, after))
        )
    return grid


def branch_grid(truth: ConversationTruth, answers: Sequence[Answers]) -> Grid:
    """How well the replies did at the four branches, as the person rated it."""
    grid = Grid("branches", "How well the replies did (1 to 7)", ("branch", "person"))
    predicted = [one.prediction.reflect.branches if one.prediction.reflect else {} for one in answers]
    for name in BRANCHES:
        want = truth.branches.get(name)
        if want is not None or any(name in one for one in predicted):
            grid.rows.append(((name, _number(want)), _numbers(predicted, name, want)))
    return grid


def _number(value: int | None) -> str:
    return "–" if value is None else str(value)


def _numbers(predicted: Sequence[Mapping[str, int]], name: str, want: int | None) -> tuple[Cell, ...]:
    return tuple([_rating(one.get(name), want) for one in predicted])


@lru_cache(maxsize=4096)
def _rating(said: int | None, want: int | None) -> Cell:
    """A rating with its distance from the true one; one step off is neither right nor wrong."""
    if said is None:
        return NO_ANSWER
    if want is None or said == want:
        return Cell(str(said), None if want is None else True)
    return Cell(f"{said} ({said - want:+d})", False if abs(said - want) > 1 else None)


def question_grid(truth: ConversationTruth, answers: Sequence[Answers]) -> Grid:
    """Q1 to Q3 and the follow-up."""
    grid = Grid("questions", "Questions about the whole conversation", ("question", "person"))
    for name, title in QUESTIONS:
        want = _options(getattr(truth, name))
        cells = []
        for one in answers:
            said = _options(getattr(one.prediction.reflect, name)) if one.prediction.reflect else None
            # several options: right or wrong is a matter of degree, but for the very same ones
            whole = (
                want is not None
                and said is not None
                and (said.casefold() == want.casefold() or name in ("q2", "q3"))
            )
            cells.append(
                NO_ANSWER
                if said is None
                else Cell(said, said.casefold() == (want or "").casefold() if whole else None)
            )
        if want is not None or any(cell is not NO_ANSWER for cell in cells):
            grid.rows.append(((title, want or "–"), tuple(cells)))
    return grid


def _options(value: str | tuple[str, ...] | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return "; ".join(sorted(value)) or "none"


def part_grid(answers: Sequence[Answers]) -> Grid:
    """The Composite, and the strict leaves with what each counts for."""
    note = (
        "Composite: the benchmark's reading; strict: what was asked and not answered is 0. Parts from 0 to "
        "1, with their share of the strict Composite of this conversation."
    )
    grid = Grid("parts", "Scores", ("", "counts for"), note=note)
    for name, title in (("composite_score", "Composite (0–100)"), ("composite_strict", "Strict (0–100)")):
        cells = tuple(_points(one.scores.get(name), 1) for one in answers)
        if any(cell is not NO_ANSWER for cell in cells):
            grid.rows.append(((title, ""), cells))
    weights: Counter[str] = Counter()
    for parts in next((one.weights for one in answers), {}).values():
        weights.update(parts)
    for leaf in LEAVES:
        if leaf in weights:
            parts_of = [one.scores.get("strict_parts") for one in answers]
            cells = tuple(_points(p.get(leaf) if isinstance(p, Mapping) else None, 2) for p in parts_of)
            grid.rows.append(((leaf.replace("_", " "), f"{100 * weights[leaf]:.1f}%"), cells))
    return grid


def step_grid(requests: Sequence[Request], answers: Sequence[Answers]) -> Grid:
    """What each step of the episode earned, from 0 to 1, and its outcome where that is not ok."""
    grid = Grid("steps", "Rewards step by step", ("step", "counts for"),
                note="0 to 1 each; weights times values add up to the strict Composite / 100")  # fmt: skip
    for request in requests:
        place: Place = (request.turn, request.stage)
        weight = next((sum(one.weights[place].values()) for one in answers if place in one.weights), 0.0)
        cells = tuple([_step(one, place) for one in answers])
        if weight or any(cell.text != "ok" and cell is not NO_ANSWER for cell in cells):
            step = f"{'end' if request.turn is None else f'turn {request.turn}'}, {request.stage}"
            grid.rows.append(((step, f"{100 * weight:.1f}%" if weight else "–"), cells))
    return grid


def _step(one: Answers, place: Place) -> Cell:
    outcome, score = one.outcomes.get(place, ""), one.steps.get(place)
    trouble = "" if outcome in ("", "ok") else outcome
    if score is None or score.value is None:
        return Cell(trouble or outcome or "–", False if trouble else None)
    return Cell(f"{score.value:.2f} {trouble}".strip(), False if trouble else None)


def _points(value: object, places: int) -> Cell:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return Cell(f"{value:.{places}f}") if number else NO_ANSWER
