"""The searched adversary: coordinate ascent over constant answers, against whatever the reward is.

It knows nothing of how the reward is made: from silence (and from the prior) it tries one change at a time
to one constant answer, keeps what pays more on the fitting data, and goes round until nothing does. What it
then earns on other people is what a policy can learn to earn without reading.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from attune_data.affect import EMOTIONS, POSITIVE, SCALE, TOTALS
from attune_data.constants import BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_data.schema import Conversation
from attune_episodes.plan import plan
from attune_episodes.policies.constant import EMPTY, MIDPOINT, NO_DRAFT, Answers, PanasGuess
from attune_episodes.policies.fitted import fit_prior
from attune_episodes.request import Request
from attune_episodes.score import as_scored
from attune_episodes.settings import Settings
from attune_rewards.predictions import STAGES, Stage, Tag, YesNo
from attune_rewards.reward import ScoredRequest, scored_requests
from attune_rewards.spec import RewardSpec
from attune_rewards.truth import truth_of

MAX_ROUNDS: Final = 20
GAIN: Final = 1e-9
"""A change that gains less than this is none."""
WORDS: Final = 500
"""How many of the most frequent words of the replies one of the drafts holds."""
FOLLOW_UPS: Final = 20
"""How many of the most frequent follow-up texts are tried."""
DRAFTS: Final = (
    NO_DRAFT,
    "I'm here for you.",
    "That sounds really hard, and it makes sense that you feel this way. I'm sorry you are going through it. "
    "Would you like to tell me more about what has been the heaviest part?",
    "I hear you. " * 100,
)
"""Drafts that fit everywhere, for rewards of one's own that score drafts."""


class Coordinate(NamedTuple):
    """One thing that a constant answer can change."""

    stages: tuple[Stage, ...]
    """The stages that the change touches."""
    question: str | None
    """The question it is about; None: all of the stages."""
    field: str
    """The field of `Answers`."""
    choices: Callable[[Any], Iterable[Any]]
    """From the present value of the field to the values to try."""


class _Payoff:
    """The mean return of constant answers on the fitting data, stage by stage."""

    def __init__(self, conversations: Sequence[Conversation], settings: Settings, spec: RewardSpec) -> None:
        self.episodes = len(conversations)
        self.places: dict[tuple[Stage, str | None], list[tuple[Request, ScoredRequest]]] = {}
        """(stage, question) -> the scored requests that ask it; question None: all of the stage."""
        for conversation in conversations:
            scored = scored_requests(conversation, spec, settings.stages)
            for request in plan(conversation, settings):
                if here := scored.get((request.stage, request.turn)):
                    for question in (None, *request.questions):
                        self.places.setdefault((request.stage, question), []).append((request, here))
        self.questions = sorted({question for _, question in self.places if question})

    def __call__(self, answers: Answers, stages: Iterable[Stage], question: str | None = None) -> float:
        rewards = (
            scored.score(as_scored(request, answers.prediction(request), scored.truth)[0]).reward
            for stage in stages
            for request, scored in self.places.get((stage, question), ())
        )
        return math.fsum(rewards) / self.episodes


def fit_searched(
    conversations: Sequence[Conversation],
    settings: Settings,
    spec: RewardSpec,
    starts: Sequence[Answers] | None = None,
) -> Answers:
    """The constant answers that coordinate ascent ends at: the best of several climbs.

    Args:
        conversations: what they are fitted on.
        settings: how policies are asked.
        spec: the reward to climb.
        starts: where to start; by default from silence. A later start, by default the prior's answers, is
            climbed from only where it pays more than what was found before.

    Each climb ends at a local optimum of the mean return: no single change pays more.
    """
    payoff = _Payoff(conversations, settings, spec)
    coordinates = [
        one
        for one in _coordinates(conversations, payoff.questions)
        if any((stage, one.question) in payoff.places for stage in one.stages)
    ]
    if starts is None:
        starts = (EMPTY.answers, fit_prior(conversations, settings))
    best = _climb(payoff, coordinates, starts[0])
    for start in starts[1:]:
        if payoff(start, STAGES) > payoff(best, STAGES) + GAIN:
            best = _climb(payoff, coordinates, start)
    return best


def _climb(payoff: _Payoff, coordinates: Sequence[Coordinate], start: Answers) -> Answers:
    answers, changes = start, Counter[Stage]()
    tried: dict[int, list[int]] = {}
    for _ in range(MAX_ROUNDS):
        before = answers
        for number, coordinate in enumerate(coordinates):
            # what a change earns depends on the answers of its own stages alone
            state = [changes[stage] for stage in coordinate.stages]
            if tried.get(number) == state:
                continue
            best = _best(payoff, answers, coordinate)
            if best != answers:
                answers = best
                changes.update(coordinate.stages)
            tried[number] = state
        if answers == before:
            break
    return answers


def _best(payoff: _Payoff, answers: Answers, coordinate: Coordinate) -> Answers:
    stages, question, field, choices = coordinate
    best, earned = answers, payoff(answers, stages, question)
    for value in choices(getattr(answers, field)):
        other = replace(answers, **{field: value})
        if (found := payoff(other, stages, question)) > earned + GAIN:
            best, earned = other, found
    return best


def _coordinates(conversations: Sequence[Conversation], questions: Iterable[str]) -> Iterator[Coordinate]:
    replies = [text for c in conversations for t in c.turns for text in t.responses.values() if text]
    words = _frequent((w for text in replies for w in re.findall(r"[\w']+|[!?]", text.lower())), WORDS)
    follow_ups = (text for c in conversations for text in truth_of(c).q3_follow_up or ())
    reflect: tuple[Stage, ...] = ("reflect",)
    yield Coordinate(("draft",), None, "draft", lambda now: (*DRAFTS, " ".join(words)))
    yield Coordinate(("assess",), None, "tags", _tags)
    for question in questions:
        for field in ("observed", "preferred"):
            yield Coordinate(("assess", "assess_hp"), question, field, partial(_answered, question))
    yield Coordinate(("prefer",), None, "side", lambda now: ("A", "B", None))
    yield Coordinate(reflect, None, "panas", _panas)
    yield Coordinate(reflect, None, "q1", partial(_toggled, Q1_OPTIONS))
    yield Coordinate(reflect, None, "q2", lambda now: (*Q2_OPTIONS, None))
    yield Coordinate(reflect, None, "q3", lambda now: (*Q3_OPTIONS, None))
    yield Coordinate(reflect, None, "q3_follow_up", partial(_toggled, _frequent(follow_ups, FOLLOW_UPS)))
    for branch in BRANCHES:
        yield Coordinate(reflect, None, "branches", partial(_rated, branch))


def _frequent(texts: Iterable[str], number: int) -> list[str]:
    often = sorted(Counter(texts).items(), key=lambda found: (-found[1], found[0]))
    return [text for text, _ in often[:number]]


def _tags(now: tuple[Tag, ...] | None) -> list[tuple[Tag, ...] | None]:
    """No answer, none, one, one more (the same again too), one less, one exchanged; other intensities."""
    now = now or ()
    intensity = now[0].intensity if now else MIDPOINT
    one = [Tag(name, intensity) for name in EMOTIONS]
    sets: list[tuple[Tag, ...] | None] = [None, (), *((tag,) for tag in one), tuple(one)]
    sets += [(*now, tag) for tag in one]
    for place in range(len(now)):
        sets += [now[:place] + now[place + 1 :], *((*now[:place], t, *now[place + 1 :]) for t in one)]
    sets += [tuple(Tag(tag.emotion, value) for tag in now) for value in (None, *range(1, 8))]
    # several tags at one end of the scale at once, which no single step leads to
    return sets + [tuple(Tag(name, end) for name in EMOTIONS[:n]) for n in (1, 2, 3, 5) for end in SCALE]


def _answered(question: str, now: Mapping[str, YesNo]) -> Iterator[dict[str, YesNo]]:
    """The answers with one of them yes, or no."""
    others = {name: answer for name, answer in now.items() if name != question}
    yield {**others, question: "yes"}
    yield {**others, question: "no"}


def _rated(branch: str, now: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """The branch scores with one of them at each point of the scale."""
    return ({**now, branch: value} for value in range(SCALE[0], SCALE[1] + 1))


def _toggled(texts: Sequence[str], now: tuple[str, ...] | None) -> Iterator[tuple[str, ...] | None]:
    """No answer, none, all, and each text added or taken away."""
    chosen = now or ()
    yield None
    yield ()
    yield tuple(texts)
    for text in texts:
        yield (*chosen, text) if text not in chosen else tuple(t for t in chosen if t != text)


def _panas(now: tuple[PanasGuess, PanasGuess] | None) -> Iterator[tuple[PanasGuess, PanasGuess] | None]:
    """No answer, and each side's total or change moved a little or reset."""
    yield None
    middle = PanasGuess(total=MIDPOINT * len(POSITIVE))
    sides = now or (middle, middle)
    for side in (0, 1):
        for guess in (middle, PanasGuess(), *_near(sides[side])):
            yield (guess, sides[1]) if side == 0 else (sides[0], guess)


def _near(guess: PanasGuess) -> Iterator[PanasGuess]:
    for step in (-10, -3, -1, 1, 3, 10):
        if guess.total is None:
            yield PanasGuess(change=guess.change + step)
        elif TOTALS[0] <= guess.total + step <= TOTALS[1]:
            yield PanasGuess(total=guess.total + step)
