"""Where a pronoun can replace a name in a template, and in which case, judging by the adjacent words."""

from __future__ import annotations

import re
from typing import Final, Literal

Case = Literal["he", "him", "his", ""]

_AUXILIARY: Final = frozenset({
    "can", "cannot", "can't", "could", "did", "didn't", "do", "does", "doesn't", "may", "might", "must",
    "needn't", "should", "will", "would",
})  # fmt: skip
_BEING: Final = frozenset({"had", "has", "hasn't", "is", "isn't", "was", "wasn't"})
_ADVERB: Final = frozenset({
    "also", "always", "even", "ever", "hardly", "just", "never", "now", "only", "quietly", "rarely",
    "really", "still", "usually",
})  # fmt: skip
_PAST: Final = frozenset({
    "ate", "bent", "bought", "brought", "came", "cut", "drew", "dealt", "did", "found", "forgot",
    "gave", "got", "grew", "heard", "held", "hung", "kept", "knew", "left", "let", "lent", "lost",
    "made", "meant", "met", "paid", "put", "ran", "rang", "read", "said", "sat", "saw", "sent", "shook",
    "slept", "spent", "split", "stood", "struck", "stuck", "swore", "taught", "thought", "told", "took",
    "understood", "went", "woke", "wrote",
})  # fmt: skip
_NO_VERB: Final = frozenset({"across", "as", "besides", "included", "its", "questions", "this"})
_QUESTION: Final = frozenset({"how", "what", "when", "where", "why"})
_CLAUSE: Final = _QUESTION | frozenset({
    "because", "but", "if", "so", "that", "though", "whatever", "whenever", "whether", "while", "who",
})  # fmt: skip
"""Words after which a name begins a clause."""
_EITHER: Final = frozenset({"after", "as", "before", "once", "since", "than", "until"})
"""Words after which a name begins a clause only if a verb follows."""
_JOINS: Final = frozenset({"and", "nor", "or"})
_OBJECT: Final = frozenset({
    "about", "around", "at", "behind", "besides", "between", "by", "for", "from", "in", "into", "near",
    "of", "off", "on", "over", "past", "through", "to", "towards", "with", "without", "answer",
    "answered", "answering", "ask", "asked", "asking", "called", "caught", "follow", "followed",
    "following", "gave", "give", "giving", "have", "hear", "heard", "hearing", "invite", "know", "known",
    "lent", "let", "meet", "meeting", "met", "muted", "obliged", "offer", "offered", "press",
    "promised", "reach", "rang", "ring", "ringing", "saw", "see", "seeing", "send", "sent", "show",
    "showed", "showing", "tell", "telling", "thank", "thanked", "thanking", "told", "want", "watched",
    "watching", "write", "writing", "wrote",
})  # fmt: skip
_WORD: Final = re.compile(r"[\w'’]+")


def case_between(before: str, after: str, possessive: bool = False) -> Case:
    """Determine the case of a pronoun between two pieces of text; "" where the name cannot be replaced.

    >>> case_between("I told ", " about it"), case_between("what ", " thinks")
    ('him', 'he')
    """
    if before.endswith(("'", '"', ": ", "(")):
        return ""
    if possessive:
        return "his" if re.match(r" \w", after) else ""
    words = _WORD.findall(before.rpartition(".")[2].lower())
    last = words[-1] if words and not before.rstrip().endswith(",") else ""
    if not words and re.match(r" \w+ing\b", after):
        return "his"  # "her saying no": as a subject and after any verb
    verb = after.startswith("'s") or _begins_with_a_verb(_WORD.findall(after.lower()))
    asked = len(words) == 1 or bool(words and words[0] in _QUESTION)
    if last in _AUXILIARY or last in _CLAUSE or (last in _BEING and asked):
        return "he"
    if last in _EITHER:
        return "he" if verb else "him"
    if last in _OBJECT:
        return "" if after.startswith(("'s", " and ", " or ")) else "him"
    joined = last in _JOINS and words[-2:-1] != ["you"]
    return "he" if verb and (not last or joined) else ""


def _begins_with_a_verb(words: list[str]) -> bool:
    """Whether the text can continue a clause after its subject."""
    if words and words[0] in _ADVERB:
        words = words[1:]
    if not words:
        return False
    word = words[0]
    regular = re.fullmatch(r"\w{2,}(?:ed|s)", word) and word not in _NO_VERB and not word.endswith("ss")
    return bool(regular) or word in _AUXILIARY | _BEING | _PAST
