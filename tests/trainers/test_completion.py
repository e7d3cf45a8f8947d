"""The text of a completion, whatever the trainer wraps around it and whatever the model wrote into it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_episodes.trainers import text_of

SAID = {"role": "assistant", "content": "so"}


@pytest.mark.parametrize(("completion", "text"), [
    ("so", "so"),
    ("", ""),
    ([SAID], "so"),
    ((SAID,), "so"),
    (SAID, "so"),
    # a tool was called in between: the last word of the assistant counts
    ([{"role": "assistant", "content": "first"}, {"role": "tool", "content": "7"}, SAID], "so"),
    ([SAID, {"role": "tool", "content": "7"}], "so"),
    ([{"role": "assistant", "content": [{"type": "text", "text": "s"}, {"text": "o"}]}], "so"),
    ([{"role": "assistant", "content": ["s", "o"]}], "so"),
    ([{"role": "assistant", "content": [{"type": "image"}, {"text": 3}, None, {"text": "so"}]}], "so"),
])  # fmt: skip
def test_the_last_message_of_the_assistant_is_the_text(completion: Any, text: str) -> None:
    assert text_of(completion) == text


@pytest.mark.parametrize("content", [None, 3, 0.5, True, {"text": "no"}, b"bytes", [], [[["deep"]]], [3]])
def test_content_of_another_kind_is_no_text(content: Any) -> None:
    assert text_of([{"role": "assistant", "content": content}]) == ""


@pytest.mark.parametrize("completion", [[], [{"role": "user", "content": "hi"}], [{"role": "assistant"}]])
def test_where_the_assistant_said_nothing_the_text_is_empty(completion: Any) -> None:
    assert text_of(completion) == ""


@pytest.mark.parametrize(
    "completion", [None, 3, b"text", [1, 2, 3], [["a"]], ["text"], [{"content": "x"}], {}]
)
def test_an_unknown_shape_is_refused_and_the_known_ones_are_named(completion: Any) -> None:
    with pytest.raises(TypeError, match=r'expected a text, or a list of chat messages such as \[{"role"'):
        text_of(completion)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800") | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner),
    max_leaves=8,
)


@given(content=ANYTHING, others=st.dictionaries(st.text().filter(lambda key: key != "role"), ANYTHING))
def test_whatever_stands_in_a_message_some_text_comes_out(content: Any, others: dict[str, Any]) -> None:
    assert isinstance(text_of([{**others, "role": "assistant", "content": content}]), str)
