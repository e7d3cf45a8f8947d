"""The rules that the simulator's texts keep, so that labels are true of what is written.

Run `python -m tests.data.simulate.text_rules [TOPIC.toml …]` to list what breaks them, one a line.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import attune_data
from attune_data.affect import EMOTIONS
from attune_data.simulate.grammar import TemplateError, compile_template

TEXT = Path(attune_data.__file__).parent / "simulate" / "text"
FAMILIES = ("tension", "fear", "hurt", "anger", "shame", "pride", "drive", "engaged", "joy")
GOALS = ("vent", "sort", "decide", "info", "calm")
TOLD = {"name", "he", "him", "his", "thing", "thing2", "friend", "who", "when", "soon", "span"}
"""Facts, drawn once a conversation."""
FRESH = {"weekday", "clock", "early", "late", "count", "place", "chore"}
"""Drawn anew at each use: for the person, not for what a reply states."""

# field: (least entries, has "=>", slots left of it, slots right of it, least surfaces left)
TOPIC_FIELDS = {
    "ask_fact": (6, True, TOLD, TOLD | FRESH, 300),
    "ask_reflect": (8, True, TOLD, TOLD | FRESH, 60),
    "because_bad": (6, False, TOLD, set(), 60),
    "because_good": (6, False, TOLD, set(), 60),
    "infer": (6, False, TOLD, set(), 60),
    "side": (6, False, TOLD, set(), 60),
    "readings": (6, False, TOLD, set(), 60),
    "moral": (3, False, TOLD, set(), 60),
}
SUBTOPIC_FIELDS = {
    "who": (3, False, set(), set(), 1),
    "thing": (4, False, set(), set(), 1),
    "thing2": (3, False, set(), set(), 1),
    "bad": (4, True, TOLD | FRESH, TOLD, 300),
    "good": (4, True, TOLD | FRESH, TOLD, 300),
    "worse": (5, True, TOLD | FRESH, TOLD, 300),
    "better": (5, True, TOLD | FRESH, TOLD, 300),
    "flat": (5, True, TOLD | FRESH, TOLD, 300),
    "plans": (6, True, TOLD, TOLD | FRESH, 60),
    "ask_fact": (4, True, TOLD, TOLD | FRESH, 60),
    "hard": (4, False, TOLD, set(), 60),
}
ECHOED = ("bad", "good", "worse", "better", "flat", "cues")
"""Fields whose right side is an echo."""
FEELING = ["feel", "feels", "feeling", "feelings", "felt", "emotion", "emotions", "emotional", "mood"]
RESERVED = {
    "a reason": r"because|the reason|that is why|which is why",
    "a question mark": r"\?",
    "advice": r"you (?:could|might|should|may|can|need to|ought)|it may help|one step|worth trying|i would|"
              r"i suggest|let us|try to",
    "a hedge": r"perhaps|maybe|i wonder|i may be wrong|my guess|could be that|might be that|possibly",
    "certainty": r"clearly|obviously|deep down|no doubt|plainly",
    "validation": r"makes sense|understandabl\w+|no wonder|any(?:one|body) would|reason to|natural(?:ly)?|"
                  r"of course|who wouldn't|good reason",
    "a perspective frame": r"side of it|point of view|eyes of|in (?:his|her) shoes|perspective",
    "complexity": r"simple|complicated|complex|layers?|tangled|messy",
    "a moral verdict": r"fair|unfair|wrong|owes?|decent|selfish|right thing",
    "a call to reflect": r"take a moment|notice what|ask yourself|sit with",
    "a look back at feelings": r"earlier you|at first you|when you began",
    "generic advice": r"in general|as a rule|for most people|broadly|generally",
    "a new topic": r"touched on|by the way|on another note|more generally",
    "a correction": r"i had it wrong|i misread|my mistake|i assumed",
    "a change of approach": r"let me put|let me leave|fair point|differently",
    "risk": r"worries me|warning sign|safety|please|emergency|helpline",
    "obstacle": r"get in the way|the catch|i know that|granted",
    "clinical talk": r"stress response|coping|boundaries|process(?:ing)?|regulat\w+|strateg\w+|validate",
}  # fmt: skip
ALLOWED = {"moral": {"a moral verdict"}}
FIRST = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|me|my|mine|myself|we|our|us)\b")
SECOND = re.compile(r"\b(?:you|your|yours|yourself|you're|you've|you'd)\b", re.IGNORECASE)
GENDERED = re.compile(r"\b(?:he|she|him|her|his|hers|he's|she's)\b", re.IGNORECASE)


@cache
def feeling_words() -> re.Pattern[str]:
    """Every word for a feeling that has an owner: PANAS items, claims, what people call their feelings."""
    raw = tomllib.loads((TEXT / "feelings.toml").read_text(encoding="utf-8"))
    words = {name.lower() for name in EMOTIONS} | set(FEELING) - {"feel", "feels"}
    for family in raw.values():
        words |= {word.lower() for word in family["claims"]}
        words |= {word.lower() for group in family["named"].values() for word in group}
    words -= {"active", "strong", "interested", "alert", "low", "attentive"}  # also plain words
    return re.compile(r"\b(?:" + "|".join(sorted(map(re.escape, words))) + r")\b", re.IGNORECASE)


@cache
def sizes(things: int = 10) -> dict[str, int]:
    """Surfaces of each slot."""
    words = tomllib.loads((TEXT / "words.toml").read_text(encoding="utf-8"))
    names = 72  # there are more: a margin
    return {"name": names, "friend": names, "thing": things, "thing2": 3, "who": 3} | {
        key: len(words[key]) for key in ("when", "soon", "span", *sorted(FRESH))
    }


def stripped(source: str) -> str:
    """The words of a template, all choices in a row."""
    return re.sub(r"[\[\]|]", " ", re.sub(r"\{[^{}]*\}", "X", source))


def slot_problems(source: str, allowed: set[str]) -> Iterator[str]:
    """Brackets and slots."""
    try:
        template = compile_template(source)
    except TemplateError as error:
        yield str(error)
        return
    for slot in sorted(template.slots - allowed):
        yield f"slot {{{slot}}} may not stand here"


def assistant_problems(source: str, allowed: set[str] = frozenset(), *, echo: bool = False) -> Iterator[str]:  # type: ignore[assignment]
    """Words that another act owns; the first person; feelings."""
    text = stripped(source)
    for kind, pattern in RESERVED.items():
        if kind not in allowed and (
            found := re.search(rf"\b(?:{pattern})\b" if pattern != r"\?" else pattern, text, re.IGNORECASE)
        ):
            yield f"'{found.group()}' belongs to {kind}"
    if found := feeling_words().search(text):
        yield f"'{found.group()}' names a feeling"
    if found := FIRST.search(text):
        yield f"'{found.group()}': a reply speaks to the person (you, your)"
    if found := GENDERED.search(text):
        yield f"'{found.group()}': write {{he}}, {{him}} or {{his}}"
    if echo:
        if len(text.split()) > 11:
            yield "an echo has at most 11 words"
        if text[:1].isupper() and not source.startswith("{"):
            yield "an echo begins with a small letter"


def person_problems(source: str, *, gendered: bool = True) -> Iterator[str]:
    """What a person may not say: you, feelings by name, the sentence's end."""
    text = re.sub(r"'[^' ][^']*'", "Q", stripped(source))  # what others say may be anything
    if found := SECOND.search(text):
        yield f"'{found.group()}': the person speaks of themselves"
    if found := feeling_words().search(stripped(source)):
        yield f"'{found.group()}' names a feeling; show it instead"
    if gendered and (found := GENDERED.search(text)):
        yield f"'{found.group()}': write {{he}}, {{him}} or {{his}}"
    if source.rstrip()[-1:] in ".?!":
        yield "no mark at the end: the message sets it"


def field_problems(
    where: str, field: str, entries: list[str], rule: tuple[Any, ...], things: int = 10
) -> Iterator[str]:
    """Everything wrong with one list of templates."""
    least, paired, left, right, surfaces = rule
    if len(entries) < least:
        yield f"{where}.{field}: {len(entries)} entries, expected at least {least}"
    if len(set(entries)) != len(entries):
        yield f"{where}.{field}: an entry stands twice"
    for entry in entries:
        parts = entry.split(" => ")
        if len(parts) != 1 + paired:
            yield f"{where}.{field}: '{entry}': expected {'one' if paired else 'no'} ' => '"
            continue
        found = list(slot_problems(parts[0], left))
        if paired:
            found += slot_problems(parts[1], right)
        if not found:
            size = sizes(things)
            if (n := compile_template(parts[0]).surfaces(size)) < surfaces:
                found.append(f"{n} surfaces, expected at least {surfaces}")
            if field in ECHOED and (n := compile_template(parts[1]).surfaces(size)) < 6:
                found.append(f"{n} surfaces of the echo, expected at least 6")
            found += _voices(field, parts)
        yield from (f"{where}.{field}: '{entry}': {problem}" for problem in found)


def _voices(field: str, parts: list[str]) -> Iterator[str]:
    if field in ECHOED:
        yield from person_problems(parts[0])
        yield from assistant_problems(parts[1], echo=True)
        if field in ("bad", "good") and "{thing}" not in parts[0] and "{name}" not in parts[0]:
            yield "an opening names {name} or {thing}"
    elif field in ("ask_fact", "ask_reflect", "plans"):
        yield from assistant_problems(parts[0])
        yield from person_problems(parts[1])
        if field == "ask_fact" and parts[0].startswith("What"):
            yield "a question about a fact does not begin with What"
        if field == "ask_reflect" and not parts[0].startswith("What"):
            yield "a reflective question begins with What"
    elif field == "asks":
        yield from person_problems(parts[0])
    elif field not in ("who", "thing", "thing2"):
        yield from assistant_problems(parts[0], ALLOWED.get(field, set()))


def topic_problems(path: Path) -> Iterator[str]:
    """Everything wrong with one topic file."""
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    name = path.stem
    for field, rule in TOPIC_FIELDS.items():
        yield from field_problems(name, field, raw.get(field, []), rule)
    for family in FAMILIES:
        yield from field_problems(f"{name}.cues", "cues", raw.get("cues", {}).get(family, []),
                                  (2, True, TOLD | FRESH, TOLD, 60))  # fmt: skip
    for goal in GOALS:
        yield from field_problems(f"{name}.asks", "asks", raw.get("asks", {}).get(goal, []),
                                  (2, False, TOLD | FRESH, set(), 60))  # fmt: skip
    if len(raw.get("subtopic", [])) < 3:
        yield f"{name}: expected at least 3 subtopics"
    for subtopic in raw.get("subtopic", []):
        for field, rule in SUBTOPIC_FIELDS.items():
            yield from field_problems(f"{name}/{subtopic['name']}", field, subtopic.get(field, []), rule)


def feelings_problems() -> Iterator[str]:
    """Everything wrong with the cues that all topics share."""
    raw = tomllib.loads((TEXT / "feelings.toml").read_text(encoding="utf-8"))
    for family in FAMILIES:
        yield from field_problems(
            family, "cues", raw[family]["cues"], (12, True, TOLD | FRESH, TOLD, 300), 200
        )


def all_problems(paths: list[Path]) -> list[str]:
    """Every broken rule in these topics and the shared cues."""
    return [*feelings_problems(), *(p for path in paths for p in topic_problems(path))]


if __name__ == "__main__":
    chosen = [TEXT / "topics" / Path(name).name for name in sys.argv[1:]] or sorted(
        (TEXT / "topics").glob("*.toml")
    )
    broken = (
        all_problems(chosen) if not sys.argv[1:] else [p for path in chosen for p in topic_problems(path)]
    )
    print("\n".join(broken) or "all rules hold")
    sys.exit(bool(broken))
