"""The figures by which played people are checked, each counted per conversation.

What grows with the number of conversations (words seen in others, what a policy learns) is counted within
groups of about the same size, so that a large corpus can be set beside a small one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan
from operator import attrgetter
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from attune_data.format.affect import POLARITY
from attune_data.format.constants import BINARY_IDS
from attune_data.format.schema import Conversation, Turn
from attune_env.people.texts import answers_to, give_away, grams, named, ngrams, openers, words
from attune_episodes.play.rollout import rollout_batch
from attune_episodes.policies import builtin_policy
from attune_rewards.bootstrap import Bootstrap, Interval, known, percentiles, weighted
from attune_rewards.metrics.draft import READ
from attune_rewards.metrics.text import jaccard, tokens
from attune_rewards.reading import Exchange, reader
from attune_rewards.reading.feelings import read as lexicon
from attune_rewards.truth import truth_of

CONSTANT: Final = 0.9
"""A question is constant if more of its answers than this share are yes."""
FEWEST: Final = 8
"""Answers from which a question can be constant."""
PEOPLE: Final = 5
"""Participants from which policies are fitted."""
PHRASES: Final = (
    "it sounds like", "that sounds", "sorry to hear", "i'm so sorry", "completely understandable",
    "totally understandable", "makes sense", "thank you for sharing", "you're not alone",
    "be kind to yourself", "i'm here", "it's okay to", "i hear you", "it's important to",
)  # fmt: skip
"""Stock phrases of assistants."""


Array = npt.NDArray[np.float64]
Share = Callable[[Array, Array], Array]
"""(what was found, in how much), each (cells, resamples) summed over conversations -> the figure."""


def quotient(found: Array, of: Array) -> Array:
    """Found / in how much, of the first cell."""
    one: Array = found[0] / of[0]
    return one


class Counted(NamedTuple):
    """For each conversation how much was found, and in how much: a number each, or one for each cell."""

    found: Sequence[float] | Sequence[Sequence[float]]
    of: Sequence[float] | Sequence[Sequence[float]]
    note: str = ""
    share: Share = quotient

    def interval(self, kernel: Bootstrap) -> Interval:
        """The figure with its interval, recomputed in each resample."""
        found, of = (kernel.unit_sums(np.array(c, float).reshape(len(c), -1)) for c in (self.found, self.of))
        if not (n := of.sum()):
            return Interval()
        with np.errstate(invalid="ignore", divide="ignore"):
            again = self.share(*(weighted(kernel.drawn, cells) for cells in (found, of)))
            mean = known(float(self.share(*(cells.sum(0)[:, None] for cells in (found, of)))[0]))
        if mean is None:
            return Interval()
        low, high = percentiles(again[None])[:, 0]
        return Interval(mean, float(low), float(high), round(n), int(of.any(axis=1).sum()))


@dataclass(frozen=True, eq=False)
class People:
    """Conversations to be measured."""

    conversations: Sequence[Conversation]
    size: int
    """About how many make a group: as many as in whatever they are compared with."""
    played: dict[str, list[float]] = field(default_factory=dict)
    """Policy -> its totals, once it has played."""

    @cached_property
    def kernel(self) -> Bootstrap:
        """The resamples, of participants."""
        return Bootstrap(len(self.conversations), [one.participant for one in self.conversations])

    @cached_property
    def group_of(self) -> list[int]:
        """The group of each conversation; those of one participant stay together."""
        count = max(1, round(len(self.conversations) / self.size))
        owners = list(dict.fromkeys(one.participant for one in self.conversations))
        group = {owner: place * count // len(owners) for place, owner in enumerate(owners)}
        return [group[one.participant] for one in self.conversations]

    @cached_property
    def groups(self) -> list[list[int]]:
        """The places of the conversations of each group."""
        return [[i for i, own in enumerate(self.group_of) if own == g] for g in sorted(set(self.group_of))]

    def totals(self, policy: str) -> list[float]:
        """What a policy fitted on the other people of a group earns; NaN in a group of too few."""
        if policy not in self.played:
            found = [nan] * len(self.conversations)
            for places in self.groups:
                those = [self.conversations[i] for i in places]
                if len({one.participant for one in those}) >= PEOPLE:
                    for i, one in zip(
                        places, rollout_batch(those, builtin_policy(policy, those)), strict=True
                    ):
                        found[i] = one.total
            self.played[policy] = found
        return self.played[policy]

    def counted(self, each: Callable[[Conversation], Iterable[float]], note: str = "") -> Counted:
        """The sum of some values of each conversation, out of their number."""
        values = [list(each(one)) for one in self.conversations]
        return Counted([sum(own) for own in values], [len(own) for own in values], note)


class Figure(NamedTuple):
    """One figure, and on which side of the sample's it may lie."""

    name: str
    measure: Callable[[People], Counted]
    bound: Literal["least", "most", ""] = ""
    """Whether the sample's is the least or the most; "" is only reported."""


def _turns(people: People) -> Iterator[Turn]:
    return (turn for one in people.conversations for turn in one.turns)


def _gone(questions: frozenset[str]) -> Callable[[People], Counted]:
    """What was done and unwanted, by person and `fitted` alike: whether it is gone from the person's edit."""

    def each(conversation: Conversation) -> Iterator[bool]:
        for turn, truth in zip(conversation.turns, truth_of(conversation).turns, strict=True):
            edit, want, by = turn.responses["human"], dict(truth.preferred), reader()
            did = {q for q, so in truth.observed if so == "yes" and want.get(q) == "no" and q in questions}
            if edit is None or not did:
                continue
            before, after = (
                by.read(Exchange(turn.user_message, text, truth.history))
                for text in (turn.llm_response, edit)
            )
            yield from (after[question] == "no" for question in sorted(did) if before.get(question) == "yes")

    return lambda people: people.counted(each)


def _edit_wins(conversation: Conversation) -> Iterator[bool]:
    """Whether the person's edit wins, of the comparisons with another reply."""
    for turn in conversation.turns:
        for c in turn.comparisons:
            if c.winner and "human" in (c.response_a, c.response_b):
                yield (c.response_a if c.winner == "A" else c.response_b) == "human"


def _valence(conversation: Conversation) -> Iterator[float]:
    """Whether a word list finds on which side the feelings are, where all are on one; half for nothing."""
    for turn in conversation.turns:
        sides = {POLARITY[tag.emotion] for tag in turn.mood_shift_tags or ()}
        if len(sides) == 1:
            read = lexicon(turn.user_message).valence * (1 if sides == {"positive"} else -1)
            yield 0.5 + 0.5 * ((read > 0) - (read < 0))


def _constant(people: People) -> Counted:
    """Answers to questions that are nearly always yes."""
    said = [
        {q: answers_to(conversation.turns, q) for q in BINARY_IDS} for conversation in people.conversations
    ]
    yes, of = (
        [[float(count(one[q])) for q in BINARY_IDS] for one in said]
        for count in (lambda answers: sum(yes for _, yes in answers), len)
    )
    shares = zip(BINARY_IDS, np.sum(yes, axis=0), np.sum(of, axis=0), strict=True)
    often = [q for q, found, n in shares if n >= FEWEST and found > CONSTANT * n]

    def share(found: Array, of: Array) -> Array:
        held = np.where(of >= FEWEST, of, 0)
        constant: Array = np.where(found > CONSTANT * held, held, 0).sum(0) / held.sum(0)
        return constant

    return Counted(yes, of, ", ".join(often), share)


def _given_away(people: People) -> Counted:
    """The yes answers to one question in whose reply one n-gram stands that is hardly ever in others."""
    best, turns = (0.0, "", ""), list(_turns(people))
    for question in BINARY_IDS:
        answers = answers_to(turns, question)
        yes = sum(said for _, said in answers)
        if question != "B13" and yes >= 30 and 0.05 <= yes / len(answers) <= 0.8:
            share, gram = give_away(answers, seen=max(5, len(answers) // 10))
            best = max(best, (share, question, gram))
    _, question, gram = best
    mark = tuple(gram.split())

    def each(conversation: Conversation) -> Iterator[bool]:
        return (mark in grams(text) for text, yes in answers_to(conversation.turns, question) if yes)

    return people.counted(each, f"{question} by “{gram}”" if gram else "")


def _gain(policy: str) -> Callable[[People], Counted]:
    """What a policy that does not understand the text gains over constant answers, out of 1."""

    def count(people: People) -> Counted:
        both = zip(people.totals(policy), people.totals("prior"), strict=True)
        gains = [with_it - without for with_it, without in both]
        return Counted(np.nan_to_num(gains).tolist(), [float(not isnan(gain)) for gain in gains])

    return count


def _opener(text: Callable[[Turn], str], n: int) -> Callable[[People], Counted]:
    """Sentences that begin with the commonest n words."""

    def count(people: People) -> Counted:
        own = [[o for turn in c.turns for o in openers(text(turn), n)] for c in people.conversations]
        most = Counter(opener for those in own for opener in those).most_common(1)
        opener = most[0][0] if most else ""
        return Counted([those.count(opener) for those in own], [len(those) for those in own], _quoted(most))

    return count


def _shared(
    text: Callable[[Turn], str], parts: Callable[[str], Sequence[object]]
) -> Callable[[People], Counted]:
    """What another conversation of the group has too; the commonest is noted."""

    def count(people: People) -> Counted:
        own = [[part for turn in one.turns for part in parts(text(turn))] for one in people.conversations]
        has = [Counter(part for i in places for part in set(own[i])) for places in people.groups]
        again = [
            [part for part in those if has[group][part] > 1]
            for group, those in zip(people.group_of, own, strict=True)
        ]
        most = Counter(part for those in again for part in those).most_common(1)
        return Counted([len(those) for those in again], [len(those) for those in own], _quoted(most))

    return count


def _quoted(most: Sequence[tuple[object, int]]) -> str:
    """The commonest in quotation marks; "" without any."""
    return next((f"“{' '.join(one) if isinstance(one, tuple) else one}”" for one, _ in most), "")


def _matters(people: People) -> Counted:
    """The share of words that a first message has in common with the likest other one of its group."""
    first = [tokens(one.turns[0].user_message) for one in people.conversations]
    near = [
        max((jaccard(first[i], first[j]) for j in people.groups[group] if j != i), default=nan)
        for i, group in enumerate(people.group_of)
    ]
    return Counted(np.nan_to_num(near).tolist(), [float(not isnan(one)) for one in near])


def _phrases(people: People) -> Counted:
    """Replies with one of the phrases."""
    counts = Counter(p for turn in _turns(people) for p in PHRASES if p in _plain(turn.llm_response))
    return people.counted(
        lambda one: (any(p in _plain(turn.llm_response) for p in PHRASES) for turn in one.turns),
        _quoted(counts.most_common(1)),
    )


def _plain(text: str) -> str:
    return " ".join(words(text))


def _fives(text: str) -> Sequence[object]:
    return ngrams(words(text), 5)


_message, _reply = attrgetter("user_message"), attrgetter("llm_response")
FIGURES: Final = (
    Figure("unwanted question gone from the edit", _gone(frozenset({"B13"})), "least"),
    Figure("anything unwanted gone from the edit", _gone(READ), "least"),
    Figure("comparisons that the edit wins", lambda people: people.counted(_edit_wins), "least"),
    Figure("feelings whose side a word list finds", lambda people: people.counted(_valence), "least"),
    Figure("answers to questions with over 90% yes", _constant, "most"),
    Figure("yes answers that one n-gram gives away", _given_away, "most"),
    Figure("gain of `asked` over `prior`", _gain("asked"), "most"),
    Figure("gain of `surface` over `prior`", _gain("surface"), "most"),
    Figure("5-grams of messages in another conversation", _shared(_message, _fives), "most"),
    Figure("5-grams of replies in another conversation", _shared(_reply, _fives), "most"),
    Figure("sentences of messages with the commonest opener", _opener(_message, 2), "most"),
    Figure("sentences of replies with the commonest opener", _opener(_reply, 2), "most"),
    Figure("names in messages of another conversation", _shared(_message, named), "most"),
    Figure("words of first messages in the likest other one", _matters, "most"),
    Figure("replies with a phrase of assistants", _phrases),
)
"""In the order of the page."""
