"""Templates: what they compile to, what they say, and when "it" may stand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data.simulate.draws import Draws
from attune_data.simulate.grammar import Facts, Mentions, Slot, TemplateError, compile_template

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


def said(source: str, facts: Facts, key: object = 0) -> str:
    return compile_template(source).say(facts, Draws("grammar", key), set())


def all_said(source: str, facts: Facts) -> set[str]:
    return {said(source, facts, key) for key in range(60)}


@given(tree=TREES, key=st.integers())
def test_a_template_says_what_its_tree_can_say(tree: list[Any], key: int) -> None:
    assert said(spelt(tree), {}, key) in texts_of(tree)


def test_pieces_of_a_compiled_template() -> None:
    template = compile_template("[so|]{Name} and {thing2}")
    choice, *rest = template.pieces
    assert isinstance(choice, tuple)
    assert [option.pieces for option in choice] == [("so",), ()]
    assert rest == [Slot("name", True, False), " and ", Slot("thing2", False, False)]
    assert (sorted(template.slots), template.source) == (["name", "thing2"], "[so|]{Name} and {thing2}")


def test_only_what_is_known_is_said() -> None:
    # needs: name alone (the empty option), or name and thing
    template = compile_template("{name} waits[| for {thing}|, {friend} too]")
    assert template.needs == {frozenset({"name"})}
    assert not template.fits({"thing"})
    assert all_said(template.source, {"name": "Ana", "friend": "Bo"}) == {"Ana waits", "Ana waits, Bo too"}
    either = compile_template("[{thing}|{friend} or {when}]")
    assert either.needs == {frozenset({"thing"}), frozenset({"friend", "when"})}
    assert either.fits({"friend", "when"})
    assert not either.fits({"friend"})


def test_a_fact_may_be_a_template_or_a_list_of_them() -> None:
    late, at = compile_template("late"), compile_template("at {clock}")
    facts: Facts = {"when": [at, late], "clock": compile_template("[one|two]")}
    assert all_said("{When}", facts) == {"At one", "At two", "Late"}
    used: set[str] = set()
    compile_template("{when}{when}{when}{when}{when}{when}").say(facts, Draws(1), used)
    assert used == {"when", "clock"}  # the slots inside are noted too


@pytest.mark.parametrize(("source", "message"), [
    ("a [b|c", "'[' is never closed in: a [b|c"),
    ("[a[b]", "'[' is never closed in: [a[b]"),
    ("a] b", "']' without an opening '[' in: a] b"),
    ("[a]]", "']' without an opening '[' in: [a]]"),
    ("a|b", "'|' without an opening '[' in: a|b"),
    ("a } b", "a lone '}' in: a } b"),
    ("{}", "'{}' does not name a slot in: {}"),
    ("{a b}", "'{a b}' does not name a slot in: {a b}"),
    ("{2thing}", "'{2thing}' does not name a slot in: {2thing}"),
    ("{THING}", "'{THING}' does not name a slot in: {THING}"),
])  # fmt: skip
def test_what_cannot_be_compiled(source: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        compile_template(source)
    assert str(caught.value) == message


def test_the_thing_is_it_until_other_things_were_said_and_people_are_introduced_once() -> None:
    facts = Mentions({"thing": "the exam", "name": "Ana"}, {"name": "my aunt Ana"})
    assert said("{thing}. {thing}. {Thing} again. {name}, {Name}", facts) == (
        "the exam. it. It again. my aunt Ana, Ana"
    )
    facts.recent.clear()
    assert [said("{thing}", facts), said("{thing}", facts)] == ["the exam", "it"]


WITH_PRONOUNS = {
    "name": {"he": "she", "him": "her", "his": "her"},
    "friend": {"he": "he", "him": "him", "his": "his"},
}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{name} rang, and {name} asked for more", "Ana rang, and she asked for more"),
        ("{name} rang and I told {name} what {name}'s son said", "Ana rang and I told her what her son said"),
        (
            "{name} met {friend}, and {friend} told {name} about {friend}",
            "Ana met Ben, and he told Ana about Ben",
        ),
        ("{name} is back, so is {name}'s", "Ana is back, so is Ana's"),
        ("{name} wrote 'love, {name}' on it", "Ana wrote 'love, Ana' on it"),
        ("{name}, and [what|what] {name} [says|says]", "Ana, and what she says"),
        ("{name} and people like {name} are rare", "Ana and people like Ana are rare"),
    ],
)
def test_a_name_is_a_pronoun_while_nobody_else_is_mentioned(source: str, expected: str) -> None:
    facts = Mentions({"name": "Ana", "friend": "Ben"}, pronouns=WITH_PRONOUNS)
    assert said(source, facts) == expected
    assert said(source, Mentions({"name": "Ana", "friend": "Ben"})) == source.format(
        name="Ana", friend="Ben"
    ).replace("[what|what]", "what").replace("[says|says]", "says")


def test_a_pronoun_is_not_counted_as_a_fact() -> None:
    used: set[str] = set()
    facts = Mentions({"name": "Ana"}, pronouns=WITH_PRONOUNS)
    facts.person = "name"
    assert compile_template("so {name} said").say(facts, Draws(1), used) == "so she said"
    assert used == {"she"}


def test_an_echo_with_the_thing_in_it_mentions_the_thing() -> None:
    facts = Mentions({"thing": "the exam", "echo": "failing the exam"})
    facts.echo_names_thing = True
    assert said("{echo}: {thing}", facts) == "failing the exam: it"


@pytest.mark.parametrize("source", [
    "'{thing}'", '"{thing}"', "Ana and {thing}", "Ana or {thing}", "is it {thing} now", "bring up {thing}",
    "feels like {thing}", "{thing} and Ana", "{thing} or Ana", "{thing}, that is", "[so|so] and {thing}",
])  # fmt: skip
def test_no_pronoun_in_quotes_in_lists_or_after_like(source: str) -> None:
    facts = Mentions({"thing": "the exam"})
    facts.recent.add("thing")
    assert "the exam" in said(source, facts)
