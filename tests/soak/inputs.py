"""Hostile replies from a seed: what the soak feeds the parser by the million, and the checks by the hundred.

`reply(draw, valid, …)` is a pure function of the state of `draw`. Most inputs are small; one in a few
thousand has up to a million characters.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

LONE: Final = "\ud83d"
"""Half of a character."""
SCRAPS: Final = (
    "{", "}", "[", "]", '"', ",", ":", "\\", "\n", "```", "```json\n", "<think>", "</think>", "null", "true",
    "NaN", "1e999", "-0", '"B1"', '"yes"', '"no"', '"emotions"', '"observed"', '"picks"', '"post_panas"',
    "__proto__", "\\ud83d", LONE, "é", "😀", "שלום", "\u202e", "\ufeff", "\x00", "9" * 50, "//", "None", " ",
)  # fmt: skip
LEAVES: Final = (
    "NaN", "Infinity", "-Infinity", "-0", "-0.0", "1e999", "-1e999", "1e-999", "9" * 5000, "-" + "7" * 5000,
    "1." + "3" * 400, "true", "false", "null", "True", "None", "undefined", "01", "+1", ".5", "0x10", "--1",
    '""', '" "', '"\\ud83d"', f'"{LONE}"', '"\\ude00\\ud83d"', '"\\ud83d\\ude00"', '"\\u0000"', '"\x00"',
    '"\\u202e"', '"\u202e"', '"😀"', '"\ufeff"', '"\\x"', '"a\nb"', '"unclosed', "'single'", '"{"', '"```"',
    '"<think>"', '"yes"', '"NO"', '" y "', '"n/a"', '"A"', '"b"', "4", '"4"', "4.0", "8", "-6", '"Proud"',
    '"none"', '"mild"', "[]", "{}", "[[[]]]", '{"emotion": "Upset", "intensity": 5}', '["Proud", "proud"]',
)  # fmt: skip
NAMES: Final = (
    "emotions", "emotion", "intensity", "observed", "preferred", "picks", "post_panas", "panas_change",
    "reasoning", "draft", "q1_lookingFor", "q2_emotionClarity", "q3_modelFit", "q3_followUp_whatFeltOff",
    "fourBranchScores", "managing", "Proud", "proud", "PROUD", "B1", "b1", "B2", "1", "01", "2", "",
    "__proto__", "constructor", "toString", "__class__", "hasOwnProperty", "__dict__", "0", LONE, "\\ud83d",
    "\u202e", "😀", "turns", "turnNumber", "conversationId", "attune",
)  # fmt: skip
UNITS: Final = (
    '{"', '{"{"{', '"\\"\\', "\\", '\\"', "```\n", "```json\n{}\n```\n", '```\n{"a":1}\n```\n', "<think>",
    "</think>", "<think></think>", "<think>{}</think>x", "<THINK>{", "{", "[", '{"a":', '[{"a":', "{}", "{} ",
    '{"a":1}', '{"a":1,}', ", ", '"', '"\n', '""', '"",', "//", "// \n", "True ", "\ufeff", "\x00", "\u202e",
    "😀", LONE, "\t", " ", "\n", " \n```", "'", "<", "`", "}", "]", '"a":1,', "1,", "-", "9", "1 ", "é",
)  # fmt: skip
STARTS: Final = (
    "", "{", '{"a":"', '{"a":[', "[", "so: {", "```\n", "```json\n{", "<think>", '{"observed":{"B1":"',
    '{"emotions":[', '{"picks":', '{"draft":"', "😀", '{"a":', '{"a":-',
)  # fmt: skip
ENDS: Final = (
    "", "}", '"}', "]}", "]", '</think>{"picks":{}}', "\n```", '{"picks":{"1":"A"}}', "😀", " x", "\n}",
)  # fmt: skip
ITEMS: Final = (
    "[]", "{}", "1", '""', '"ab"', "null", "1.5", '{"a":1}', "NaN", "[[]]", '"\\ud83d"',
    '{"emotion":"Upset"}', '{"emotion":"x","intensity":9}', '"Proud"', "0", "-1", '{"a":1,"a":1}', '"é"',
)  # fmt: skip
MEMBERS: Final = (
    '"{n:x}":1', '"{n:x}":[]', '"{n:x}":{{}}', '"{n:x}":"{n:x}"', '"a":1', '"a":[]', '"a":{n}',
    '"B{n}":"yes"', '"b{n}":"no"', '"{n}":"A"', '"__proto__{n}":null',
)  # fmt: skip
OPPOSITES: Final = {
    "observed": (('"yes"', '"YES"', '" y "', "true", '"true"'), ('"no"', '"No"', '"n"', "false", '"FALSE"')),
    "picks": (('"A"', '"a"', '" A "'), ('"B"', '"b"', '"B "')),
}
"""Field -> spellings of one answer and of the other."""
BOTH_WAYS: Final = (
    '{{"{field}": {{"{key}": {one}, "{key}": {two}}}}}',
    '{{"{field}": {{"{key}": {one}, "{lower}": {two}}}}}',
    '{{"{field}": {{"{lower}": {one}, "{key}": {two}}}}}',
    '{{"{field}": {{"{key}": [{one}, {two}]}}}}', '{{"{field}": {{"{key}": "yes and no, A or B"}}}}',
    '{{"{field}": {{"{key}": {one}}}, "{field}": {{"{key}": {two}}}}}',
    '{{"{field}": {{"{key}": {one}}}}}\n{{"{field}": {{"{key}": {two}}}}}',
    'First {{"{field}": {{"{key}": {one}}}}}, or rather {{"{field}": {{"{key}": {two}}}}}.',
    '```json\n{{"{field}": {{"{key}": {one}}}}}\n```\n```json\n{{"{field}": {{"{key}": {two}}}}}\n```',
    '{{"{field}": [{{"{key}": {one}}}, {{"{key}": {two}}}]}}',
    '[{{"{field}": {{"{key}": {one}}}}}, {{"{field}": {{"{key}": {two}}}}}]',
    '{{"{field}": {{"{key}": {one}}}}} {{"{field}": {{"{key}": {two}}}',
)  # fmt: skip
"""Ways to give both answers to one question."""
FIELDS: Final = (
    '{{"draft": "{0}"}}', '{{"reasoning": "{0}", "observed": {{}}}}', '{{"q2_emotionClarity": "{0}"}}',
    '{{"observed": {{"B1": "{0}"}}}}', '{{"emotions": ["{0}"]}}', '{{"picks": {{"1": "{0}"}}}}',
    '{{"q1_lookingFor": ["{0}"]}}', '{{"{0}": 1, "picks": {{}}}}', '{{"post_panas": {{"Proud": "{0}"}}}}',
    '{{"emotions": [{{"emotion": "Upset", "intensity": "{0}"}}]}}',
)  # fmt: skip


def size(draw: random.Random, largest: int, large: float = 0.004) -> int:
    """How many characters a grown input has: seldom (in a share `large` of cases) many."""
    chance = draw.random()
    if chance < large and largest > 50_000:
        return int(50_000 * (largest / 50_000) ** draw.random())
    if chance < 0.1:
        return draw.randrange(min(largest, 20_000))
    return draw.randrange(min(largest, 1_500))


def mangled(text: str, draw: random.Random) -> str:
    """The text with a few cuts, doublings and foreign scraps."""
    for _ in range(draw.randrange(1, 6)):
        at = draw.randrange(len(text) + 1)
        kind = draw.randrange(4)
        if kind == 0:
            text = text[:at] + draw.choice(SCRAPS) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + draw.randrange(1, 20) :]
        elif kind == 2:
            text = text[:at] + text[max(0, at - draw.randrange(1, 200)) :]
        else:
            text = text[:at]
    return text


def value(draw: random.Random, depth: int = 4) -> str:
    """JSON made by a grammar, its leaves hostile, its keys sometimes given twice."""
    kind = draw.random() if depth else 0.0
    if kind < 0.5:
        return draw.choice(LEAVES)
    if kind < 0.65:
        return f"[{', '.join(value(draw, depth - 1) for _ in range(draw.randrange(4)))}]"
    members = [f'"{draw.choice(NAMES)}": {value(draw, depth - 1)}' for _ in range(draw.randrange(5))]
    if members and draw.random() < 0.2:
        again = draw.choice(members)
        members.append(again if draw.random() < 0.5 else f"{again.split(':')[0]}: {value(draw, 1)}")
    return "{" + ", ".join(members) + "}"


def run(draw: random.Random, length: int) -> str:
    """One scrap again and again."""
    unit = draw.choice(UNITS)
    return draw.choice(STARTS) + unit * (length // len(unit)) + draw.choice(ENDS)


def nested(draw: random.Random, length: int) -> str:
    """Lists and objects in each other, 10 to 100,000 levels deep where the length allows it."""
    opening, closing = draw.choice((("[", "]"), ('{"a":', "}"), ('{"a":[', "]}"), ("[{},", "]")))
    levels = max(10, min(100_000, length // (len(opening) + len(closing))))
    closings = draw.choice((levels, levels, 0, levels // 2, levels + 1))
    return draw.choice(("", "{", '{"observed":', "so ")) + opening * levels + "1" + closing * closings


def items(draw: random.Random, length: int) -> str:
    """Short values or members, a comma between them."""
    if draw.random() < 0.5:
        item = draw.choice(ITEMS)
        return ",".join([item] * (length // (len(item) + 1) + 1))
    member = draw.choice(MEMBERS)
    return ",".join(member.format(n=n) for n in range(length // len(member) + 1))


def flat(draw: random.Random, length: int) -> str:
    """One huge list or object of short values."""
    many = items(draw, length)
    body = f"{{{many}}}" if many.startswith('"') and '":' in many[:12] else f"[{many}]"
    name = draw.choice(("a", "observed", "emotions", "picks", "post_panas", "q1_lookingFor"))
    around = ("{0}", '{{"{1}":{0}}}', '{{"{1}":{0},}}', "x {0}", '{{"{1}":{0}', "```\n{0}\n```")
    return draw.choice(around).format(body, name)


def long_text(draw: random.Random, length: int) -> str:
    """One long string, of narrow or wide characters, in a field of an answer."""
    units = ("x", "é", "中", "😀", " ", "\\\\", "\\u00e9", "\\ud83d", '\\"', LONE, "{", "<think>", "9")
    unit = draw.choice(units)
    text = unit * (length // len(unit)) + draw.choice(("", "", "😀", LONE, "\u202e", "x"))
    return draw.choice(FIELDS).format(text)


def both_ways(draw: random.Random, field: str, key: str) -> str:
    """A question (or comparison) answered with yes and with no (A and B): it must count as unanswered."""
    sides = [draw.choice(side) for side in OPPOSITES[field]]
    one, two = draw.sample(sides, 2)
    text = draw.choice(BOTH_WAYS).format(field=field, key=key, lower=key.lower(), one=one, two=two)
    more = draw.choice(("", ', "preferred": {}', ', "emotions": []'))
    return f"{text[:-1]}{more}}}" if text.startswith("{") and text.endswith("}}") else text


def wrapped(draw: random.Random, text: str, other: str) -> str:
    """The text behind reasoning, in fences, amid prose; `other` stands where an answer must not be read."""
    tag = draw.choice(("think", "thinking", "reasoning", "ThInK", "THINK"))
    return draw.choice((
        f"<{tag}>{other}</{tag}>{text}",
        f"<{tag}>{other}{text}",
        f"{other}</{tag}>{text}",
        f"<{tag}>a<{tag}>{other}</{tag}>{text}</{tag}>",
        f"<{tag}>{other}</reasoning >{text}",
        f"<{tag}>a</{tag}>{text}<{tag}>{other}</{tag}>",
        f"<{tag}>{other}</{tag}>\n```json\n{text}\n```",
        f"```json\n{text}\n```",
        f"```json\n{text}\n```\nor\n```json\n{other}\n```",
        f"```\n{text}",
        f"```json\n{text}\n```\n" * draw.randrange(1, 30),
        f'He said "so {{be}} it: {text}',
        f"it's {text} isn't it \"",
        f"\ufeff \n{text}\n\u202e",
        f"{text} {other}",
        f"{text}\n" * draw.randrange(1, 30),
        text[: draw.randrange(len(text) + 1)],
        text.replace('"', "'"),
        text.replace("}", ",}"),
        text.replace("\n", "\\n"),
    ))  # fmt: skip


GROWN: Final[tuple[Callable[[random.Random, int], str], ...]] = (run, run, nested, flat, flat, long_text)


def reply(draw: random.Random, valid: str, other: str, largest: int = 1_000_100) -> str:
    """One hostile reply: a valid one gone wrong (`other` is a second one), or none at all."""
    kind = draw.random()
    if kind < 0.5:
        text = mangled(valid, draw)
    elif kind < 0.7:
        text = value(draw)
    elif kind < 0.85:
        text = valid if draw.random() < 0.5 else value(draw)
        text = wrapped(draw, text, other)
    else:
        text = draw.choice(GROWN)(draw, size(draw, largest))
        if draw.random() < 0.1:
            text = wrapped(draw, text, other) if len(text) < 20_000 else f"<think>{other}</think>\n{text}\n"
    return text if draw.random() < 0.9 else mangled(text, draw)
