"""The search adversary: coordinate ascent over constant answers, against any reward.

It knows nothing about how the reward is computed. Starting from silence (and from the prior), it tries one
change at a time to one constant answer, keeps each change that earns more on the fitting data, and repeats
until none does. The return on other people is what a policy can learn to earn without reading.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from attune_data.format.affect import EMOTIONS, POSITIVE, SCALE, TOTALS
from attune_data.format.constants import BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_data.format.schema import Conversation
from attune_episodes.play.score import as_scored
from attune_episodes.policies.constant import EMPTY, MIDPOINT, NO_DRAFT, Answers, PanasGuess
from attune_episodes.policies.fitted import fit_prior
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.request import Request
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import STAGES, Stage, Tag
from attune_rewards.reward.score import ScoredRequest, scored_requests
from attune_rewards.reward.spec import RewardSpec
from attune_rewards.truth import truth_of

MAX_ROUNDS: Final = 20
GAIN: Final = 1e-9
"""Smallest gain for which a change is kept."""
WORDS: Final = 500
"""How many of the most frequent words in replies make up one of the drafts."""
FOLLOW_UPS: Final = 20
"""How many of the most frequent follow-up texts are tried."""
DRAFTS: Final = (
    NO_DRAFT,
    "I'm here for you.",
    "That sounds really hard, and it makes sense that you feel this way. I'm sorry you are going through it. "
    "Would you like to tell me more about what has been the heaviest part?",
    "I hear you. " * 100,
)
"""Drafts that fit any conversation, for custom rewards that score drafts."""

Choices = Callable[[Any], Iterable[Any]]
"""Maps the current value of a field to the values to try."""
Tags = tuple[Tag, ...] | None


class Coordinate(NamedTuple):
    """One way in which a constant answer can change."""

    stages: tuple[Stage, ...]
    """The stages that the change affects."""
    field: str
    """The field of `Answers`."""
    choices: Choices
    question: str | None = None
    """The question it affects; None for all questions of the stages."""


class _Payoff:
    """The mean return of constant answers on the fitting data, by stage."""

    def __init__(self, conversations: Sequence[Conversation], settings: Settings, spec: RewardSpec) -> None:
        self.episodes = len(conversations)
        self.places: dict[tuple[Stage, str | None], list[tuple[Request, ScoredRequest]]] = {}
        """(stage, question) -> the scored requests that ask it; question None means the whole stage."""
        for conversation in conversations:
            scored = scored_requests(conversation, spec, settings.stages)
            for request in plan(conversation, settings):
                if here := scored.get((request.stage, request.turn)):
                    for question in (None, *request.questions):
                        self.places.setdefault((request.stage, question), []).append((request, here))

    def __call__(self, answers: Answers, stages: Iterable[Stage], question: str | None = None) -> float:
        rewards = (
            scored.score(as_scored(request, answers.prediction(request), scored)[0]).reward
            for stage in stages
            for request, scored in self.places.get((stage, question), ())
        )
        return math.fsum(rewards) / self.episodes

    def climbed(self, coordinates: Sequence[Coordinate], start: Answers) -> Answers:
        """Climb to answers that no single change improves."""
        answers, changes = start, Counter[Stage]()
        tried: dict[int, list[int]] = {}
        for _ in range(MAX_ROUNDS):
            before = answers
            for number, coordinate in enumerate(coordinates):
                # the gain of a change depends only on the answers of its own stages
                state = [changes[stage] for stage in coordinate.stages]
                if tried.get(number) == state:
                    continue
                best = self._best(answers, coordinate)
                if best != answers:
                    answers = best
                    changes.update(coordinate.stages)
                tried[number] = state
            if answers == before:
                break
        return answers

    def _best(self, answers: Answers, coordinate: Coordinate) -> Answers:
        stages, field, choices, question = coordinate
        best, earned = answers, self(answers, stages, question)
        for value in choices(getattr(answers, field)):
            other = replace(answers, **{field: value})
            if (found := self(other, stages, question)) > earned + GAIN:
                best, earned = other, found
        return best


def fit_searched(
    conversations: Sequence[Conversation],
    settings: Settings,
    spec: RewardSpec,
    starts: Sequence[Answers] | None = None,
) -> Answers:
    """Find constant answers by coordinate ascent: the best of several climbs.

    Args:
        conversations: the data on which they are fitted.
        settings: how policies are asked.
        spec: the reward to climb.
        starts: where to start; by default from silence. A later start, by default the prior's answers, is
            used only if it earns more than the result so far.

    Each climb ends at a local optimum of the mean return: no single change earns more.
    """
    payoff = _Payoff(conversations, settings, spec)
    questions = sorted({question for _, question in payoff.places if question})
    coordinates = [
        one
        for one in _coordinates(conversations, questions)
        if any((stage, one.question) in payoff.places for stage in one.stages)
    ]
    if starts is None:
        starts = (EMPTY.answers, fit_prior(conversations, settings))
    best = payoff.climbed(coordinates, starts[0])
    for start in starts[1:]:
        if payoff(start, STAGES) > payoff(best, STAGES) + GAIN:
            best = payoff.climbed(coordinates, start)
    return best


def _coordinates(conversations: Sequence[Conversation], questions: Iterable[str]) -> Iterator[Coordinate]:
    replies = [text for c in conversations for t in c.turns for text in t.responses.values() if text]
    words = _frequent((w for text in replies for w in re.findall(r"[\w']+|[!?]", text.lower())), WORDS)
    follow_ups = (text for c in conversations for text in truth_of(c).q3_follow_up or ())
    yield Coordinate(("draft",), "draft", lambda now: (*DRAFTS, " ".join(words)))
    yield Coordinate(("assess",), "tags", _tags)
    for question in questions:
        for field in ("observed", "preferred"):
            yield Coordinate(("assess", "assess_hp"), field, _entry(question, ("yes", "no")), question)
    yield Coordinate(("prefer",), "side", lambda now: ("A", "B", None))
    reflect: dict[str, Choices] = {
        "panas": _panas,
        "q1": _toggled(Q1_OPTIONS),
        "q2": lambda now: (*Q2_OPTIONS, None),
        "q3": lambda now: (*Q3_OPTIONS, None),
        "q3_follow_up": _toggled(_frequent(follow_ups, FOLLOW_UPS)),
    }
    for field, choices in reflect.items():
        yield Coordinate(("reflect",), field, choices)
    for branch in BRANCHES:
        yield Coordinate(("reflect",), "branches", _entry(branch, range(SCALE[0], SCALE[1] + 1)))


def _frequent(texts: Iterable[str], number: int) -> list[str]:
    often = sorted(Counter(texts).items(), key=lambda found: (-found[1], found[0]))
    return [text for text, _ in often[:number]]


def _tags(now: Tags) -> list[Tags]:
    """No answer, an empty one, one tag; one tag added, doubled, removed or replaced; other intensities."""
    now = now or ()
    intensity = now[0].intensity if now else MIDPOINT
    one = [Tag(name, intensity) for name in EMOTIONS]
    sets: list[Tags] = [None, (), *((tag,) for tag in one), tuple(one)]
    sets += [(*now, tag) for tag in one]
    for place in range(len(now)):
        sets += [now[:place] + now[place + 1 :], *((*now[:place], t, *now[place + 1 :]) for t in one)]
    sets += [tuple(Tag(tag.emotion, value) for tag in now) for value in (None, *range(1, 8))]
    # several tags at one end of the scale at once, which no single step reaches
    return sets + [tuple(Tag(name, end) for name in EMOTIONS[:n]) for n in (1, 2, 3, 5) for end in SCALE]


def _entry(key: str, values: Iterable[Any]) -> Choices:
    """The mapping with each of the values under a key."""
    return lambda now: ({**{k: v for k, v in now.items() if k != key}, key: value} for value in values)


def _toggled(texts: Sequence[str]) -> Choices:
    """No answer, an empty one, all texts, and each text added or removed."""

    def choices(now: tuple[str, ...] | None) -> Iterator[tuple[str, ...] | None]:
        yield from (None, (), tuple(texts))
        for text in texts:
            rest = tuple(t for t in now or () if t != text)
            yield rest if text in (now or ()) else (*rest, text)

    return choices


def _panas(now: tuple[PanasGuess, PanasGuess] | None) -> Iterator[tuple[PanasGuess, PanasGuess] | None]:
    """No answer, and each side's total or change shifted slightly or reset."""
    yield None
    middle = PanasGuess(total=MIDPOINT * len(POSITIVE))
    positive, negative = now or (middle, middle)
    yield from ((guess, negative) for guess in (middle, PanasGuess(), *_near(positive)))
    yield from ((positive, guess) for guess in (middle, PanasGuess(), *_near(negative)))


def _near(guess: PanasGuess) -> Iterator[PanasGuess]:
    for step in (-10, -3, -1, 1, 3, 10):
        if guess.total is None:
            yield PanasGuess(change=guess.change + step)
        elif TOTALS[0] <= guess.total + step <= TOTALS[1]:
            yield PanasGuess(total=guess.total + step)
