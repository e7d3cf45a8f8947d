"""Measure the written corpus against its gates: repetition, give-aways, balance.

`python -m tools.written.gates` prints every figure with its bounds; from 300 conversations on the test
asserts them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from attune_data import Conversation, DataError, Turn, load
from attune_data.format.codebook import Codebook
from attune_data.format.constants import BINARY_IDS, Q1_OPTIONS, Q2_OPTIONS, Q3_NEGATIVE, Q3_OPTIONS
from attune_data.source.corpora import corpus
from attune_env.people.texts import (
    answers_to,
    commonest_opener,
    give_away,
    named,
    ngrams,
    sentences,
    words,
)

RARE_IN_TEST: Final = ("B310", "B315", "B408", "B20", "B311")
THIRD: Final = frozenset(words("he him his himself she her hers herself they them their theirs themselves"))
FIRST: Final = frozenset(words("i i'm i've i'd i'll me my mine myself"))
KINDS: Final[Mapping[str, Callable[[Turn], str]]] = {
    "messages": lambda turn: turn.user_message,
    "replies": lambda turn: turn.llm_response,
    "improved": lambda turn: turn.responses["alternate"] or "",
    "edits": lambda turn: turn.responses["human"] or "",
}


class Gate(NamedTuple):
    """One figure and the bounds it has to keep."""

    name: str
    value: float
    low: float
    high: float
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the figure lies within its bounds."""
        return self.low <= self.value <= self.high

    def __str__(self) -> str:
        bounds = f"{self.low:g} to {self.high:g}".replace("-inf to", "at most").replace(" to inf", " or more")
        return f"{'  ' if self.holds else '✗ '}{self.name}: {self.value:.3g} ({bounds}) {self.note}".rstrip()


def seen_before(texts: Sequence[Sequence[str]], after: int, within: int = 10_000) -> float:
    """Share of 5-grams already used in another conversation, in `within` words after the first `after`.

    Args:
        texts: for each conversation the texts of one kind.
        after: words to read first; a smaller corpus is measured at its end.
        within: words to measure.
    """
    total = sum(len(words(text)) for those in texts for text in those)
    after = min(after, max(total - within, 0))
    known: set[tuple[str, ...]] = set()
    read = old = measured = 0
    for those in texts:
        own = []
        for text in those:
            found = ngrams(words(text), 5)
            own += found
            if after <= read < after + within:
                measured += len(found)
                old += sum(one in known for one in found)
            read += len(words(text))
        known.update(own)
    return old / measured if measured else 0.0


def new_words(texts: Sequence[str], last: int = 30) -> float:
    """Words never used before that a conversation brings, on average over the last ones."""
    known: set[str] = set()
    brought = []
    for text in texts:
        fresh = set(words(text)) - known
        brought.append(len(fresh))
        known |= fresh
    return float(np.mean(brought[-last:]))


@cache
def surface(text: str, message: str) -> tuple[float, ...]:
    """Features of a reply that anything could count."""
    own, each, said = words(text), sentences(text), set(words(message))
    n = max(len(own), 1)
    return (
        float(len(own)), float(text.count("!")), float(text.count("?")), text.count(",") / n,
        sum(word in said for word in own) / n, sum(map(len, own)) / n,
        sum(word in FIRST for word in own) / n, sum(word.startswith("you") for word in own) / n,
        len(own) / max(len(each), 1),
    )  # fmt: skip


class Compared(NamedTuple):
    """One comparison: the two texts, which won, and whose conversation it is."""

    conversation: int
    message: str
    a: str
    b: str
    a_won: bool
    names: tuple[str, str]


def compared(conversations: Sequence[Conversation]) -> Iterator[Compared]:
    """All comparisons that have a winner."""
    for i, conversation in enumerate(conversations):
        for turn in conversation.turns:
            for c in turn.comparisons:
                a, b = turn.responses[c.response_a], turn.responses[c.response_b]
                if c.winner and a and b:
                    yield Compared(i, turn.user_message, a, b, c.winner == "A", (c.response_a, c.response_b))


def share_won(comparisons: Sequence[Compared], measure: Callable[[str], float]) -> float:
    """Share of comparisons won by the side with the higher measure; ties are left out."""
    won = [(measure(c.a) > measure(c.b)) == c.a_won for c in comparisons if measure(c.a) != measure(c.b)]
    return float(np.mean(won)) if won else 0.5


def surface_accuracy(comparisons: Sequence[Compared]) -> float:
    """Accuracy of a least-squares fit on surface features, each conversation predicted from the others."""
    x = np.array([np.subtract(surface(c.a, c.message), surface(c.b, c.message)) for c in comparisons])
    x /= x.std(0) + 1e-9
    y = np.array([1.0 if c.a_won else -1.0 for c in comparisons])
    group = np.array([c.conversation for c in comparisons])
    gram, target = x.T @ x + np.eye(x.shape[1]), x.T @ y
    right = 0
    for one in np.unique(group):
        own = group == one
        weights = np.linalg.solve(gram - x[own].T @ x[own], target - x[own].T @ y[own])
        right += int(((x[own] @ weights > 0) == (y[own] > 0)).sum())
    return right / len(y)


def kept(edit: str, reply: str) -> float:
    """Share of the reply's bigrams that the edit still has."""
    old = Counter(pairwise(words(reply)))
    return (old & Counter(pairwise(words(edit)))).total() / max(old.total(), 1)


def per_hundred(texts: Sequence[str], count: Callable[[str], int]) -> float:
    """Occurrences per 100 words."""
    return 100 * sum(map(count, texts)) / max(sum(len(words(text)) for text in texts), 1)


def third_person(text: str) -> int:
    """Third-person pronouns in a text."""
    return sum(word in THIRD for word in words(text))


def gates(parts: Mapping[str, Sequence[Conversation]]) -> list[Gate]:
    """Every gate of a corpus in parts."""
    everything = sorted((c for part in parts.values() for c in part), key=lambda c: c.conversation_id)
    return [*_language(everything), *_winners(everything), *_balance(everything), *_parts(parts)]


def _language(everything: Sequence[Conversation]) -> Iterator[Gate]:
    turns = [turn for conversation in everything for turn in conversation.turns]
    for kind, after in (("messages", 60_000), ("replies", 50_000)):
        by_conversation = [[KINDS[kind](turn) for turn in c.turns] for c in everything]
        yield Gate(f"5-grams of {kind} seen before", seen_before(by_conversation, after), 0, 0.03)
    whole = [" ".join(f"{t.user_message} {t.llm_response}" for t in c.turns) for c in everything]
    yield Gate("new words a conversation brings at the end", new_words(whole), 15, np.inf)
    for kind, text in KINDS.items():
        for n, most in ((2, 0.05), (3, 0.02)):
            share, opener = commonest_opener(map(text, turns), n)
            yield Gate(f"commonest {n}-word opener of {kind}", share, 0, most, f"“{opener}”")
    worst = (0.0, "none")
    for question in BINARY_IDS:
        answers = answers_to(turns, question)
        yes = sum(said for _, said in answers)
        if question != "B13" and yes >= 30 and 0.05 <= yes / len(answers) <= 0.8:
            share, gram = give_away(answers)
            worst = max(worst, (share, f"{question} by “{gram}”"))
    yield Gate("yes answers that one n-gram gives away", worst[0], 0, 0.5, worst[1])
    sample = [turn for conversation in load("sample") for turn in conversation.turns]
    for kind in ("messages", "replies"):
        texts, usual = ([KINDS[kind](turn) for turn in those] for those in (turns, sample))
        share, like = per_hundred(texts, third_person), per_hundred(usual, third_person)
        yield Gate(f"third person per 100 words of {kind}", share, like / 2, 2 * like)
    replies, usual = ([turn.llm_response for turn in those] for those in (turns, sample))
    share, like = (per_hundred(texts, lambda text: len(named(text))) for texts in (replies, usual))
    yield Gate("names per 100 words of replies", share, 0, 2.5 * like)
    thrice = [max(Counter(named(text)).values(), default=0) >= 3 for text in replies]
    yield Gate("replies that name somebody three times", float(np.mean(thrice)), 0, 0.02)
    yield Gate("words per message", float(np.mean([len(words(turn.user_message)) for turn in turns])), 40, 95)


def _winners(everything: Sequence[Conversation]) -> Iterator[Gate]:
    found = list(compared(everything))
    yield Gate("wins of the longer", share_won(found, lambda text: len(words(text))), 0.45, 0.55)
    yield Gate("wins of the first", float(np.mean([c.a_won for c in found])), 0.45, 0.55)
    yield Gate("wins of more question marks", share_won(found, lambda text: text.count("?")), 0.4, 0.6)
    yield Gate("winners that surface features predict", surface_accuracy(found), 0, 0.62)
    edited = [c.a_won == (c.names[0] == "human") for c in found if "human" in c.names]
    yield Gate("wins of the edit", float(np.mean(edited)), 0, 0.75)
    improved = [c.a_won == (c.names[0] == "alternate") for c in found if "human" not in c.names]
    yield Gate("wins of the improved over the received reply", float(np.mean(improved)), 0.3, 0.65)
    shares = [kept(KINDS["edits"](turn), turn.llm_response) for c in everything for turn in c.turns]
    yield Gate("edits that keep a quarter of the reply", float(np.mean(np.array(shares) >= 0.25)), 0.9, 1)


def _balance(everything: Sequence[Conversation]) -> Iterator[Gate]:
    turns = [turn for conversation in everything for turn in conversation.turns]
    tagged = [len(turn.mood_shift_tags or ()) for turn in turns if turn.mood_shift_tags]
    yield Gate("neutral turns", 1 - len(tagged) / len(turns), 0.3, 0.5)
    yield Gate("tags per tagged turn", float(np.mean(tagged)), 1.2, 1.8)
    wide = [c.conversation_wide for c in everything if c.conversation_wide]
    offs = Codebook.own().options["q3_followUp_whatFeltOff"]
    categories = [c.metadata.category for c in everything if c.metadata]
    for name, options, chosen in (
        ("category", sorted({str(one) for one in categories}), categories),
        ("goal", Q1_OPTIONS, [goal for one in wide for goal in one.q1_looking_for or ()]),
        ("clarity", Q2_OPTIONS, [one.q2_emotion_clarity for one in wide]),
        ("fit", Q3_OPTIONS, [one.q3_model_fit for one in wide]),
        ("follow-up", offs, [off for one in wide for off in one.q3_follow_up or ()]),
    ):
        yield _rarest(f"conversations of the rarest {name}", options, chosen)
    for question in BINARY_IDS:
        said = [yes for _, yes in answers_to(turns, question)]
        rarer = min(said.count(True), said.count(False))
        if rarer < 8:
            yield Gate(f"rarer answers to {question}", rarer, 8, np.inf)
    bad = [one.q3_model_fit in Q3_NEGATIVE for one in wide]
    yield Gate("conversations with a mixed fit or worse", float(np.mean(bad)), 1 / 3, 1)
    risky = [any(yes for q in ("B17", "B18") for _, yes in answers_to(c.turns, q)) for c in everything]
    yield Gate("conversations with B17 or B18", sum(risky), 10, np.inf)


def _rarest(name: str, options: Iterable[str], chosen: Iterable[Any]) -> Gate:
    counts = Counter(chosen)
    option, count = min(((option, counts[option]) for option in options), key=lambda item: item[1])
    return Gate(name, count, 8, np.inf, f"“{option}”")


def _parts(parts: Mapping[str, Sequence[Conversation]]) -> Iterator[Gate]:
    keys: Mapping[str, Callable[[Conversation], Any]] = {
        "participants": lambda c: c.participant,
        "topics": lambda c: c.metadata and c.metadata.text,
    }
    for name, key in keys.items():
        where: dict[Any, set[str]] = {}
        for part, those in parts.items():
            for conversation in those:
                where.setdefault(key(conversation), set()).add(part)
        yield Gate(f"{name} in two splits", sum(len(those) > 1 for those in where.values()), 0, 0)
    turns = [turn for c in parts.get("test", ()) for turn in c.turns]
    for question in RARE_IN_TEST:
        yes = sum(yes for _, yes in answers_to(turns, question))
        yield Gate(f"yes to {question} in the test split", yes, 10, np.inf)
    yield Gate("turns", sum(len(c.turns) for part in parts.values() for c in part), 1500, np.inf)


def corpus_in_parts() -> dict[str, Sequence[Conversation]]:
    """The corpus as far as it is written."""
    found: dict[str, Sequence[Conversation]] = {}
    for part in corpus("written").splits:
        try:
            found[part] = load(f"written:{part}")
        except DataError as error:
            if "no conversation" not in str(error):
                raise
    return found


if __name__ == "__main__":
    if not (written := corpus_in_parts()):
        raise SystemExit("nothing is written yet")
    print(", ".join(f"{part} {len(those)}" for part, those in written.items()))
    print(*gates(written), sep="\n")
