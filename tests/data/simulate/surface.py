"""Reads off a reply's text what it does, by the words that each act owns, without the generator's state.

Written from the list of reserved words in docs/simulator.md. It takes the vocabulary of feelings and names
from the word lists, and the texts of a record; nothing else.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import Any

from attune_data.simulate.texts import TEXT

SENTENCE = re.compile(r"(?<=[.?!]) +(?=[A-Z'\"])")
LOOKS_BACK = re.compile(r"\b(?:Earlier you|When you began|At first you)\b")
ADVICE = re.compile(
    r"\b[Yy]ou (?:could|might|should) |One step would be to |It may help to |I suggest one thing: "
)
GENERIC = re.compile(r"\b(?:As a rule|For most people|In general|Broadly speaking)\b")
HEDGED = re.compile(
    r"^(?:Perhaps|Maybe|I wonder whether|I may be wrong, but|My guess is|Hearing of .*, I wonder whether)\b"
)
BOLD = re.compile(r"^(?:Clearly,|Deep down,|Obviously|No doubt)|, plainly\.$|shows it: clearly ")
REASON = re.compile(r"\bbecause\b|\bThe reason\b")
SIDE = re.compile(r"point of view|the eyes of|^In \S+ shoes|side of it too|has a perspective")
SAFETY = re.compile(r"\b[Pp]lease\b")
CLINICAL = re.compile(r"stress response|[Cc]oping|Interpersonal boundaries|clinical angle")
PATTERNS = {
    "B12": REASON.pattern,
    "B13": r"\?",
    "B14": r"(?<!had it )(?<!may be )\bwrong\b|\bunfair|(?<!^)\bfair\b|\bowes?\b|\bdecent|\bright thing",
    "B16": r"^Fair point|^Let me (?:put|leave)",
    "B17": r"worries me|warning sign",
    "B18": SAFETY.pattern,
    "B19": r"makes sense|understandable|[Nn]o wonder|Anyone would|(?:good|every) reason to",
    "B311": r"^More generally",
    "B315": r"not touched on|^By the way|^On another note",
    "B316": r"^(?:I know that|What may get in the way|The catch is|Granted)",
    "B406": r"^(?:I had it wrong|I misread|My mistake)",
    "B502": SIDE.pattern,
    "B503": r"could be that|two ways to read",
    "B504": r"simple|layers|complicated|tangled",
}  # fmt: skip
REFLECTIVE = re.compile(r"(?:^|[:,] |^And )[Ww]hat\b[^?]*\?$")
CALLS_TO_REFLECT = re.compile(r"^(?:Take a moment|Ask yourself|Sit with|Notice what)")
STOP = frozenset(
    [
        "about",
        "after",
        "again",
        "against",
        "also",
        "and",
        "any",
        "are",
        "asked",
        "been",
        "before",
        "being",
        "but",
        "came",
        "can",
        "come",
        "could",
        "did",
        "does",
        "done",
        "down",
        "each",
        "else",
        "even",
        "every",
        "first",
        "for",
        "from",
        "get",
        "gets",
        "getting",
        "give",
        "going",
        "gone",
        "had",
        "has",
        "have",
        "having",
        "her",
        "here",
        "him",
        "his",
        "how",
        "into",
        "its",
        "just",
        "keep",
        "know",
        "last",
        "least",
        "left",
        "less",
        "like",
        "made",
        "make",
        "many",
        "may",
        "might",
        "mind",
        "more",
        "most",
        "much",
        "name",
        "need",
        "never",
        "next",
        "not",
        "nothing",
        "now",
        "off",
        "once",
        "one",
        "only",
        "other",
        "out",
        "over",
        "own",
        "part",
        "place",
        "put",
        "really",
        "right",
        "said",
        "same",
        "say",
        "see",
        "seem",
        "set",
        "shows",
        "side",
        "since",
        "some",
        "somebody",
        "something",
        "still",
        "such",
        "take",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "they",
        "thing",
        "this",
        "those",
        "time",
        "too",
        "under",
        "until",
        "very",
        "want",
        "was",
        "way",
        "week",
        "well",
        "went",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "why",
        "will",
        "with",
        "without",
        "word",
        "words",
        "would",
        "write",
        "yes",
        "yet",
        "you",
        "your",
        "today",
        "evening",
        "days",
        "says",
        "saying",
        "telling",
        "tell",
        "told",
        "comes",
        "sound",
        "sounds",
        "people",
        "person",
        "nobody",
        "everything",
        "anything",
        "everyone",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "weeks",
        "months",
        "years",
        "half",
        "year",
        "month",
    ]
)


@cache
def vocabulary() -> tuple[re.Pattern[str], frozenset[str]]:
    """Words that replies use for feelings, and words that people use for their own."""
    raw = tomllib.loads((TEXT / "feelings.toml").read_text(encoding="utf-8")).values()
    claims = sorted((word for family in raw for word in family["claims"]), key=len, reverse=True)
    named = frozenset(word for family in raw for words in family["named"].values() for word in words)
    return re.compile(r"\b(?:" + "|".join(claims) + r")\b"), named


@cache
def echoes(category: str) -> re.Pattern[str]:
    """Every phrase with which a reply can pick up a message on a topic, as the text files list them."""
    pairs: list[str] = []
    for family in tomllib.loads((TEXT / "feelings.toml").read_text(encoding="utf-8")).values():
        pairs += family["cues"]
    for path in (TEXT / "topics").glob("*.toml"):
        topic = tomllib.loads(path.read_text(encoding="utf-8"))
        if topic["category"] != category:
            continue
        pairs += [pair for cues in topic["cues"].values() for pair in cues]
        for sub in topic["subtopic"]:
            pairs += [pair for kind in ("bad", "good", "worse", "better", "flat") for pair in sub[kind]]
    risks = tomllib.loads((TEXT / "replies.toml").read_text(encoding="utf-8"))["risks"]
    phrases = {as_pattern(pair.split(" => ")[1]) for pair in pairs} | {as_pattern(r["echo"]) for r in risks}
    return re.compile("|".join(sorted(phrases)), re.IGNORECASE)


def as_pattern(template: str) -> str:
    """A template as a regular expression: slots are any few words."""
    out = ""
    for token in re.findall(r"\{\w+\}|[\[\]|]|[^{}\[\]|]+", template):
        if token.startswith("{"):
            out += r"[^.?!]{1,40}?"
        else:
            out += {"[": "(?:", "]": ")", "|": "|"}.get(token) or re.escape(token)
    return rf"(?<!\w)(?:{out})(?!\w)"


def sentences(reply: str) -> list[str]:
    """The sentences of a reply."""
    return SENTENCE.split(reply)


def stems(text: str) -> set[str]:
    """Content words, cut to five letters."""
    words = re.findall(r"[a-zà-ÿ0-9]+", re.sub(r"'s\b|'", "", text.lower()))
    return {word[:5] for word in words if len(word) > 2 and word not in STOP}


def starts(text: str) -> set[str]:
    """All words of three letters or more, cut to four."""
    return {word[:4] for word in re.findall(r"[a-zà-ÿ]{3,}", text.lower())}


@cache
def facts(category: str) -> re.Pattern[str]:
    """Every person, thing and time that a conversation on a topic may be about, as the texts list them."""
    words = tomllib.loads((TEXT / "words.toml").read_text(encoding="utf-8"))
    known = [re.escape(name) for key in ("female", "male") for name in words[key]]
    known += [re.sub(r"^(?:on|at) ", "", time) for key in ("when", "soon", "span") for time in words[key]]
    for path in (TEXT / "topics").glob("*.toml"):
        topic = tomllib.loads(path.read_text(encoding="utf-8"))
        if topic["category"] == category:
            things = [thing for sub in topic["subtopic"] for thing in sub["thing"] + sub["thing2"]]
            known += [as_pattern(to_you(thing)) for thing in things]
    longest_first = sorted(set(known), key=lambda fact: (-len(fact), fact))
    return re.compile(rf"\b(?:{'|'.join(longest_first)})\b", re.IGNORECASE)


def to_you(text: str) -> str:
    """A noun phrase of the person as a reply says it."""
    return re.sub(r"\b(?:my|our)\b", "your", text)


def shared_facts(message: str, reply: str, category: str) -> list[str]:
    """Facts in a reply of which at least half the words stand in the message."""
    said = stems(message)
    found = [hit.group() for hit in facts(category).finditer(reply)]
    low = message.lower()
    return [
        fact
        for fact in found
        if fact.lower() in low or 2 * len(stems(fact) & said) >= max(1, len(stems(fact)))
    ]


@cache
def plans(category: str) -> list[re.Pattern[str]]:
    """Every piece of advice on a topic, as the text files list them."""
    found = []
    for path in (TEXT / "topics").glob("*.toml"):
        topic = tomllib.loads(path.read_text(encoding="utf-8"))
        if topic["category"] == category:
            found += [as_pattern(plan.split(" => ")[0]) for sub in topic["subtopic"] for plan in sub["plans"]]
    return [re.compile(pattern) for pattern in dict.fromkeys(found)]


def advised(reply: str, category: str) -> set[int]:
    """Which pieces of advice a reply gives, by their place in `plans`."""
    return {
        i
        for part in sentences(reply)
        if ADVICE.search(part)
        for i, plan in enumerate(plans(category))
        if plan.match(ADVICE.split(part, maxsplit=1)[-1])
    }


def read(record: dict[str, Any], turn: int) -> dict[str, bool]:
    """Construct -> whether the recorded reply of a turn (0-based) does it, as its text shows."""
    turns = record["turns"]
    message, reply = turns[turn]["userMessage"], turns[turn]["llmResponse"]
    category = record["metadata"]["category"]
    earlier = [t["llmResponse"] for t in turns[:turn]]
    claims, named = vocabulary()
    parts = sentences(reply)
    now = [part for part in parts if not LOOKS_BACK.search(part)]
    found = {claim for part in now for claim in claims.findall(part)}
    own = {
        w for w in named if re.search(rf"\b{w}\b", message.lower()) and re.search(rf"\b{w}\b", reply.lower())
    }
    advice = [i for i, part in enumerate(parts) if ADVICE.search(part) or GENERIC.search(part)]
    questions = [i for i, part in enumerate(parts) if part.endswith("?")]
    reflective = any(REFLECTIVE.search(part) for part in parts)
    echoed = any(
        starts(message) & starts(found)
        for part in parts
        if not part.startswith("More generally")
        for found in echoes(category).findall(part)
    )
    before_any_question = (
        bool(advice)
        and not any("?" in text for text in earlier)
        and (not questions or questions[0] > advice[0])
    )
    read = {kind: any(re.search(pattern, part) for part in parts) for kind, pattern in PATTERNS.items()}
    return read | {
        "B1": bool(found or own),
        "B3": bool(shared_facts(message, reply, category)) or echoed,
        "B4": len(found) + len(own) > 1,
        "B5": any(LOOKS_BACK.search(part) for part in parts),
        "B6": any(pattern.search(part) for part in parts for pattern in (HEDGED, BOLD, REASON, SIDE)),
        "B7": any(HEDGED.search(part) for part in parts),
        "B11": bool(advice) or any(CALLS_TO_REFLECT.search(p) or SAFETY.search(p) for p in parts),
        "B15": echoed,
        "B108": bool(own),
        "B206": any(CLINICAL.search(part) for part in parts),
        "B207": len(found) > 2,
        "B310": any(GENERIC.search(part) for part in parts),
        "B313": before_any_question,
        "B408": bool(
            advised(reply, category) & {plan for text in earlier for plan in advised(text, category)}
        ),
        "B501": reflective or any(CALLS_TO_REFLECT.search(part) for part in parts),
        "B505": reflective,
    }
