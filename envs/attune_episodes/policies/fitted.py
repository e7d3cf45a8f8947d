"""`mode` and `prior`: content-free answers fitted on other participants' annotations.

`mode` gives the most frequent answer to everything. `prior` gives, for each leaf, the constant answer with
the highest mean strict score on the fitting data, which may be the empty answer: training would drift towards
it without any reading. Both are fitted on participants disjoint from those on whom they are scored.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final, TypeVar

from attune_data.errors import SettingsError
from attune_data.format.affect import EMOTIONS, NEGATIVE, POSITIVE
from attune_data.format.constants import BRANCHES, Q1_OPTIONS, Side
from attune_data.format.schema import Conversation
from attune_data.seeding import digest
from attune_episodes.policies.base import BuiltinPolicy, Given, participants
from attune_episodes.policies.constant import Answers, ConstantPolicy, PanasGuess
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.settings import Settings
from attune_rewards.metrics import emotion, panas, questions
from attune_rewards.metrics.branches import MIDPOINT
from attune_rewards.predictions import Tag, YesNo
from attune_rewards.truth import ConversationTruth, truth_of

POLICIES: Final = {
    "mode": {
        "kind": "content-free",
        "fitted": True,
        "uses": "the most frequent answers of other participants",
        "answers": "the most frequent answer to everything",
    },
    "prior": {
        "kind": "content-free",
        "fitted": True,
        "uses": "the constant answers that score best on other participants",
        "answers": "per leaf the constant answer with the best mean strict score; for the PANAS a change "
        "from the totals before the conversation, where they are shown",
    },
}
T = TypeVar("T", bound=Hashable)
R = TypeVar("R")
Fit = Callable[[Sequence[Conversation], Settings], Answers]
FOLDS = 5


def folds(people: Iterable[str]) -> dict[str, int]:
    """Person -> fold, in an order drawn by their names; fewer than `FOLDS` people have a fold each."""
    order = sorted(set(people), key=lambda who: digest("fold", who))
    return {who: number % min(FOLDS, len(order)) for number, who in enumerate(order)}


def _most_frequent(values: Iterable[T | None], default: T) -> T:
    """The most frequent of the known values."""
    counts = Counter(value for value in values if value is not None)
    return min(counts, key=lambda value: (-counts[value], str(value))) if counts else default


def fit_mode(conversations: Sequence[Conversation], settings: Settings) -> Answers:
    """The most frequent answer to everything."""
    truths = [truth_of(conversation) for conversation in conversations]
    turns = [turn for truth in truths for turn in truth.turns]
    tags = (turn.tags for turn in turns)
    names = _most_frequent((None if t is None else tuple(sorted(tag.emotion for tag in t)) for t in tags), ())
    intensity = _most_frequent((tag.intensity for turn in turns for tag in turn.tags or ()), 4)
    return Answers(
        tags=tuple(Tag(name, intensity) for name in names),
        observed=_modal_answers(pair for turn in turns for pair in turn.observed),
        preferred=_modal_answers(pair for turn in turns for pair in turn.preferred),
        otherwise="no",
        side=_side(conversations, settings),
        panas=(_modal_total(truths, POSITIVE), _modal_total(truths, NEGATIVE)),
        q1=_most_frequent((truth.q1 for truth in truths), ()),
        q2=_most_frequent((truth.q2 for truth in truths), None),
        q3=_most_frequent((truth.q3 for truth in truths), None),
        q3_follow_up=_most_frequent((truth.q3_follow_up for truth in truths), ()),
        branches={
            name: _most_frequent((truth.branches.get(name) for truth in truths), MIDPOINT)
            for name in BRANCHES
        },
    )


def _modal_answers(pairs: Iterable[tuple[str, YesNo]]) -> dict[str, YesNo]:
    counts: dict[str, Counter[YesNo]] = defaultdict(Counter)
    for question, answer in pairs:
        counts[question][answer] += 1
    return {q: "yes" if c["yes"] > c["no"] else "no" for q, c in sorted(counts.items())}


def _modal_total(truths: Sequence[ConversationTruth], names: Sequence[str]) -> PanasGuess:
    """Sum of the most frequent answers to the items."""
    modes = [_most_frequent((truth.post.get(name) for truth in truths), MIDPOINT) for name in names]
    return PanasGuess(total=sum(modes))


def _side(conversations: Sequence[Conversation], settings: Settings) -> Side:
    """The side, as labelled in the prompt, that won more often."""
    wins: Counter[Side] = Counter()
    for conversation in conversations:
        winners = {turn.turn: dict(turn.winners) for turn in truth_of(conversation).turns}
        for request in plan(conversation, settings):
            for comparison in request.comparisons:
                winner = winners[request.turn or 0].get(comparison.index)
                if winner is not None:
                    wins[comparison.to_shown(winner)] += 1
    return "B" if wins["B"] > wins["A"] else "A"


def fit_prior(conversations: Sequence[Conversation], settings: Settings) -> Answers:
    """Fit the constant answer with the highest mean strict score for each leaf on these conversations."""
    truths = [truth_of(conversation) for conversation in conversations]
    return Answers(
        tags=tuple(Tag(name, 4) for name in _prior_tags(truths)),
        observed=_prior_binary(truths, "observed"),
        preferred=_prior_binary(truths, "preferred"),
        otherwise="no",
        side=_side(conversations, settings),
        panas=(_prior_panas(truths, 0, settings), _prior_panas(truths, 1, settings)),
        q1=_prior_q1(truths),
        q2=_most_frequent((truth.q2 for truth in truths), None),
        q3=_most_frequent((truth.q3 for truth in truths), None),
        q3_follow_up=_prior_follow_up(truths),
        branches={name: _prior_branch(truths, name) for name in BRANCHES},
    )


def _prior_tags(truths: Sequence[ConversationTruth]) -> tuple[str, ...]:
    """The best among no tag, each tag, each pair and each annotated set, by the mean of F1 and VA."""
    weights: Counter[tuple[str, ...]] = Counter()
    for truth in truths:
        tagged = [turn.tags for turn in truth.turns if turn.tags is not None]
        for tags in tagged:
            weights[tuple(sorted(tag.emotion for tag in tags))] += 1 / len(tagged)  # type: ignore[assignment]
    felt = [(tuple(map(Tag, names)), weight) for names, weight in sorted(weights.items())]

    def score(names: tuple[str, ...]) -> float:
        guess = tuple(map(Tag, names))
        return math.fsum(
            weight * (emotion.overlap(tags, guess).f1 + emotion.va_score(tags, guess))
            for tags, weight in felt
        )

    singles = [(name,) for name in EMOTIONS]
    return max([(), *singles, *combinations(EMOTIONS, 2), *sorted(weights)], key=score)


def _prior_binary(truths: Sequence[ConversationTruth], side: str) -> dict[str, YesNo]:
    """The better of yes and no for each question, with each judgement weighted as in the leaf."""
    worth: dict[str, float] = defaultdict(float)
    for truth in truths:
        asked = [pairs for turn in truth.turns if (pairs := getattr(turn, side))]
        for pairs in asked:
            for question, answer in pairs:
                worth[question] += (1 if answer == "yes" else -1) / len(pairs) / len(asked)
    return {question: "yes" if balance > 0 else "no" for question, balance in sorted(worth.items())}


def _prior_panas(truths: Sequence[ConversationTruth], side: int, settings: Settings) -> PanasGuess:
    """The best constant total, or the best change from the earlier total, depending on the strategy."""
    names = (POSITIVE, NEGATIVE)[side]
    absolute = settings.panas_strategy == "absolute"

    def predicted(guess: PanasGuess, truth: ConversationTruth, pre: float) -> float | None:
        if guess.total is not None:
            return guess.total
        if absolute:
            return sum(panas.spread(round(pre) + guess.change, names).values())
        change = panas.spread(guess.change, names, low=-6, high=6)
        return panas.totals(panas.changed(truth.pre, truth.pre_totals, change), (None, None))[side]

    def score(guess: PanasGuess) -> float:
        total = 0.0
        for truth in truths:
            pre, post = truth.pre_totals[side], truth.post_totals[side]
            if pre is not None and post is not None and pre != post:
                total += panas.baseline_adjusted(pre, post, predicted(guess, truth, pre)) or 0.0
        return total

    changes = [PanasGuess(change=change) for change in sorted(range(-20, 21), key=abs)]
    constants = [PanasGuess(total=total) for total in range(10, 71)]
    return max(changes + (constants if absolute else []), key=score)


def _prior_q1(truths: Sequence[ConversationTruth]) -> tuple[str, ...]:
    """The option set with the highest mean Jaccard."""
    chosen = [truth.q1 for truth in truths if truth.q1 is not None]
    options = list(dict.fromkeys((*Q1_OPTIONS, *(goal for goals in chosen for goal in goals))))[:10]
    sets = [s for size in range(min(4, len(options)) + 1) for s in combinations(options, size)]
    return max(sets, key=lambda s: math.fsum(questions.set_jaccard(goals, s) for goals in chosen))


def _prior_follow_up(truths: Sequence[ConversationTruth]) -> tuple[str, ...]:
    """The best among no text, each text, each pair of the ten most frequent, and each annotated answer."""
    said = [truth.q3_follow_up for truth in truths if truth.q3_follow_up is not None]
    counts = Counter(text for texts in said for text in texts)
    texts = sorted(counts, key=lambda text: (-counts[text], text))
    candidates = [(), *((text,) for text in texts[:50]), *combinations(texts[:10], 2), *sorted(set(said))]
    return max(candidates, key=lambda guess: math.fsum(questions.fuzzy_f1(truth, guess) for truth in said))


def _prior_branch(truths: Sequence[ConversationTruth], name: str) -> int:
    known = [truth.branches[name] for truth in truths if name in truth.branches]
    middle_first = sorted(range(1, 8), key=lambda value: abs(value - MIDPOINT))
    return min(middle_first, key=lambda guess: sum(abs(truth - guess) for truth in known))


class FittedPolicy(BuiltinPolicy):
    """A constant policy whose answers are fitted on participants other than that of each conversation.

    Args:
        name: `mode` or `prior`.
        fit: the function that fits answers.
        conversations: the conversations to play, split into folds by participant.
        settings: how it will be asked.
        fit_on: fit once on these conversations instead, regardless of their participants.

    Raises SettingsError with fewer than two participants and no `fit_on`.
    """

    def __init__(
        self,
        name: str,
        fit: Fit,
        conversations: Sequence[Conversation],
        settings: Settings,
        fit_on: Sequence[Conversation] | None = None,
    ) -> None:
        self.name = name
        self._settings = settings
        self._fold: Mapping[str, int] = {}
        if fit_on is None:
            self._fold = folds(participants(conversations))
            if len(self._fold) < 2:
                raise SettingsError(
                    f"policy {name!r} is fitted on participants other than those it is scored on, but there "
                    "is only one here; give other people's data to fit on (--fit PATH, or --fit sample)"
                )
        elif not fit_on:
            raise SettingsError(f"policy {name!r} has nothing to fit on: the fitting data is empty")
        self._answers = self.on_folds(conversations if fit_on is None else fit_on, fit)

    def on_folds(
        self, conversations: Sequence[Conversation], fit: Callable[[Sequence[Conversation], Settings], R]
    ) -> list[R]:
        """Something fitted once per fold on the conversations of the other folds; on all, without folds."""
        if not self._fold:
            return [fit(conversations, self._settings)]
        return [
            fit([c for c in conversations if self._fold[c.participant] != fold], self._settings)
            for fold in range(max(self._fold.values()) + 1)
        ]

    def fold_of(self, conversation: Conversation) -> int:
        """The fold that was fitted without this conversation's participant."""
        return self._fold.get(conversation.participant, 0)

    def for_conversation(self, conversation: Conversation) -> ConstantPolicy:
        """The constant policy fitted without this conversation's participant."""
        return ConstantPolicy(self.name, self._answers[self.fold_of(conversation)])


def make(name: str, given: Given) -> FittedPolicy:
    """Make one of these policies."""
    fit = fit_mode if name == "mode" else fit_prior
    return FittedPolicy(name, fit, given.conversations, given.settings, given.fit_on)
