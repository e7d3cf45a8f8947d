"""`score_row`: a row and a text earn exactly what the conversation, its request and the text earn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as quick
from hypothesis import strategies as st

from attune_data import Conversation, DataError, load
from attune_data.format.constants import Q2_OPTIONS
from attune_episodes import (
    BUILTIN,
    Request,
    Settings,
    builtin_policy,
    parse,
    plan,
    render,
    score,
    score_row,
)
from attune_episodes.protocol.settings import PanasStrategy
from attune_episodes.training import text_of, training_dataset
from attune_episodes.training.rows import Row, RowMaker
from attune_rewards import PRESETS, ConversationPrediction, RewardSpec
from tests.play.builders import predictions as answers_to
from tests.play.players import (
    PLAYED,
    SETTINGS,
    UNREADABLE,
    example,
    play,
    read_back,
)
from tests.rewards.builders import summing
from tests.rewards.strategies import conversations

SAMPLE = load("sample")
SPECS = {
    **{name: RewardSpec.preset(name) for name in PRESETS},
    "weighted": RewardSpec.weighted("two", {"emotion_va": 2, "pairwise": 1, "q2": 0.3, "panas_na": 0.1}),
    "format": RewardSpec.preset("composite").with_format(0.2),
    "skill+format": RewardSpec.preset("skill").with_format(3),
    "format alone": RewardSpec.weighted("q1", {"q1": 1}).with_format(1),
}
ANY_SPEC = st.sampled_from(sorted(SPECS)).map(SPECS.__getitem__)
POLICIES = [builtin_policy(name, SAMPLE) for name in BUILTIN]
Json = dict[str, Any]
few = quick(max_examples=40, deadline=None)


def pairs(about: Conversation, asked: Settings, spec: RewardSpec) -> Iterator[tuple[Row, Request]]:
    """Each row with the request that it was made of."""
    requests = {request.id: request for request in plan(about, asked)}
    for row in RowMaker(asked, spec).rows(about):
        yield row, requests[row["id"]]


def check(
    about: Conversation, asked: Settings, spec: RewardSpec, row: Row, request: Request, text: str
) -> None:
    """The row's score is the engine's, to the last bit."""
    want = score(about, request, parse(request, text), spec, stages=asked.stages)
    got = score_row({"truth": row["truth"]}, text)
    assert got == want
    assert list(got.parts.items()) == list(want.parts.items())
    assert got.weight == row["weight"]


# --- by hand -------------------------------------------------------------------------------------


def row_of(stage: str, **kwargs: Any) -> Row:
    return next(
        row
        for row in training_dataset([example().marked("own")], **{"reward": "composite", **kwargs})
        if row["stage"] == stage
    )


def test_an_assess_row_by_hand() -> None:
    # tags right: 1 and 1; B1 right, B2 not answered: 1/2; both preferences right: 1
    text = json.dumps({
        "emotions": [{"emotion": "upset", "intensity": 5}],
        "observed": {"B1": "yes"},
        "preferred": {"B1": "no", "B2": "yes"},
    })  # fmt: skip
    earned = score_row(row_of("assess"), f"Here you are:\n```json\n{text}\n```")
    assert dict(earned.parts) == {"emotion_f1": 1.0, "emotion_va": 1.0, "binary_om": 0.5, "binary_hp": 1.0}
    assert earned.value == pytest.approx(0.42375 / 0.485)  # (.12 + .12 + .1225/2 + .1225)/(.24 + .245)
    assert earned.reason == "ok"
    assert earned.weight == pytest.approx(0.485)


@pytest.mark.parametrize("seed", range(4))
def test_a_prefer_row_knows_the_frame_that_was_shown(seed: int) -> None:
    asked = Settings(seed=seed, stages=("prefer",))
    (request,) = plan(example(), asked)
    (row,) = RowMaker(asked, SPECS["composite"]).rows(example())
    # the HP chose B in the first and A in the second comparison; say B in both: one of two
    picks = {str(c.number): c.to_shown("B") for c in request.comparisons}
    assert score_row(row, json.dumps({"picks": picks})).value == 0.5


@pytest.mark.parametrize(("strategy", "said"), [
    ("absolute", {"post_panas": summing(35, 20)}),
    # 30 and 20 before, and what was before comes from the row: the changes are to 35 and 20
    ("delta", {"panas_change": None}), ("blind_delta", {"panas_change": None}),
])  # fmt: skip
def test_a_reflect_row_by_hand(strategy: PanasStrategy, said: Json) -> None:
    after, before = summing(35, 20), summing(30, 20)
    if "panas_change" in said:
        said = {"panas_change": {name: after[name] - before[name] for name in after}}
    row = row_of("reflect", settings=Settings(panas_strategy=strategy))
    earned = score_row(row, json.dumps({**said, "q2_emotionClarity": Q2_OPTIONS[1],
                                        "fourBranchScores": {"perceiving": 3}}))  # fmt: skip
    assert dict(earned.parts) == pytest.approx({"panas_pa": 0.75, "q2": 0.0, "branch_perceiving": 2 / 3})
    assert earned.value == pytest.approx(0.135 / 0.27)


def test_below_the_null_is_below_zero() -> None:
    row = row_of("prefer", reward="skill")
    null = RewardSpec.preset("skill").baselines["pairwise"]
    earned = score_row(row, "no idea")
    assert earned.value == pytest.approx(-null / (1 - null))
    assert (earned.reason, dict(earned.parts)) == ("unparsed:no_json", {"pairwise": 0.0})


# --- the same as the engine, always --------------------------------------------------------------


@few
@given(data=st.data(), about=conversations(), asked=SETTINGS, spec=ANY_SPEC)
def test_any_reply_earns_the_same(
    data: st.DataObject, about: Conversation, asked: Settings, spec: RewardSpec
) -> None:
    for row, request in pairs(about, asked, spec):
        check(about, asked, spec, row, request, render(request, data.draw(answers_to(request))))
        check(about, asked, spec, row, request, data.draw(st.sampled_from(sorted(UNREADABLE))))


@few
@given(played=PLAYED, asked=SETTINGS)
def test_weight_times_value_over_the_rows_is_the_strict_composite(
    played: tuple[Conversation, ConversationPrediction], asked: Settings
) -> None:
    about, said = played
    episode = play(about, said, asked, as_text=True)
    texts = {step.request.id: step.reply for step in episode.steps}
    paid = 0.0
    for row, _ in pairs(about, asked, RewardSpec.preset("composite")):
        earned = score_row(row, texts[row["id"]])
        assert earned.value is not None
        assert 0.0 <= earned.value <= 1.0
        paid += row["weight"] * earned.value
    strict = read_back(about, episode.result())["composite_strict"]
    assert paid == pytest.approx((strict or 0) / 100, abs=1e-12)


# --- completions and what is refused ---------------------------------------------------------------

SAID = {"role": "assistant", "content": "so"}


@pytest.mark.parametrize(("completion", "text"), [
    ("so", "so"),
    ([SAID], "so"),
    ((SAID,), "so"),
    (SAID, "so"),
    # a tool was called in between: the assistant's last message counts
    ([{"role": "assistant", "content": "first"}, {"role": "tool", "content": "7"}, SAID], "so"),
    ([SAID, {"role": "tool", "content": "7"}], "so"),
    ([{"role": "assistant", "content": [{"type": "text", "text": "s"}, {"text": "o"}]}], "so"),
    ([{"role": "assistant", "content": [{"type": "image"}, {"text": 3}, None, {"text": "so"}]}], "so"),
    *[([{"role": "assistant", "content": odd}], "") for odd in (None, 3, b"b", [[["x"]]])],
    ([], ""), ([{"role": "user", "content": "hi"}], ""), ([{"role": "assistant"}], ""),
])  # fmt: skip
def test_the_last_message_of_the_assistant_is_the_text(completion: Any, text: str) -> None:
    assert text_of(completion) == text
    assert score_row(row_of("assess"), completion) == score_row(row_of("assess"), text)


@pytest.mark.parametrize("completion", [3, b"text", [1, 2], [["a"]], ["text"], [{"content": "x"}], {}])
def test_a_completion_of_an_unknown_kind_is_refused(completion: Any) -> None:
    with pytest.raises(TypeError, match=r'expected a text, or a list of chat messages such as \[{"role"'):
        score_row(row_of("assess"), completion)


@pytest.mark.parametrize(("row", "error", "words"), [
    *((row, DataError, r"row: truth: found .*, expected the JSON text that training_datase")
      for row in ({}, {"truth": None}, {"truth": {"stage": "assess"}}, {"prompt": "hello"})),
    *((row, TypeError, "a row is a mapping with its truth, got ")
      for row in ("text", None, 3, [{"truth": "{}"}])),
])  # fmt: skip
def test_what_is_no_row_is_refused(row: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        score_row(row, "x")
