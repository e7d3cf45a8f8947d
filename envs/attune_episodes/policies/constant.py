"""Content-free policies: constant or random answers, given without reading the request."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from attune_data.format.affect import EMOTIONS, NEGATIVE, POSITIVE, SCALE
from attune_data.format.constants import BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS, Side
from attune_data.seeding import digest
from attune_episodes.policies.base import BuiltinPolicy, Given
from attune_episodes.protocol.request import Request
from attune_rewards.metrics.panas import spread
from attune_rewards.predictions import Assess, AssessHP, Draft, Prediction, Prefer, Reflect, Tag, YesNo

POLICIES: Final = {
    "empty": {
        "kind": "content-free",
        "uses": "nothing; its answers are empty",
        "answers": "empty tags, empty goals and follow-up; no yes/no, no picks, no ratings",
    },
    "always-yes": {
        "kind": "content-free",
        "uses": "nothing",
        "answers": "yes throughout; no tags, side A as shown, every PANAS item (no change, if changes are "
        "asked for) and branch 4, the first option of Q1, Q2 and Q3, an empty follow-up",
    },
    "always-no": {
        "kind": "content-free",
        "uses": "nothing",
        "answers": "no throughout; otherwise as `always-yes`",
    },
    "random": {
        "kind": "content-free",
        "uses": "nothing",
        "answers": "uniform valid answers; 0–2 tags; PANAS changes from −2 to 2; one goal; an empty "
        "follow-up; drawn from a hash of seed and request",
        "seeded": True,
    },
}
NO_DRAFT: Final = "…"
"""The draft of these policies; without a judge, drafts are not scored."""
MIDPOINT: Final = sum(SCALE) // 2


@dataclass(frozen=True, slots=True)
class PanasGuess:
    """A constant answer for one side of the PANAS: a total, or a change from the total in the prompt."""

    total: int | None = None
    change: int = 0


@dataclass(frozen=True, slots=True)
class Answers:
    """A constant answer to everything that can be asked."""

    draft: str = NO_DRAFT
    tags: tuple[Tag, ...] | None = ()
    observed: Mapping[str, YesNo] = field(default_factory=dict)
    preferred: Mapping[str, YesNo] = field(default_factory=dict)
    otherwise: YesNo | None = None
    """The answer to questions missing from the mappings; None = unanswered."""
    side: Side | None = None
    """The side picked in every comparison, as labelled in the prompt; None = unanswered."""
    panas: tuple[PanasGuess, PanasGuess] | None = None
    """Positive and negative affect; None = unanswered."""
    q1: tuple[str, ...] | None = ()
    q2: str | None = None
    q3: str | None = None
    q3_follow_up: tuple[str, ...] | None = ()
    branches: Mapping[str, int] = field(default_factory=dict)

    def prediction(self, request: Request) -> Prediction:
        """Convert the answer to the typed prediction for a request."""
        if request.stage == "draft":
            return Draft(self.draft)
        if request.stage == "prefer":
            if self.side is None:
                return Prefer()
            return Prefer({c.index: c.to_conversation(self.side) for c in request.comparisons})
        if request.stage == "reflect":
            return self._reflect(request)
        observed, preferred = (
            {q: answer for q in request.questions if (answer := known.get(q, self.otherwise)) is not None}
            for known in (self.observed, self.preferred)
        )
        if request.stage == "assess":
            return Assess(self.tags, observed, preferred)
        return AssessHP(observed, preferred)

    def _reflect(self, request: Request) -> Reflect:
        items: dict[str, int] = {}
        change: dict[str, int] = {}
        for side, (names, guess) in enumerate(zip((POSITIVE, NEGATIVE), self.panas or (), strict=False)):
            if request.wants_change:
                change |= spread(guess.change, names, low=-6, high=6)
            elif guess.total is not None or request.pre_totals is None:
                items |= spread(guess.total or MIDPOINT * len(names), names)
            else:
                items |= spread(round(request.pre_totals[side]) + guess.change, names)
        return Reflect(
            panas={name: items[name] for name in EMOTIONS if name in items},
            panas_change=change if request.wants_change else None,
            q1=self.q1,
            q2=self.q2,
            q3=self.q3,
            q3_follow_up=self.q3_follow_up,
            branches=self.branches,
        )


@dataclass(frozen=True, slots=True)
class ConstantPolicy(BuiltinPolicy):
    """Gives the same answers regardless of the conversation."""

    name: str
    answers: Answers

    def prediction(self, request: Request) -> Prediction:
        """The constant answer."""
        return self.answers.prediction(request)


EMPTY: Final = ConstantPolicy("empty", Answers())
"""Answers nothing: no tags, no yes/no, no picks, empty lists."""


def always(answer: YesNo) -> ConstantPolicy:
    """Answers yes (or no) to every question, with no tags, side A, midpoints and first options."""
    middle = PanasGuess(total=MIDPOINT * len(POSITIVE))
    return ConstantPolicy(
        f"always-{answer}",
        Answers(
            otherwise=answer,
            side="A",
            panas=(middle, middle),
            q1=Q1_OPTIONS[:1],
            q2=Q2_OPTIONS[0],
            q3=Q3_OPTIONS[0],
            branches=dict.fromkeys(BRANCHES, MIDPOINT),
        ),
    )


def make(name: str, given: Given) -> BuiltinPolicy:
    """Make one of these policies."""
    if name == "empty":
        return EMPTY
    if name == "random":
        return RandomPolicy(given.seed)
    return always("yes" if name == "always-yes" else "no")


@dataclass(frozen=True, slots=True)
class RandomPolicy(BuiltinPolicy):
    """Gives uniformly random valid answers, drawn from a hash of seed and request, in any order."""

    seed: int = 0
    name: str = "random"

    def prediction(self, request: Request) -> Prediction:
        """A random valid answer."""
        draw = random.Random(digest(self.seed, request.id).hex()).random

        def pick(count: int) -> int:
            return int(draw() * count)

        def yes_no() -> dict[str, YesNo]:
            return {question: "no" if pick(2) else "yes" for question in request.questions}

        if request.stage == "draft":
            return Draft(NO_DRAFT)
        if request.stage == "prefer":
            return Prefer({c.index: ("A", "B")[pick(2)] for c in request.comparisons})
        if request.stage == "reflect":
            return _random_reflect(request, pick)
        observed, preferred = yes_no(), yes_no()
        if request.stage == "assess_hp":
            return AssessHP(observed, preferred)
        left = list(EMOTIONS)
        tags = tuple(Tag(left.pop(pick(len(left))), 1 + pick(7)) for _ in range(pick(3)))
        return Assess(tags, observed, preferred)


def _random_reflect(request: Request, pick: Callable[[int], int]) -> Reflect:
    low, count = (-2, 5) if request.wants_change else (1, 7)
    ratings = {name: low + pick(count) for name in EMOTIONS}

    def one(name: str) -> str | None:
        options = request.options[name]
        return options[pick(len(options))] if options else None

    goal = one("q1_lookingFor")
    return Reflect(
        panas={} if request.wants_change else ratings,
        panas_change=ratings if request.wants_change else None,
        q1=(goal,) if goal else (),
        q2=one("q2_emotionClarity"),
        q3=one("q3_modelFit"),
        q3_follow_up=(),
        branches={name: 1 + pick(7) for name in BRANCHES},
    )
