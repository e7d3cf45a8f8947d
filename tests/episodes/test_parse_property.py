"""Whatever a model writes, `parse` does not raise, and what it reads is sound and stable."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data.affect import EMOTIONS
from attune_data.constants import BRANCHES
from attune_episodes import Request, Settings, parse, render
from attune_episodes.parsing import Unparsed
from attune_rewards import STAGES, Assess, AssessHP, Draft, Prediction, Prefer, Reflect
from tests.episodes.builders import predictions, request_of

KINDS = {"draft": Draft, "assess": Assess, "assess_hp": AssessHP, "prefer": Prefer, "reflect": Reflect}
REQUESTS = (
    *(request_of(stage) for stage in STAGES),
    request_of("reflect", Settings(panas_strategy="delta")),
)
LONE = "\ud83d"


def assert_sound(request: Request, found: Prediction | Unparsed) -> None:
    """A prediction of the request's stage, every answer asked for and in range, and stable; or unparsed."""
    if isinstance(found, Unparsed):
        return
    assert type(found) is KINDS[request.stage]
    if isinstance(found, (Assess, AssessHP)):
        assert {*found.observed, *found.preferred} <= set(request.questions)
        assert {*found.observed.values(), *found.preferred.values()} <= {"yes", "no"}
    if isinstance(found, Assess):
        assert all(tag.emotion and tag.intensity in (None, *range(1, 8)) for tag in found.tags or ())
    elif isinstance(found, Prefer):
        assert set(found.picks) <= set(range(12))
        assert set(found.picks.values()) <= {"A", "B"}
    elif isinstance(found, Reflect):
        assert set(found.panas) <= set(EMOTIONS)
        assert set(found.panas.values()) <= set(range(1, 8))
        assert (found.panas_change is not None) is request.wants_change
        assert set((found.panas_change or {}).values()) <= set(range(-6, 7))
        assert set(found.branches) <= set(BRANCHES)
    assert parse(request, render(request, found)) == found


NOISE = st.sampled_from(["{", "}", "[", "]", '"', ",", ":", "\\", "null", "NaN", "True", "// ", "\n", "```\n",
                         "<think>", "</think>", "\ufeff", "\x00", LONE, "10", "é", "B1", "yes"])  # fmt: skip
REPLIES = st.sampled_from(REQUESTS).flatmap(lambda r: predictions(r).map(lambda said: (r, render(r, said))))
FIELDS = st.sampled_from(
    ["emotions", "emotion", "intensity", "observed", "preferred", "picks", "post_panas", "panas_change",
     "reasoning", "draft", "q1_lookingFor", "q2_emotionClarity", "q3_modelFit", "q3_followUp_whatFeltOff",
     "fourBranchScores", "B1", "b1", "1", "Proud", "proud", "managing", "__proto__"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | NOISE
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(REQUESTS), st.text() | st.lists(NOISE | st.text(max_size=2)).map("".join))
def test_no_text_makes_it_raise(request_: Request, text: str) -> None:
    found = parse(request_, text)
    assert isinstance(found, (Unparsed, KINDS[request_.stage]))


@settings(max_examples=100, deadline=None)
@given(REPLIES, st.data())
def test_no_mutation_of_a_valid_reply_makes_it_raise(reply: tuple[Request, str], data: st.DataObject) -> None:
    request, text = reply
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 6)))
        text = text[:start] + data.draw(NOISE | st.just("") | st.just(text[start:end] * 2)) + text[end:]
    found = parse(request, text[: data.draw(st.integers(0, len(text)))] if data.draw(st.booleans()) else text)
    if request.stage != "draft":  # a broken draft is plain text, tags and all
        assert_sound(request, found)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(REQUESTS), st.dictionaries(FIELDS, JSON, max_size=5) | JSON)
def test_no_json_value_makes_it_raise(request_: Request, value: object) -> None:
    assert_sound(request_, parse(request_, json.dumps(value)))
