"""From a model's text to the one JSON object in it, or a stable reason why there is none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_episodes.parsing import Unparsed, extract_object
from attune_episodes.parsing.decode import MAX_DEPTH
from attune_episodes.parsing.extract import MAX_CHARS
from attune_episodes.parsing.reasoning import ENDS, MARKS, plain_reply
from tests.play.builders import UNICODE

ONE = '{"a": 1}'
FENCED = f"```json\n{ONE}\n```"
DEEP = '{"a":' * 100_000


FOUND = [
    ONE, f"  \n{ONE}\n ", f"\ufeff{ONE}", f"{ONE}\n{ONE}", f'{ONE} and again {{"a":1}}',
    # in a fence
    FENCED, f"```\n{ONE}\n```", f"```JSON5 title=x\n{ONE}\n```", f"  ```json\n  {ONE}\n  ```",
    f"```json\r\n{ONE}\r\n```\r\n", f"Sure!\n\n{FENCED}\nHope that helps.", f"{FENCED}\n{FENCED}",
    f"```json\n{ONE}",  # the fence is never closed
    # amid prose
    f"Here it is: {ONE}. {UNICODE}", f'He said "so be it: {ONE}', f"it's {ONE} isn't it",
    # after reasoning
    f'<think>perhaps {{"a": 2}}</think>{ONE}', f'<THINKING>{{"a": 2}}</thinking>{ONE}',
    f'<reasoning>{{"a": 2}}</reasoning>{FENCED}',
    f'<think>{{"a": 2}}</think>\n<think>{{"a": 3}}</think>{ONE}',
    f'{{"a": 2}} the server swallowed the opening tag </think>{ONE}',
    f'<think>{{"a": 2}}<think>{{"a": 3}}</think>{{"a": 4}}</think>{ONE}',
    f'<think>{{"a": 2}}</think>{{"a": 3}} and so </think>{ONE}',  # the second block was not opened
    f'{{"a": 2}}<think>x</think> and so </think>{ONE}',
    # what has one meaning only is repaired
    '{"a": 1,}', '{"a": 1 // one\n}', '{// first\n"a": 1}', '{"a": 1, // then the comma goes\n}',
]  # fmt: skip


@pytest.mark.parametrize("text", FOUND)
def test_an_object_is_found_alone_in_a_fence_amid_prose_and_after_reasoning(text: str) -> None:
    assert extract_object(text) == {"a": 1}


CLOSED = {
    "most models": [
        ("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<thought>", "</thought>"),
        ("<Thoughts>", "</THOUGHTS>"), ("<reasoning>", "</reasoning>"), ("<reflection>", "</reflection>"),
        ("<analysis>", "</analysis>"), ("<scratchpad>", "</scratchpad>"), ("<think >", "</think >"),
        ("< think>", "</ think>"), ('<think effort="high" n=2>', "</think>"), ("<think\n>", "</think>"),
        ("<seed:think>", "</seed:think>"), ("<mm:think>", "</mm:think>"),
        ("<longcat_think>", "</longcat_think>"), ("<inner_monologue>", "</inner_monologue>"),
    ],
    "an empty block": [("<think/>", ""), ("<thinking />", "")],
    "Magistral": [("[THINK]", "[/THINK]"), ("[THINKING]", "[/thinking]"), ("[REASONING]", "[/REASONING]")],
    "Kimi": [("◁think▷", "◁/think▷"), ("◁THINK▷", "◁/Think▷")],
    "Command A": [
        ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
        ("<|begin_of_thought|>", "<|end_of_thought|>\n\n<|begin_of_solution|>"),
        ("<|thinking|>", "<|/thinking|>"), ("<|thinking|>", "</|thinking|>"),
        ("<|think_start|>", "<|think_end|>"), ("<|startofthink|>", "<|endofthink|>"),
        ("<｜begin▁of▁thought｜>", "<｜end▁of▁thought｜>"),
        ("<|think|>", "<|end|><|begin|>assistant<|content|>"),
    ],
    "gpt-oss": [
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
        ("<|start|>assistant<|channel|>analysis<|message|>",
         "<|end|>\n<|start|>assistant<|channel|>commentary to=user<|message|>{<|end|>"
         "<|start|>assistant<|channel|>final <|constrain|>json<|message|>"),
        ("<|CHANNEL|>analysis<|MESSAGE|>", "<|channel|>final<|message|>"),
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant"),
    ],
    "gpt-oss without its special tokens": [
        ("analysis", "assistantfinal"), ("\n\nassistantanalysis", " assistantfinal"),
        ("analysis", "assistantcommentaryBut {assistantfinal"), ("Analysis", "assistantFinal"),
    ],
    "Gemma 4": [("<|channel>thought\n", "<channel|>"), ("<|channel>", "<channel|>")],
    "MedGemma": [("<unused94>thought\n", "<unused95>"), ("<unused94>", "<UNUSED95>")],
    "s1": [("<|im_start|>think\n", "<|im_start|>answer\n")],
    "Granite": [
        ("Here is my thought process:", "\n\nHere is my response: "),
        ("**Here's my thought process:** ", "\n**Here's my response:**\n"),
        ("HERE IS MY THOUGHT PROCESS:", "\nhere is my response:"),
    ],
    "Apriel": [("Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]\n")],
}  # fmt: skip
"""Each family of `MARKS` -> how its reasoning is opened and closed."""
PAIRS = [pair for pairs in CLOSED.values() for pair in pairs]
SPOKEN = 'We weigh {"a": 2}, or {one} that "hurts". '
"""Reasoning that cannot be mistaken for prose around the answer."""


def test_every_family_of_marks_has_its_cases() -> None:
    assert list(CLOSED) == [mark.models.partition(":")[0].partition(",")[0] for mark in MARKS]


@pytest.mark.parametrize(("opens", "closes"), PAIRS)
@pytest.mark.parametrize("answer", [ONE, FENCED, f"So: {ONE} <|end|>", '```\n{"a": 1}\n```<|return|>'])
def test_reasoning_is_no_part_of_an_answer_whatever_marks_it(opens: str, closes: str, answer: str) -> None:
    spoken = SPOKEN if closes else ""
    assert extract_object(f"{opens}{spoken}{closes}{answer}") == {"a": 1}


@pytest.mark.parametrize(("opens", "closes"), PAIRS)
def test_reasoning_is_no_part_of_a_draft(opens: str, closes: str) -> None:
    spoken = SPOKEN if closes else ""
    assert plain_reply(f"{opens}{spoken}{closes}Oh no.\n") == "Oh no."
    assert plain_reply(f"{opens}{spoken}{closes}\n<answer>\nOh no.\n</answer>\n") == "Oh no."


@pytest.mark.parametrize(("opens", "closes"), [pair for pair in PAIRS if pair[1]])
def test_reasoning_whose_opening_was_swallowed_ends_all_the_same(opens: str, closes: str) -> None:
    if closes != "<|end|><|start|>assistant":  # the end of any message
        assert extract_object(f"{SPOKEN}{closes}{ONE}") == {"a": 1}
        assert plain_reply(f"{SPOKEN}{closes}Oh no.") == "Oh no."


@pytest.mark.parametrize(("opens", "closes"), [pair for pair in PAIRS if pair[1]])
@pytest.mark.parametrize("spoken", [SPOKEN, ONE, "Well, </no> [/x]", f"<b>{ONE}</b>"])
def test_reasoning_that_never_ends_leaves_no_answer(opens: str, closes: str, spoken: str) -> None:
    if "analysis" in opens.lower() and "|" not in opens and not spoken[0].isalpha():
        spoken = f"we{spoken}"  # the word and what follows it are one
    for found in (extract_object(opens + spoken), plain_reply(opens + spoken)):
        assert isinstance(found, Unparsed)
        assert found.code == "unfinished_reasoning"


@pytest.mark.parametrize("mark", [mark for pair in PAIRS for mark in pair if mark])
@pytest.mark.parametrize("wrapping", [
    "{}", "Here: {}", "```json\n{}\n```\n", "<think>{{</think>Sure! {}", "Either way: {} That is all.",
])  # fmt: skip
def test_marks_in_the_strings_of_an_object_are_text(mark: str, wrapping: str) -> None:
    want = {"reasoning": f"It says {mark}, and\n{mark}", "b": [mark]}
    assert extract_object(wrapping.format(json.dumps(want, ensure_ascii=False))) == want


@pytest.mark.parametrize("text", [
    "I think that [think] and [thought](http://x.y) are words.", "My analysis: it hurts.", "analysis\nfinal",
    "Finally, an analysis of it all.", "In the final analysis <3 you.", "a <b> c </b> [1] ◁▷",
    "x < thinkers > y",
    "She said here is my response: no.", "1 <2 [Reasoning] <|x|>",
    "The <thinker/> <rethink> of <unthinkable>.",
    "Analysis paralysis is real.", "final thoughts <response>are</response> hard",
])  # fmt: skip
def test_prose_that_resembles_marks_is_kept(text: str) -> None:
    assert plain_reply(text) == text
    assert extract_object(f"{text}\n{ONE}") == {"a": 1}


@pytest.mark.parametrize(("text", "want"), [
    ("<|channel|>final<|message|>Oh no.<|return|>", "Oh no."), ("finalOh no.", "Oh no."),
    ("<response>Oh no.", "Oh no."), ("Hm.<think>a</think> Oh no.", "Hm. Oh no."),
    ("<think>a [THINK] b</think>Oh [/THINK] no.", "no."),
    ("<|end_of_thought|>Oh no.<|end_of_solution|>", "Oh no."),
    ("x[BEGIN FINAL RESPONSE]Oh no.[END FINAL RESPONSE]\n<|end|>", "Oh no."),
    ('{"x": "<think>"} Oh no.', '{"x": "<think>"} Oh no.'),
    *((f"Oh no.{end}", "Oh no.") for end in ENDS),
    *((f"<answer>Oh no.</answer>\n{end}", "Oh no.") for end in ENDS),
    ("Oh no. <|im_end|>\n</s></s>\n", "Oh no."), ("<|eot_id|>Oh </s> no.", "<|eot_id|>Oh </s> no."),
])  # fmt: skip
def test_marks_around_a_draft_are_dropped(text: str, want: str) -> None:
    assert plain_reply(text) == want


@pytest.mark.parametrize(("text", "want"), [
    # braces and repairs inside strings do not count
    ('{"a": "}"}', {"a": "}"}),
    ('so: {"a": "{ \\" }", "b": {"c": "```"}} there', {"a": '{ " }', "b": {"c": "```"}}),
    ('{"a": "// no comment, True"} ', {"a": "// no comment, True"}),
    ('x {"a": "b // c, }", "d": True,}', {"a": "b // c, }", "d": True}),
    ("{}", {}),
    ('{"__proto__": {"a": 1}, "constructor": 2}', {"__proto__": {"a": 1}, "constructor": 2}),
    ('{"a": [1, 2, ], }', {"a": [1, 2]}),
    ('```json\n{"a": [1,\n]}\n```', {"a": [1]}),
    ('{"a": True, "b": False, "c": None}', {"a": True, "b": False, "c": None}),
    # a number that is none becomes null, so that only its field is lost
    *((f'{{"a": {text}, "b": 1}}', {"a": None, "b": 1})
      for text in ("NaN", "Infinity", "-Infinity", "9" * 20, "-" + "9" * 5000)),
    # the whole text is JSON: there is only one way to read it, whatever its strings say
    *((json.dumps({"a": f"x {word} y"}), {"a": f"x {word} y"})
      for word in ("<think>", "</think>", "<think>no</think>", "<reasoning>")),
])  # fmt: skip
def test_what_stands_in_the_object_is_read_as_it_stands(text: str, want: dict[str, object]) -> None:
    assert extract_object(text) == want


CODES = {
    "empty": ["", " \n\t\ufeff", "<think></think>", f"<think>{ONE}</think>", f"<THINK>{ONE}</THINK>"],
    "unfinished_reasoning": [
        f"<think>{ONE}", f"<think>a</think><think>{ONE}", f"{ONE}<thinking>but", f"<think>{ONE}</thinking>",
    ],
    "no_json": ["I would rather not.", "}", '"a": 1}', f"<reasoning>{ONE}</reasoning> nothing more"],
    "truncated": [
        '{"a": 1', '{"a": {"b": 1}', '{"a": "never closed', '{"a": "never closed}', '```json\n{"a": [1, 2',
    ],
    "malformed": ["{a: 1}", "{'a': 1}", '{"a" 1}'],
    "not_an_object": ["[1, 2]", f"[{ONE}]", '"text"', "3", "NaN", "null", "true", "```json\n[1]\n```"],
    "ambiguous": [
        f'{ONE} or rather {{"a": 2}}', f'{FENCED}\n```json\n{{"a": 2}}\n```', f'{ONE} then {{"a": ',
        f"{FENCED}\n```\n[1\n```",  # a broken fence beside a good one, though it has no brace
        f"{ONE} then {{a: 2}}", '{"a": true} {"a": 1}', '{"a": 0} {"a": false}',  # true is not 1
    ],
    "duplicate_keys": ['{"a": 1, "a": 2}', 'so {"b": {"a": 1, "a": [1]}}', '{"a": true, "a": 1}'],
    "too_long": ["x" * (MAX_CHARS + 1)],
    "too_deep": [DEEP, DEEP + "1" + "}" * 100_000, "[" * 100_000],
}  # fmt: skip


@pytest.mark.parametrize(("code", "text"), [(code, text) for code in CODES for text in CODES[code]])
def test_each_way_to_hold_no_object_has_its_code(code: str, text: str) -> None:
    found = extract_object(text)
    assert isinstance(found, Unparsed), found
    assert (found.code, found.reason) == (code, f"unparsed:{code}")


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
def test_nesting_is_read_to_a_fixed_depth(depth: int) -> None:
    # the object itself lies at depth 0, so that its innermost list lies at `depth`
    found = extract_object('{"a": ' + "[" * depth + "]" * depth + "}")
    assert isinstance(found, dict) is (depth <= MAX_DEPTH)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.text(max_size=5), VALUES, max_size=4),
    st.sampled_from(["{}", "\n{}\n", "Here: {} done", "```json\n{}\n```", "<think>{{}}</think>{}"]),
    st.booleans(),
)
def test_any_object_is_found_in_any_wrapping(
    value: dict[str, object], wrapping: str, ascii_only: bool
) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only)
    assert extract_object(wrapping.replace("{{}}", "{x}").replace("{}", written)) == value
