"""Truth and prediction side by side: grids with a row per item and a column per model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from attune_data.format.affect import EMOTIONS, POLARITY
from attune_data.format.codebook import Codebook
from attune_data.format.constants import BRANCHES
from attune_data.format.schema import Conversation
from attune_env.report.analyses.strengths import part_name
from attune_env.tables.cells import DASH
from attune_episodes.play.score import default_spec
from attune_rewards.metrics.matching import matched_similarity
from attune_rewards.metrics.scoring import score_conversation
from attune_rewards.metrics.tree import LEAVES
from attune_rewards.predictions import STAGES, ConversationPrediction, Tag
from attune_rewards.record.marks import Place, mapping, outcomes_of, replies_of
from attune_rewards.reward.score import Score, request_weights, score_request
from attune_rewards.truth import ConversationTruth, TurnTruth

Mark = Literal["", "hit", "near", "miss"]
NEAR: Final = 0.8
"""A wrong list of feelings is a near miss if the mean similarity of its matched tags is at least this."""
STEPS: Final = {"assess_hp": "assess in the person's place"}
"""Stages whose names do not say what they ask."""
QUESTIONS: Final = {
    "q1": "What the person was looking for",
    "q2": "How clear the feelings were",
    "q3": "How well the model fitted",
    "q3_follow_up": "What felt off",
}


class GridCell(NamedTuple):
    """A model's answer and how it compares with the truth."""

    text: str = DASH
    mark: Mark = ""


@dataclass(slots=True)
class Grid:
    """A table of answers."""

    title: str
    heads: tuple[str, ...]
    """Headings of the columns before the models'."""
    note: str = ""
    rows: list[tuple[tuple[str, ...], tuple[GridCell, ...]]] = field(default_factory=list)
    """(texts under `heads`, one cell per model)"""

    def add(self, texts: tuple[str, ...], cells: Iterable[GridCell], *, known: object = None) -> None:
        """A row, unless neither the truth is `known` nor any model answered."""
        found = tuple(cells)
        if known is not None or any(cell.text != DASH for cell in found):
            self.rows.append((texts, found))


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """One model's answers to a conversation, and what each request of it earned."""

    prediction: ConversationPrediction
    outcomes: Mapping[Place, str]
    replies: Mapping[Place, str]
    weights: Mapping[Place, Mapping[str, float]]
    """Place -> part -> its weight in the strict Composite, all together 1."""
    steps: Mapping[Place, Score]
    scores: Mapping[str, Any]
    """`composite_score`, `composite_strict`, `strict_parts`."""


def model_answers(
    conversation: Conversation,
    record: Mapping[str, Any],
    prediction: ConversationPrediction,
    scores: Mapping[str, Any] | None = None,
) -> ModelAnswers:
    """The answers of a record and its prediction, scored request by request under the strict Composite."""
    outcomes = outcomes_of(record)
    stages = tuple(stage for stage in STAGES if stage not in prediction.not_asked)
    spec = default_spec()
    weights: dict[Place, Mapping[str, float]] = {}
    steps: dict[Place, Score] = {}
    for (stage, turn), parts in request_weights(conversation, spec, stages).items():
        said = prediction.reflect if turn is None else getattr(prediction.turns.get(turn), stage, None)
        reason = outcomes.get((turn, stage), "ok")
        weights[turn, stage] = parts
        steps[turn, stage] = score_request(
            conversation, stage, turn, said, spec, stages=stages, reason=reason
        )
    shown = scores if scores is not None else score_conversation(conversation, prediction)
    return ModelAnswers(prediction, outcomes, replies_of(record), weights, steps, shown)


def _exact(said: str | None, want: str | None) -> GridCell:
    if said is None:
        return GridCell()
    return GridCell(said, "" if want is None else "hit" if said.casefold() == want.casefold() else "miss")


def _rating(said: int | None, want: int | None) -> GridCell:
    """A rating with its distance from the true one; one point off is a near miss."""
    if said is None or want is None or said == want:
        return _exact(None if said is None else str(said), None if want is None else str(want))
    return GridCell(f"{said} ({said - want:+d})", "near" if abs(said - want) == 1 else "miss")


def _feeling(felt: Sequence[str], tags: Sequence[Tag] | None) -> GridCell:
    """Predicted feelings: a list of other names that lie close to the felt ones is a near miss."""
    if tags is None:
        return GridCell()
    named = [tag.emotion for tag in tags]
    if {name.casefold() for name in named} == {name.casefold() for name in felt}:
        return GridCell(_tags(tags), "hit")
    close = matched_similarity(felt, named) / max(len(felt), len(named)) if felt and named else 0.0
    return GridCell(_tags(tags), "near" if close >= NEAR else "miss")


def _tags(tags: Sequence[Tag]) -> str:
    texts = (t.emotion if t.intensity is None else f"{t.emotion} {t.intensity}" for t in tags)
    return ", ".join(texts) or "none"


def turn_grids(truth: TurnTruth, answers: Sequence[ModelAnswers], book: Codebook) -> list[Grid]:
    """The grids of one turn that are not empty."""
    said = [one.prediction.turns.get(truth.turn) for one in answers]
    assess = [one.assess if one else None for one in said]
    feelings = Grid("What the person felt", ("", "felt"), "names with their intensity, 1 to 7")
    if truth.tags is not None:
        felt = [tag.emotion for tag in truth.tags]
        told = (None if one is None else one.tags for one in assess)
        feelings.add(("feelings", _tags(truth.tags)), (_feeling(felt, tags) for tags in told), known=felt)
    judged = Grid(
        "The reply, question by question",
        ("", "question", "about", "person"),
        "did: what the reply did; wanted: what the person would have wanted",
    )
    observed, preferred = dict(truth.observed), dict(truth.preferred)
    for question in dict.fromkeys([*observed, *preferred, *truth.applicable]):
        text = book.binary_text(question, observer=True)
        for about, wants, side in (("did", observed, "observed"), ("wanted", preferred, "preferred")):
            want = wants.get(question)
            given = (getattr(one, side).get(question) if one else None for one in assess)
            cells = (_exact(one, want) for one in given)
            judged.add((question, text, about, want or DASH), cells, known=want)
    chosen = Grid(
        "Which reply the person preferred",
        ("", "question", "between", "person"),
        "original: the reply that was given; alternate: improved by a language model; "
        "human: edited by the person",
    )
    winners = dict(truth.winners)
    for index, pair in enumerate(truth.comparisons):
        names = {"A": str(pair.response_a), "B": str(pair.response_b)}
        won = names[winners[index]] if index in winners else None
        picks = (one.prefer.picks.get(index) if one and one.prefer else None for one in said)
        between = f"{names['A']} / {names['B']}"
        labels = (pair.question_id, book.pairwise_text(pair.question_id), between, won or DASH)
        chosen.add(labels, (_exact(names[pick] if pick else None, won) for pick in picks), known=between)
    return [grid for grid in (feelings, judged, chosen) if grid.rows]


def end_grids(truth: ConversationTruth, answers: Sequence[ModelAnswers]) -> list[Grid]:
    """The grids of the questions after the conversation that are not empty."""
    affect = Grid("Feelings after the conversation (PANAS, 1 to 7)", ("item", "before", "after"))
    questions = Grid("Questions about the whole conversation", ("question", "person"))
    branches = Grid("How well the replies did (1 to 7)", ("branch", "person"))
    said = [one.prediction.reflect for one in answers]

    def rated(grid: Grid, name: str, field: str, *known: int | None) -> None:
        """A row of ratings; the last of `known` is the one to predict."""
        given = (getattr(one, field).get(name) if one else None for one in said)
        texts = (DASH if value is None else str(value) for value in known)
        grid.add((name, *texts), (_rating(one, known[-1]) for one in given), known=known[-1])

    for name in sorted(EMOTIONS, key=lambda name: POLARITY[name] == "negative"):
        rated(affect, name, "panas", truth.pre.get(name), truth.post.get(name))
    for name in BRANCHES:
        rated(branches, name, "branches", truth.branches.get(name))
    for name, title in QUESTIONS.items():
        want = _options(getattr(truth, name))
        cells = [_exact(_options(getattr(one, name)) if one else None, want) for one in said]
        if name in ("q1", "q3_follow_up"):  # the answer may be partly right
            cells = [GridCell(cell.text, "" if cell.mark == "miss" else cell.mark) for cell in cells]
        questions.add((title, want or DASH), cells, known=want)
    return [grid for grid in (affect, questions, branches) if grid.rows]


def _options(value: str | tuple[str, ...] | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return "; ".join(sorted(value)) or "none"


def score_grid(answers: Sequence[ModelAnswers]) -> Grid:
    """The Composite, and the strict parts with their weights."""
    grid = Grid(
        "Scores",
        ("", "weight"),
        "Composite: the benchmark's scoring; strict: an unanswered question scores 0. Parts range from 0 to "
        "1; their weights are those in this conversation's strict Composite.",
    )
    for name, title in (("composite_score", "Composite (0–100)"), ("composite_strict", "Strict (0–100)")):
        grid.add((title, ""), (_points(one.scores.get(name), 1) for one in answers))
    weights: Counter[str] = Counter()
    for parts in answers[0].weights.values() if answers else ():
        weights.update(parts)
    for leaf in (leaf for leaf in LEAVES if leaf in weights):
        cells = (_points(mapping(one.scores.get("strict_parts")).get(leaf), 2) for one in answers)
        grid.add((part_name(leaf), f"{100 * weights[leaf]:.1f}%"), cells, known=leaf)
    return grid


def step_grid(places: Sequence[Place], answers: Sequence[ModelAnswers]) -> Grid:
    """The score of each request of the episode, from 0 to 1, and its outcome if that is not ok."""
    grid = Grid(
        "Rewards, request by request",
        ("request", "weight"),
        "0 to 1 each; multiplied by their weights, they add up to the strict Composite / 100",
    )
    for turn, stage in places:
        weight = next(
            (sum(one.weights[turn, stage].values()) for one in answers if (turn, stage) in one.weights), 0.0
        )
        cells = [_step(one, (turn, stage)) for one in answers]
        if weight or any(cell.text not in ("ok", DASH) for cell in cells):
            step = f"{'end' if turn is None else f'turn {turn}'}, {STEPS.get(stage, stage)}"
            grid.rows.append(((step, f"{100 * weight:.1f}%" if weight else DASH), tuple(cells)))
    return grid


def _step(one: ModelAnswers, place: Place) -> GridCell:
    outcome, score = one.outcomes.get(place, ""), one.steps.get(place)
    trouble = "" if outcome in ("", "ok") else outcome
    mark: Mark = "miss" if trouble else ""
    if score is None or score.value is None:
        return GridCell(outcome or DASH, mark)
    return GridCell(f"{score.value:.2f} {trouble}".strip(), mark)


def _points(value: object, places: int) -> GridCell:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return GridCell(f"{value:.{places}f}") if number else GridCell()
