"""Templates: what they compile to, what they say, and when "it" may stand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data.simulate.draws import Draws
from attune_data.simulate.grammar import (
    Facts,
    Mentions,
    Slot,
    TemplateError,
    compile_template,
)

# A phrase as a tree: text, or a list of options, each a list of such pieces.
TEXT = st.text(alphabet="ab ,'é.", max_size=4)
TREES: Any = st.recursive(
    st.lists(TEXT, max_size=2),
    lambda inner: st.lists(TEXT | st.lists(inner, min_size=1, max_size=3), max_size=3),
    max_leaves=6,
)


def spelt(pieces: Sequence[Any]) -> str:
    """A tree in the notation of templates."""
    return "".join(p if isinstance(p, str) else "[" + "|".join(map(spelt, p)) + "]" for p in pieces)


def texts_of(pieces: Sequence[Any]) -> list[str]:
    """Every text that a tree can say, with repeats."""
    each = [[p] if isinstance(p, str) else [t for option in p for t in texts_of(option)] for p in pieces]
    return ["".join(parts) for parts in product(*each)]


def said(source: str, facts: Facts | None = None, key: object = 0) -> str:
    return compile_template(source).say(facts or {}, Draws("grammar", key), set())


def all_said(source: str, facts: Facts | None = None, times: int = 60) -> set[str]:
    return {said(source, facts, key) for key in range(times)}


# --- what is said ------------------------------------------------------------------------------------


@given(tree=TREES, key=st.integers())
def test_a_template_says_what_its_tree_can_say(tree: list[Any], key: int) -> None:
    template = compile_template(spelt(tree))
    everything = texts_of(tree)
    assert template.say({}, Draws(key), set()) in everything
    assert template.slots == frozenset()


def test_pieces_of_a_compiled_template() -> None:
    template = compile_template("[so|]{Name} and {thing2}")
    assert template.source == "[so|]{Name} and {thing2}"
    choice, *rest = template.pieces
    assert isinstance(choice, tuple)
    assert [option.pieces for option in choice] == [("so",), ()]
    assert rest == [Slot("name", True, False), " and ", Slot("thing2", False, False)]
    assert template.slots == {"name", "thing2"}


def test_only_what_is_known_is_said() -> None:
    # needs: name alone (the empty option), or name and thing
    template = compile_template("{name} waits[| for {thing}|, {friend} too]")
    assert template.needs == {frozenset({"name"})}
    assert not template.fits({"thing"})
    texts = {template.say({"name": "Ana", "friend": "Bo"}, Draws(key), set()) for key in range(40)}
    assert texts == {"Ana waits", "Ana waits, Bo too"}
    either = compile_template("[{thing}|{friend} or {when}]")
    assert either.needs == {frozenset({"thing"}), frozenset({"friend", "when"})}
    assert either.fits({"friend", "when"})
    assert not either.fits({"friend"})


def test_a_fact_may_be_a_template_or_a_list_of_them() -> None:
    facts: Facts = {
        "when": [compile_template("at {clock}"), compile_template("late")],
        "clock": compile_template("[one|two]"),
    }
    assert all_said("{When}", facts) == {"At one", "At two", "Late"}
    used: set[str] = set()
    compile_template("{when}{when}{when}{when}{when}{when}").say(facts, Draws(1), used)
    assert used == {"when", "clock"}  # the slots inside are noted too


# --- how many ----------------------------------------------------------------------------------------


# --- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "message"), [
    ("a [b|c", "'[' is never closed in: a [b|c"),
    ("[a[b]", "'[' is never closed in: [a[b]"),
    ("a] b", "']' without an opening '[' in: a] b"),
    ("[a]]", "']' without an opening '[' in: [a]]"),
    ("a|b", "'|' without an opening '[' in: a|b"),
    ("a } b", "a lone '}' in: a } b"),
    ("{}", "'{}' names no slot in: {}"),
    ("{a b}", "'{a b}' names no slot in: {a b}"),
    ("{2thing}", "'{2thing}' names no slot in: {2thing}"),
    ("{THING}", "'{THING}' names no slot in: {THING}"),
    ("[x|{é}]", "'{é}' names no slot in: [x|{é}]"),
])  # fmt: skip
def test_what_cannot_be_compiled(source: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        compile_template(source)
    assert str(caught.value) == message


# --- "it" --------------------------------------------------------------------------------------------


def exam() -> Mentions:
    return Mentions({"thing": "the exam", "name": "Ana"})


def test_the_thing_is_it_the_second_time() -> None:
    assert said("{thing}. {thing}. {Thing} again. {name}, {name}", exam()) == (
        "the exam. it. It again. Ana, Ana"
    )


def test_the_thing_is_spelt_out_again_when_nobody_has_just_said_it() -> None:
    facts = exam()
    assert [said("{thing}", facts), said("{thing}", facts)] == ["the exam", "it"]
    facts.recent.clear()
    assert said("{thing}", facts) == "the exam"


@pytest.mark.parametrize("source", [
    "'{thing}'", '"{thing}"', "Ana and {thing}", "Ana or {thing}", "is it {thing} now", "bring up {thing}",
    "feels like {thing}", "{thing} and Ana", "{thing} or Ana", "{thing}, that is", "[so|so] and {thing}",
])  # fmt: skip
def test_no_pronoun_in_quotes_in_lists_or_after_like(source: str) -> None:
    facts = exam()
    assert said("{thing}", facts) == "the exam"
    assert "the exam" in said(source, facts)
    assert " it" not in said(source, facts).replace("is it the", "")
