"""Read a reply in a live conversation: the kind of answer a question calls for, and similar phrases."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import Final, Literal

from attune_data.simulate.texts import Said

Kind = Literal["yes_no", "either", "amount", "place", "past", "open"]
"""Yes or no; this or that; how much, often or long; where or when; what happened or was said; any other."""

FEWEST: Final = 2
"""Fewest content words, not counting facts, that a text needs to be compared."""
LONGEST: Final = 2_000
"""Characters of a text that are read: the last ones to classify a question, otherwise the first ones."""
ALIKE: Final = 0.6
"""Share of a text's content words that a phrase must contain to count as the same."""
STEM: Final = 5
"""Leading letters by which two forms of a word count as the same."""
TAKEN_UP: Final = 2
"""Words of the person's message that a reply must contain to have taken it up (all of them if fewer)."""
_WORD: Final = re.compile(r"[a-z]{4,}")
_COMMON: Final = frozenset({
    "about", "anybody", "anyone", "anything", "been", "could", "does", "ever", "everybody", "everyone",
    "everything", "feel", "from", "going", "have", "into", "just", "know", "like", "made", "make", "more",
    "much", "nobody", "nothing", "really", "said", "some", "somebody", "someone", "something", "still",
    "such", "tell", "than", "that", "their", "them", "then", "there", "they", "thing", "think", "this",
    "thought", "want", "were", "what", "when", "where", "which", "will", "with", "would", "your", "yours",
})  # fmt: skip
"""Words that say nothing about a text's topic."""
_SLOT: Final = re.compile(r"\{[^}]*\}")

_BREAK: Final = re.compile(r"[^\w\s'-]+| - |\n")
_FILLER: Final = re.compile(
    r"(?:(?:and|but|so|or|then|well|oh|hm+|ok|okay|now|also|yes|no|right|please|still|maybe|just|i wonder"
    r"|i'm wondering|tell me) )+"
)
_WH: Final = r"(?:what|how|why|who|whom|whose|which|when|where|whereabouts)"
_AUXILIARY: Final = (
    r"(?:(?:is|are|was|were|do|does|did|have|has|had|could|would|should|might|must|need)(?:n't)?"
    r"|am|can(?:'t|not)?|will|won't|shall|shan't|may|ain't)"
)
_SUBJECT: Final = r"(?:i|you|he|she|it|we|they|that|this|there)"
_ASKING_TO_SAY: Final = re.compile(  # "can you tell me what …" asks "what …"
    rf"(?:can|could|would|will|do|may|might) {_SUBJECT}(?: please| perhaps| like to| want to)*"
    rf" (?:tell|say|ask|know|remember|recall|describe|explain|share)(?: me| us)?(?: more)?(?: about)?"
    rf" (?={_WH}\b)"
)
_BEFORE_WH: Final = re.compile(rf"(?:at|about|by|for|from|in|of|on|since|till|to|until|with) (?={_WH}\b)")
_BEGINS: Final = re.compile(rf"(?:{_WH}(?:'\w+|s)?|how come|whether|any\w*|{_AUXILIARY})\b")
_TAG: Final = re.compile(rf"{_AUXILIARY} {_SUBJECT}(?: (?:think|know|remember|say|guess|mind))?")
_INSIDE: Final = re.compile(rf"\b{_WH}(?= (?:{_AUXILIARY}|exactly|then)\b|$)")
_AMOUNT: Final = re.compile(
    r"how (?:much|many|long|often|far|old|big|large|high|frequently|regularly)\b|what (?:share|number|age)\b"
)
_PLACE: Final = re.compile(
    r"(?:when|where|whereabouts)\b|how (?:soon|early|late)\b"
    r"|(?:what|which) (?:time|day|date|week|weekday|month|year|hour|place|room|town)\b"
)
_PAST: Final = re.compile(
    r"(?:what|how|who|which)(?: (?!are|can|do|does|has|have|is|should|will|would)[\w']+){0,3}?"
    r" (?:did|didn't|was|wasn't|were|happened|went|came|said|told|made|brought)\b"
)
_WANTED: Final = re.compile(
    rf"(?!how about\b){_WH}(?:'\w+|s)?\b|any (?:clue|guess|idea|thoughts)\b|(?:and|and then|so|then|next)$"
)
_OR: Final = re.compile(r"\bor\b(?! (?:not|so|anything|something|anyone|anybody|someone|two)\b)")


def kind_of(question: str) -> Kind:
    """Classify a question by its first words: the kind of answer it calls for.

    If there are several questions, the last one counts. A statement with a question mark asks for yes or no;
    a text without Latin letters counts as an open question.

    >>> kind_of("You said it's late: did you call, or write?"), kind_of("So how long was that?")
    ('either', 'amount')
    """
    clauses = _clauses(question)
    place, asked = _last(clauses)
    kind = _kind(asked)
    rest = " ".join(clauses[place + 1 :])
    if kind == "yes_no":
        offered = _OR.search(f"{asked} {rest}")
        if offered or (place and clauses[place].startswith("or ") and _begins(clauses[place - 1])):
            return "either"
    elif _OR.search(rest):
        return "either"
    return kind


def like(
    text: str, pairs: Sequence[Said], facts: Set[str] = frozenset(), *, question: bool = False
) -> Said | None:
    """Find the pair whose first half shares the most content words with a text; None if none shares enough.

    Words in `facts` do not count, and only the beginning of a long text is read. With `question`, both must
    also be questions of the same kind.
    """
    words = content(text) - facts
    if len(words) < FEWEST:
        return None
    if question:
        kind = _kind(_last(_clauses(text))[1])
        pairs = [pair for pair in pairs if _kind(_begun(pair.say.source)) == kind]
    shares = [len(words & content(pair.say.source)) / len(words) for pair in pairs]
    best = max(shares, default=0.0)
    return pairs[shares.index(best)] if best >= ALIKE else None


def takes_up(told: str, reply: str, facts: Set[str] = frozenset()) -> bool:
    """Whether a reply takes up enough of the words in `told`, not counting facts."""
    words = {word[:STEM] for word in content(told) - facts}
    return bool(words) and len(words & {word[:STEM] for word in content(reply)}) >= min(TAKEN_UP, len(words))


def content(text: str) -> frozenset[str]:
    """The content words of a text or of a template's source."""
    return _content(text[:LONGEST])


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_SLOT.sub(" ", text.lower()))) - _COMMON


def _clauses(question: str) -> list[str]:
    plain = question[-LONGEST:].lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return [" ".join(clause.split()) for clause in _BREAK.split(plain) if clause.strip()]


def _last(clauses: Sequence[str]) -> tuple[int, str]:
    """The index and the words of the last clause that asks something, or else of the last clause."""
    asking = [(place, said) for place, clause in enumerate(clauses) if (said := _begins(clause))]
    if len(asking) > 1 and _TAG.fullmatch(asking[-1][1]) and re.match(rf"{_WH}\b", asking[-2][1]):
        asking.pop()  # "what did he say, do you know"
    return asking[-1] if asking else (len(clauses) - 1, clauses[-1] if clauses else "")


def _begins(clause: str) -> str:
    """The clause from its question word on; "" if it does not begin like a question."""
    for filler in (_FILLER, _ASKING_TO_SAY, _BEFORE_WH):
        found = filler.match(clause)
        clause = clause[found.end() :] if found else clause
    return clause if _BEGINS.match(clause) else ""


def _kind(asked: str) -> Kind:
    """Classify one clause, without regard to a choice that it may offer."""
    if not re.match(rf"{_WH}\b|how come\b", asked) and (inside := _INSIDE.search(asked)):
        begun = re.match(rf"(?:{_AUXILIARY}|whether)\b", asked)
        asked = asked if begun else asked[inside.start() :]
    if _AMOUNT.match(asked):
        return "amount"
    if _PLACE.match(asked):
        return "place"
    if _PAST.match(asked):
        return "past"
    wanted = _WANTED.match(asked) or not re.search("[a-z]", asked)
    return "open" if wanted else "yes_no"


@lru_cache(maxsize=4096)
def _begun(source: str) -> str:
    """The asking clause of a template's source, with the first option of each choice."""
    while (plain := re.sub(r"\[([^][|]*)\|?[^][]*\]", r"\1", source)) != source:
        source = plain
    return _last(_clauses(_SLOT.sub("it", source)))[1]
