"""Take reasoning out of a model's text: `MARKS` lists the marks around it, `without_reasoning` removes it.

One rule for all marks: reasoning ends at the mark that belongs to the one that opened it, and marks of other
kinds inside it mean nothing. A closing mark that nothing opened ends reasoning whose opening the server or
the chat template swallowed. Reasoning that is never closed leaves no answer. Marks in the strings of a JSON
object are text.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from attune_data.jsonio import JSON_TOKEN
from attune_episodes.parsing.decode import MAX_TOKENS, Unparsed, decode_repaired

MAX_OBJECTS: Final = 20
"""Marks are looked for inside this many objects of a text; further objects do not protect their strings."""


class Mark(NamedTuple):
    """How one family of models marks its reasoning, as regular expressions (case does not matter).

    NAME stands for a word such as `think` (LOUD: in capitals), the same in the opening and in the closing
    mark; a closing mark without it closes any reasoning of the family.
    """

    models: str
    """Some of the models that use it."""
    opens: str | None
    closes: str | None
    frames: str | None = None
    """Marks around the answer, which are dropped; within reasoning of the family they end it."""


_PREFIX: Final = r"(?:[\w.-]{1,40}[:_])?"
_CHANNEL: Final = r"[^<|]{0,60}(?:<\|constrain\|>[^<|]{0,40})?<\|message\|>"
_HEADER: Final = r"<\|start\|>\s{0,9}assistant\s{0,9}"
_LINE: Final = r"(?:(?m:^)|(?<=[>*_#])|(?m:(?<=^[ \ufeff])))"
"""The beginning of a line, or emphasis there; only such phrases are marks, since they are words."""

MARKS: Final = (
    Mark("most models: <think>, <thinking>, <thought>, <seed:think>, <longcat_think>, with attributes",
         rf"<\s?{_PREFIX}NAME(?:\s[^<>]{{0,300}})?(?<!/)>", rf"<\s?/\s?{_PREFIX}NAME\s{{0,9}}>"),
    Mark("an empty block: <think/>", None, None, rf"<{_PREFIX}NAME\s{{0,9}}/>"),
    # in small letters, a word in brackets is a stage direction or a link
    Mark("Magistral: [THINK]…[/THINK]", r"(?-i:\[LOUD\])", r"\[/NAME\]"),
    Mark("Kimi: ◁think▷…◁/think▷", r"◁NAME▷", r"◁/NAME▷"),
    Mark("Command A, OpenThinker, Solar: <|START_THINKING|>, <|begin_of_thought|>, <|think_start|>",
         r"<[|｜](?:(?:begin|start)[_▁ ]?(?:of[_▁ ]?)?)?NAME(?:[_▁ ](?:begin|start))?[|｜]>",
         r"(?:<[|｜](?:/|end[_▁ ]?(?:of[_▁ ]?)?)NAME[|｜]>|</[|｜]NAME[|｜]>|<[|｜]NAME[_▁ ]end[|｜]>"
         r"|<\|(?:begin|start)_(?:of_)?(?:solution|response|answer)\|>|<\|begin\|>assistant<\|content\|>)",
         r"(?:<\|end_(?:of_)?(?:solution|response|answer)\|>)"),
    Mark("gpt-oss: <|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…",
         rf"(?:{_HEADER})?<\|channel\|>(?!\s{{0,9}}final\b){_CHANNEL}",
         rf"(?:{_HEADER})?<\|channel\|>\s{{0,9}}final\b{_CHANNEL}",
         rf"(?:<\|(?:end|return|call)\|>|{_HEADER})"),
    Mark("gpt-oss without its special tokens: analysis…assistantfinal…",
         rf"{_LINE}(?:assistant)?(?:analysis|commentary)(?=[^\s:.,;!?*)\]/_’'—–-])", r"assistantfinal",
         r'(?-i:(?m:^)final(?=["{A-Z]))'),
    Mark("Gemma 4: <|channel>thought…<channel|>", r"<\|channel>\s{0,9}(?:thought)?", r"<channel\|>"),
    Mark("MedGemma: <unused94>thought…<unused95>", r"<unused94>(?:thought)?", r"<unused95>"),
    Mark("s1: <|im_start|>think…<|im_start|>answer", r"<\|im_start\|>think", r"<\|im_start\|>answer"),
    Mark("Granite: Here is my thought process:…Here is my response:",
         rf"{_LINE}here(?: is|['’]s) my thought process:",
         rf"{_LINE}here(?: is|['’]s) my response:[*_]{{0,3}}"),
    Mark("Apriel: Here are my reasoning steps:…[BEGIN FINAL RESPONSE]…[END FINAL RESPONSE]",
         rf"{_LINE}here are my reasoning steps:", r"\[BEGIN FINAL RESPONSE\]", r"\[END FINAL RESPONSE\]"),
)  # fmt: skip
"""The marks of reasoning that models use, each family on its own row."""

NAMES: Final = (
    "think", "thinking", "thought", "thoughts", "reason", "reasoning", "reflect", "reflection", "analysis",
    "scratchpad", "rationale", "deliberation", "cot", "chain_of_thought", "inner_thoughts", "inner_monologue",
)  # fmt: skip
"""The words that stand for NAME."""
_NAME: Final = f"(?:{'|'.join(sorted(NAMES, key=len, reverse=True))})"
ENDS: Final = (
    "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>",
    "<|eos|>", "</s>", "<eos>", "<end_of_turn>", "<turn|>", "<|END_OF_TURN_TOKEN|>", "<|end_of_turn|>",
    "<｜end▁of▁sentence｜>", "[EOS]", "<|user|>", "<|return|>",
)  # fmt: skip
"""The tokens with which models end a reply; a server that does not know one leaves it in the text."""
_ANSWERS: Final = "answer|final_answer|final|output|response|reply|solution"


def _pattern() -> str:
    """Every mark as a group named after its role and row: `o0`, `c0`, `o1`."""
    roles = {"o": "opens", "c": "closes", "f": "frames"}
    patterns = {
        f"{role}{row}": pattern
        for row, mark in enumerate(MARKS)
        for role, field in roles.items()
        if (pattern := getattr(mark, field)) is not None
    }
    words = {"LOUD": _NAME.upper(), "NAME": _NAME}
    for word, names in words.items():
        patterns = {group: pattern.replace(word, names) for group, pattern in patterns.items()}
    return "|".join(f"(?P<{group}>{pattern})" for group, pattern in patterns.items())


_MARK: Final = re.compile(_pattern(), re.IGNORECASE)
_NAMED: Final = re.compile(_NAME, re.IGNORECASE)
_HAS_NAME: Final = tuple("NAME" in (mark.closes or "") for mark in MARKS)
_START: Final = re.compile(
    r"[<\[◁aAcCfhH](?:(?<=[<\[◁])(?=[\w\s/|｜])"
    r"|(?i:nalysis|ssistant|ommentary|inal|ere(?: is|['’]s| are) my))"
)
"""How every mark begins, found 30 times as fast as the marks."""
_WRAPPED: Final = re.compile(rf"<({_ANSWERS})>(.*?)(?:</\1>)?", re.IGNORECASE | re.DOTALL)


def without_reasoning(text: str) -> str | Unparsed:
    """The text without its reasoning; `unfinished_reasoning` if some is never closed."""
    kept: list[str] = []
    opened = False
    row, name = -1, ""
    position = 0
    objects = _Objects(text)
    for start in _START.finditer(text):
        at = start.start()
        mark = _MARK.match(text, at) if at >= position else None
        if mark is None or (not opened and objects.hold(at, position)):
            continue
        role, family, word = _meaning(mark)
        if opened:
            if family != row or role == "o" or word not in ("", name):
                continue
            opened = False
        else:
            before = text[position:at]
            kept.append(before if before.strip(" \n>*_#") else "")
            if role == "o":
                opened, row, name = True, family, word
            elif role == "c":
                kept.clear()
        position = mark.end()
    if opened:
        return Unparsed("unfinished_reasoning")
    return "".join([*kept, text[position:]]) if position else text


def plain_reply(text: str) -> str | Unparsed:
    """A plain reply without reasoning, tokens at its end, and a tag around it; `empty` if that is all."""
    said = without_reasoning(text)
    if isinstance(said, Unparsed):
        return said
    said = said.strip()
    while said.endswith(ENDS):
        said = said.removesuffix(next(end for end in ENDS if said.endswith(end))).rstrip()
    wrapped = _WRAPPED.fullmatch(said)
    return (wrapped[2].strip() if wrapped else said) or Unparsed("empty")


def _meaning(mark: re.Match[str]) -> tuple[str, int, str]:
    """The role of a mark (o, c or f), its row, and the word that stands for NAME."""
    group = mark.lastgroup or ""
    row = int(group[1:])
    word = _NAMED.search(mark[0]) if _HAS_NAME[row] else None
    return group[0], row, word[0].lower() if word else ""


class _Objects:
    """The JSON objects of a text, read only as far as marks are found in them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next = 0
        self._end = 0
        self._left = MAX_OBJECTS

    def hold(self, at: int, since: int) -> bool:
        """Whether a place is inside a valid object that begins at `since` or later; places only ascend."""
        self._next = max(self._next, since)
        while self._end <= at and self._left:
            start = self._text.find("{", self._next, at)
            if start < 0:
                self._next = max(self._next, at)
                return False
            self._left -= 1
            end = _end_of_object(self._text, start)
            self._next = max(end, start + 1)
            if end > at and isinstance(decode_repaired(self._text, start, end), dict):
                self._end = end
            elif end > at:
                self._next = start + 1
        return at < self._end


def _end_of_object(text: str, start: int) -> int:
    """Where the braces that open at `start` are closed; -1 if they are not, or only after very much."""
    depth = 0
    for number, token in enumerate(JSON_TOKEN.finditer(text, start)):
        mark = text[token.start()]
        depth += (mark in "[{") - (mark in "]}")
        if depth == 0:
            return token.end()
        if number >= MAX_TOKENS:
            break
    return -1
