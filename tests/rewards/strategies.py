"""Hypothesis strategies: random annotated conversations, whole or with holes, and random predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from attune_data import Conversation
from attune_data.format.affect import EMOTIONS, POSITIVE
from attune_data.format.constants import (
    BINARY_IDS,
    BRANCHES,
    JUDGE_DIMENSIONS,
    Q1_OPTIONS,
    Q2_OPTIONS,
    Q3_OPTIONS,
)
from attune_rewards import (
    Assess,
    AssessHP,
    ConversationPrediction,
    Draft,
    Judged,
    Prefer,
    Reflect,
    Tag,
    TurnPrediction,
)
from attune_rewards.truth import TurnTruth, truth_of
from tests.rewards.builders import (
    EMOJI,
    LONG,
    RIGHT_TO_LEFT,
    Json,
    comparison,
    conversation,
    judgement,
    panas,
    turn,
    wide,
)

TEXTS = st.sampled_from(["", "I feel heard", "too long, too cold", EMOJI, RIGHT_TO_LEFT, LONG]) | st.text(
    max_size=12
)
ANSWERS = st.sampled_from(["yes", "no", "na", None])
RATINGS = st.integers(1, 7)

# each feeling once, as people name them: strict scores count them so, canonical scores take lists as they are
_once: Any = {"max_size": 3, "unique_by": lambda tag: tag.emotion.casefold()}
TRUE_TAGS = st.lists(st.builds(Tag, st.sampled_from(EMOTIONS), st.none() | RATINGS), **_once)
ANY_EMOTION = st.sampled_from([*EMOTIONS, "upset", "PROUD", "Wistful", EMOJI, ""])
PREDICTED_TAGS = st.lists(st.builds(Tag, ANY_EMOTION, st.none() | RATINGS), **_once).map(tuple)
Q1_ANSWERS = st.lists(st.sampled_from(Q1_OPTIONS), max_size=3)
FREE_TEXTS = st.lists(TEXTS, max_size=2)


@st.composite
def turn_records(draw: st.DrawFn, number: int, full: bool) -> Json:
    questions = draw(st.lists(st.sampled_from(BINARY_IDS), min_size=int(full), max_size=4, unique=True))
    judgements = [judgement(q, draw(ANSWERS), draw(ANSWERS), llmValue=draw(ANSWERS)) for q in questions]
    if full:
        judgements[0] |= {
            "observedBehavior": "yes",
            "preferredBehavior": draw(st.sampled_from(["yes", "no"])),
        }
    pairs = st.sampled_from([("original", "human"), ("human", "alternate"), ("alternate", "original")])
    winners = st.sampled_from(["A", "B"]) if full else st.sampled_from(["A", "B", None])
    drawn = draw(st.lists(st.tuples(pairs, winners), min_size=int(full), max_size=4))
    record = turn(
        number,
        tags=draw(TRUE_TAGS if full else st.none() | TRUE_TAGS),
        judgements=judgements,
        comparisons=[comparison(a, b, winner) for (a, b), winner in drawn],
        texts=(draw(TEXTS), draw(st.none() | TEXTS), draw(st.none() | TEXTS)),
    )
    if not full:
        for key in draw(st.sets(st.sampled_from(["moodShiftTags", "annotations"]), max_size=1)):
            del record[key]
    return record


def item_values(full: bool) -> st.SearchStrategy[dict[str, int | None]]:
    """Answers to the 20 items; with holes where not full."""
    complete = st.binary(min_size=20, max_size=20).map(
        lambda drawn: {name: 1 + byte % 7 for name, byte in zip(EMOTIONS, drawn, strict=True)}
    )
    if full:
        return complete.map(dict)
    holes = st.sets(st.sampled_from(EMOTIONS), max_size=2) | st.just(set(EMOTIONS))
    return st.builds(
        lambda items, gone: {n: None if n in gone else v for n, v in items.items()}, complete, holes
    )


def panas_records(full: bool) -> st.SearchStrategy[Json]:
    totals = st.none() | st.integers(10, 70)
    return st.builds(panas, item_values(full), st.just((None, None)) if full else st.tuples(totals, totals))


@st.composite
def moved_moods(draw: st.DrawFn) -> tuple[Json, Json]:
    """Complete PANAS before and after, at least the positive total moved."""
    pre, post = draw(item_values(True)), draw(item_values(True))
    if sum(pre[name] or 0 for name in POSITIVE) == sum(post[name] or 0 for name in POSITIVE):
        post["Proud"] = 1 + (pre["Proud"] or 0) % 7 if pre["Proud"] == post["Proud"] else pre["Proud"]
    return panas(pre), panas(post)


@st.composite
def conversations(draw: st.DrawFn, full: bool = False) -> Conversation:
    """Annotated conversations: with holes everywhere, or (full) fully annotated."""
    numbers = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True))
    moods = st.none() | panas_records(full)
    pre, post = draw(moved_moods()) if full else (draw(moods), draw(moods))

    def maybe(strategy: st.SearchStrategy[Any]) -> Any:
        return draw(strategy if full else st.none() | strategy)

    branches = st.fixed_dictionaries({name: RATINGS if full else st.none() | RATINGS for name in BRANCHES})
    questions = maybe(st.just({}))
    if questions is not None:
        questions = wide(
            maybe(Q1_ANSWERS), maybe(st.sampled_from(Q2_OPTIONS)), maybe(st.sampled_from(Q3_OPTIONS)),
            maybe(FREE_TEXTS), maybe(branches),
        )  # fmt: skip
    turns = [draw(turn_records(number, full)) for number in numbers]
    return conversation(*turns, pre=pre, post=post, questions=questions)


# --- predictions --------------------------------------------------------------------------------


@st.composite
def predictions(draw: st.DrawFn, about: Conversation, complete: bool = False) -> ConversationPrediction:
    """Valid answers to all that is asked, or (not complete) with gaps anywhere."""
    truth = truth_of(about)
    turns = {}
    for here in truth.turns:
        if complete or draw(st.integers(0, 4)):
            turns[here.turn] = draw(turn_predictions(here, complete))
    reflect = draw(reflections(complete) if complete else st.none() | reflections(complete))
    return ConversationPrediction(about.conversation_id, turns, reflect)


def _some(
    keys: Sequence[Any], values: st.SearchStrategy[Any], complete: bool
) -> st.SearchStrategy[dict[Any, Any]]:
    """A value for every key, or only for some."""
    table = dict.fromkeys(keys, values)
    return st.fixed_dictionaries(table) if complete else st.fixed_dictionaries({}, optional=table)


@st.composite
def turn_predictions(draw: st.DrawFn, truth: TurnTruth, complete: bool) -> TurnPrediction:
    answers = _some(truth.applicable, st.sampled_from(["yes", "no"]), complete)
    picks = _some(range(len(truth.comparisons)), st.sampled_from(["A", "B"]), complete)
    stages: dict[str, st.SearchStrategy[Any]] = {
        "draft": st.builds(Draft, TEXTS),
        "assess": st.builds(
            Assess, PREDICTED_TAGS if complete else st.none() | PREDICTED_TAGS, answers, answers
        ),
        "assess_hp": st.builds(AssessHP, answers, answers),
        "prefer": st.builds(Prefer, picks),
    }
    said: dict[str, Any] = {s: draw(made if complete else st.none() | made) for s, made in stages.items()}
    ratings = _some(JUDGE_DIMENSIONS, st.floats(1, 7), complete)
    said["judged"] = draw(st.none() | st.builds(Judged, ratings, st.none() | answers))
    return TurnPrediction(truth.turn, **said)


@st.composite
def reflections(draw: st.DrawFn, complete: bool) -> Reflect:
    def maybe(strategy: st.SearchStrategy[Any]) -> Any:
        return draw(strategy if complete else st.none() | strategy)

    totals = st.none() | st.floats(10, 70)
    return Reflect(
        panas={name: value for name, value in draw(item_values(complete)).items() if value is not None},
        panas_totals=(None, None) if complete else draw(st.tuples(totals, totals)),
        q1=maybe(Q1_ANSWERS.map(tuple)),
        q2=maybe(st.sampled_from(Q2_OPTIONS)),
        q3=maybe(st.sampled_from(Q3_OPTIONS)),
        q3_follow_up=maybe(FREE_TEXTS.map(tuple)),
        branches=draw(_some(BRANCHES, RATINGS, complete)),
    )


@st.composite
def scored(
    draw: st.DrawFn, full: bool = False, complete: bool = False
) -> tuple[Conversation, ConversationPrediction]:
    """A conversation and what a model said about it."""
    about = draw(conversations(full))
    return about, draw(predictions(about, complete))
