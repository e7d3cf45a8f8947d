"""The searched adversary: coordinate ascent over constant answers, against whatever the reward is.

It knows nothing of how the reward is made: from silence (and from the prior) it tries one change at a time
to one constant answer, keeps what pays more on the fitting data, and goes round until nothing does. What it
then earns on other people is what a policy can learn to earn without reading.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

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
"""A change that pays less than this more is none."""
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

Moves = Callable[[Answers], Iterable[Answers]]
Coordinate = tuple[tuple[Stage, ...], str | None, Moves]
"""The stages that a change touches, the question it is about, the changes to try."""


class _Payoff:
    """What constant answers earn on the fitting data, stage by stage: the mean return of an episode."""

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
        (stages, question, moves)
        for stages, question, moves in _coordinates(conversations, payoff.questions)
        if any((stage, question) in payoff.places for stage in stages)
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
        for number, (stages, question, moves) in enumerate(coordinates):
            # what a change pays depends on the answers of its own stages alone
            state = [changes[stage] for stage in stages]
            if tried.get(number) == state:
                continue
            best = _best(payoff, answers, stages, question, moves)
            if best != answers:
                answers = best
                changes.update(stages)
            tried[number] = state
        if answers == before:
            break
    return answers


def _best(
    payoff: _Payoff, answers: Answers, stages: tuple[Stage, ...], question: str | None, moves: Moves
) -> Answers:
    best, paid = answers, payoff(answers, stages, question)
    for other in moves(answers):
        if (earned := payoff(other, stages, question)) > paid + GAIN:
            best, paid = other, earned
    return best


def _coordinates(conversations: Sequence[Conversation], questions: Iterable[str]) -> Iterator[Coordinate]:
    drafts = (*DRAFTS, _frequent_words(conversations))
    yield ("draft",), None, lambda a: (replace(a, draft=text) for text in drafts)
    yield ("assess",), None, _tags
    both: tuple[Stage, ...] = ("assess", "assess_hp")
    for question in questions:
        yield (
            both,
            question,
            lambda a, q=question: (  # type: ignore[misc]
                replace(a, observed=known) for known in _answered(a.observed, q)
            ),
        )
        yield (
            both,
            question,
            lambda a, q=question: (  # type: ignore[misc]
                replace(a, preferred=known) for known in _answered(a.preferred, q)
            ),
        )
    yield ("prefer",), None, lambda a: (replace(a, side=side) for side in ("A", "B", None))
    yield ("reflect",), None, lambda a: (replace(a, panas=panas) for panas in _panas(a))
    yield ("reflect",), None, lambda a: (replace(a, q1=q1) for q1 in _toggled(a.q1, Q1_OPTIONS))
    yield ("reflect",), None, lambda a: (replace(a, q2=q2) for q2 in (*Q2_OPTIONS, None))
    yield ("reflect",), None, lambda a: (replace(a, q3=q3) for q3 in (*Q3_OPTIONS, None))
    said = Counter(text for c in conversations for text in truth_of(c).q3_follow_up or ())
    texts = [text for text, _ in sorted(said.items(), key=lambda found: (-found[1], found[0]))[:FOLLOW_UPS]]
    yield (
        ("reflect",),
        None,
        lambda a: (replace(a, q3_follow_up=off) for off in _toggled(a.q3_follow_up, texts)),
    )
    for branch in BRANCHES:
        yield (
            ("reflect",),
            None,
            lambda a, b=branch: (  # type: ignore[misc]
                replace(a, branches={**a.branches, b: value}) for value in range(SCALE[0], SCALE[1] + 1)
            ),
        )


def _frequent_words(conversations: Sequence[Conversation]) -> str:
    """The most frequent words of all replies, for rewards that like certain words."""
    replies = [
        text
        for conversation in conversations
        for turn in conversation.turns
        for text in turn.responses.values()
        if text
    ]
    words = Counter(word for text in replies for word in re.findall(r"[\w']+|[!?]", text.lower()))
    often = sorted(words.items(), key=lambda found: (-found[1], found[0]))[:WORDS]
    return " ".join(word for word, _ in often)


def _tags(answers: Answers) -> Iterator[Answers]:
    """No answer, none, one, one more (the same again too), one less, one exchanged; other intensities."""
    now = answers.tags or ()
    intensity = now[0].intensity if now else MIDPOINT
    one = [Tag(name, intensity) for name in EMOTIONS]
    sets: list[tuple[Tag, ...] | None] = [None, (), *((tag,) for tag in one), tuple(one)]
    sets += [(*now, tag) for tag in one]
    for place in range(len(now)):
        sets += [now[:place] + now[place + 1 :], *((*now[:place], t, *now[place + 1 :]) for t in one)]
    sets += [tuple(Tag(tag.emotion, value) for tag in now) for value in (None, *range(1, 8))]
    # several tags at one end of the scale at once, which no single step leads to
    sets += [tuple(Tag(name, end) for name in EMOTIONS[:count]) for count in (1, 2, 3, 5) for end in SCALE]
    return (replace(answers, tags=tags) for tags in sets)


def _answered(known: object, question: str) -> Iterator[dict[str, YesNo]]:
    """The answers with one of them yes, or no."""
    assert isinstance(known, dict)
    others = {q: answer for q, answer in known.items() if q != question}
    yield {**others, question: "yes"}
    yield {**others, question: "no"}


def _toggled(now: tuple[str, ...] | None, texts: Sequence[str]) -> Iterator[tuple[str, ...] | None]:
    """No answer, none, all, and each text added or taken away."""
    chosen = now or ()
    yield None
    yield ()
    yield tuple(texts)
    for text in texts:
        yield (*chosen, text) if text not in chosen else tuple(t for t in chosen if t != text)


def _panas(answers: Answers) -> Iterator[tuple[PanasGuess, PanasGuess] | None]:
    """No answer, and each side's total or change moved a little or reset."""
    yield None
    middle = PanasGuess(total=MIDPOINT * len(POSITIVE))
    now = answers.panas or (middle, middle)
    for side in (0, 1):
        for guess in (middle, PanasGuess(), *_near(now[side])):
            yield (guess, now[1]) if side == 0 else (now[0], guess)


def _near(guess: PanasGuess) -> Iterator[PanasGuess]:
    for step in (-10, -3, -1, 1, 3, 10):
        if guess.total is None:
            yield PanasGuess(change=guess.change + step)
        elif TOTALS[0] <= guess.total + step <= TOTALS[1]:
            yield PanasGuess(total=guess.total + step)
