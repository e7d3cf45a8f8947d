"""Count what repeats in texts, and which words give an answer away."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from attune_data.format.schema import Turn


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return re.findall(r"[\w']+", text.lower().replace("’", "'"))


def ngrams(text: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """Every run of n words."""
    return list(zip(*(text[i:] for i in range(n)), strict=False))


def sentences(text: str) -> list[list[str]]:
    """The words of each sentence."""
    return [found for part in re.split(r"[.!?…\n]+", text) if (found := words(part))]


def openers(text: str, n: int) -> list[str]:
    """The first n words of each sentence that has as many."""
    return [" ".join(one[:n]) for one in sentences(text) if len(one) >= n]


_NO_NAMES = re.compile(
    r"I['’]|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b"
    r"|(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
)


def named(text: str) -> list[str]:
    """Capitalised words amid a sentence, apart from forms of I, days and months."""
    return [word for word in re.findall(r"(?<=[\w,;:] )[A-Z][\w'’]+", text) if not _NO_NAMES.match(word)]


def answers_to(turns: Iterable[Turn], question: str) -> list[tuple[str, bool]]:
    """Replies with the observed answer to a question, where it applies."""
    return [(turn.llm_response, j.observed == "yes") for turn in turns for j in turn.judgements
            if j.question_id == question and j.observed in ("yes", "no")]  # fmt: skip


def grams(text: str) -> set[tuple[str, ...]]:
    """The runs of one to three words in a text, and the marks ! and ?."""
    own = words(text)
    return {gram for n in (1, 2, 3) for gram in ngrams(own, n)} | {(mark,) for mark in "!?" if mark in text}


def give_away(
    answers: Sequence[tuple[str, bool]], *, seen: int = 20, precision: float = 0.95
) -> tuple[float, str]:
    """Coverage of the yes answers by the best n-gram that is nearly always right, and the n-gram.

    Args:
        answers: replies with the answer to one question.
        seen: replies that an n-gram must occur in.
        precision: share of these whose answer is yes.
    """
    found: Counter[tuple[str, ...]] = Counter()
    right: Counter[tuple[str, ...]] = Counter()
    for text, yes in answers:
        own = grams(text)
        found.update(own)
        if yes:
            right.update(own)
    good = [(right[g], g) for g, count in found.items() if count >= seen and right[g] >= precision * count]
    count, gram = max(good, default=(0, ()))
    return count / max(sum(yes for _, yes in answers), 1), " ".join(gram)
