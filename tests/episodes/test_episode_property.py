"""The promises of an episode, on random conversations with holes and random replies with gaps."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attune_data import Conversation
from attune_episodes import Episode, Settings, builtin_policy, rollout
from attune_rewards import STAGES, ConversationPrediction, RewardSpec, read_record
from attune_rewards.truth import truth_of
from tests.episodes.players import (
    PLAYED,
    SETTINGS,
    UNREADABLE,
    can_be_said,
    play,
    read_back,
)
from tests.rewards.specs import REWARDS, total_of
from tests.rewards.strategies import conversations

few = settings(max_examples=40, deadline=None)
some = settings(max_examples=80, deadline=None)
EXACT = 1e-12
Played = tuple[Conversation, ConversationPrediction]


@few
@given(played=PLAYED, asked=SETTINGS, silence=st.sampled_from(sorted(UNREADABLE)))
def test_the_return_is_the_strict_composite_of_the_record(
    played: Played, asked: Settings, silence: str
) -> None:
    episode = play(*played, asked, silence=silence)
    strict = read_back(played[0], episode.result())["composite_strict"]
    assert sum(step.reward for step in episode.steps) == pytest.approx((strict or 0) / 100, abs=EXACT)
    assert episode.total == pytest.approx((strict or 0) / 100, abs=EXACT)
    assert (strict is None) == all(step.score.value is None for step in episode.steps)


@some
@given(played=PLAYED)
def test_the_return_of_every_reward_follows_from_the_record(played: Played) -> None:
    for name, spec in REWARDS.items():
        episode = play(*played, reward=spec)
        said, warnings = read_record(episode.result(), played[0])
        assert warnings == ()
        near = pytest.approx(total_of(played[0], said, spec), abs=1e-11 if spec.nulls else EXACT)
        assert episode.total == near, name
        assert sum(step.reward for step in episode.steps) == near, name


@few
@given(played=PLAYED)
def test_dense_and_terminal_pay_the_same_return(played: Played) -> None:
    for spec in (spec for spec in REWARDS.values() if spec.dense):
        dense, terminal = play(*played, reward=spec), play(*played, reward=spec.terminal())
        assert terminal.total == dense.total
        assert [step.reward for step in terminal.steps[:-1]] == [0.0] * (len(terminal.steps) - 1)
        assert terminal.steps[-1].reward == dense.total
        assert [step.score for step in terminal.steps] == [step.score for step in dense.steps]


@few
@given(played=PLAYED, stages=st.sets(st.sampled_from(STAGES), min_size=1))
def test_the_return_of_some_stages_is_the_partial_composite_of_the_record(
    played: Played, stages: set[str]
) -> None:
    asked = Settings(stages=tuple(stage for stage in STAGES if stage in stages))
    episode = play(*played, asked)
    scores = read_back(played[0], episode.result())
    if {"assess", "prefer", "reflect"} <= stages:
        assert episode.total_name in ("composite_strict", "not_scored")
        assert "composite_partial" not in scores
    else:
        assert episode.total_name in ("composite_partial", "not_scored")
        assert scores["composite_strict"] is scores["composite_score"] is None
    assert episode.total == pytest.approx((scores.get(episode.total_name) or 0) / 100, abs=EXACT)


@few
@given(played=PLAYED, asked=SETTINGS)
def test_a_typed_reply_and_its_json_score_the_same(played: Played, asked: Settings) -> None:
    typed, written = play(*played, asked), play(*played, asked, as_text=True)
    for one, other in zip(typed.steps, written.steps, strict=True):
        assert one.reply == other.reply
        assert (one.score.value, one.score.parts) == (other.score.value, other.score.parts)
        assert (one.score.weight, one.reward) == (other.score.weight, other.reward)
        if one.reply != "{}":  # what says nothing at all is unparsed as text
            assert one.score.reason == other.score.reason
    assert read_back(played[0], typed.result()) == read_back(played[0], written.result())


@some
@given(about=conversations().filter(can_be_said), asked=SETTINGS, named=st.sampled_from(list(REWARDS)))
def test_the_oracle_earns_one_wherever_anything_is_annotated(
    about: Conversation, asked: Settings, named: str
) -> None:
    for spec in (RewardSpec.preset("composite"), REWARDS[named]):
        played = rollout(about, builtin_policy("oracle", [about]), asked, reward=spec)
        values = [step.score.value for step in played.steps if step.score.value is not None]
        assert values == pytest.approx([1.0] * len(values), abs=EXACT)
        assert played.total == pytest.approx(1.0 if values else 0.0, abs=EXACT)
        assert played.parse_rate == 1


@some
@given(about=conversations(), silence=st.sampled_from(sorted(UNREADABLE)), asked=SETTINGS)
def test_saying_nothing_readable_earns_exactly_nothing(
    about: Conversation, silence: str, asked: Settings
) -> None:
    played = rollout(about, lambda messages: silence, asked)
    assert played.total == 0.0
    assert all(step.score.value in (0.0, None) for step in played.steps)
    assert set(played.parts.values()) <= {0.0}


@some
@given(about=conversations())
def test_empty_answers_earn_only_where_empty_is_right(about: Conversation) -> None:
    played = rollout(about, builtin_policy("empty", [about]))
    truth = truth_of(about)
    for step in played.steps:
        here = truth.turn(step.request.turn) if step.request.turn is not None else None
        right = set()
        if here is not None and here.tags == ():
            right |= {"emotion_f1", "emotion_va"}
        if here is None and truth.q1 == ():
            right.add("q1")
        if here is None and truth.q3_follow_up == ():
            right.add("q3_follow_up")
        assert dict(step.score.parts) == {name: float(name in right) for name in step.score.parts}


@few
@given(played=PLAYED, asked=SETTINGS)
def test_weights_are_fixed_before_the_episode_and_sum_to_one(played: Played, asked: Settings) -> None:
    about, said = played
    spoken, silent = play(about, said, asked), play(about, ConversationPrediction("c1"), asked)
    weights = [step.score.weight for step in spoken.steps]
    assert weights == [step.score.weight for step in silent.steps]
    scored_steps = [step for step in spoken.steps if step.score.value is not None]
    assume(scored_steps)
    assert sum(weights) == pytest.approx(1.0, abs=EXACT)
    assert all(0.0 <= step.score.value <= 1.0 for step in scored_steps if step.score.value is not None)


@few
@given(played=PLAYED, asked=SETTINGS)
def test_two_episodes_of_one_conversation_do_not_touch_each_other(played: Played, asked: Settings) -> None:
    about, said = played
    alone = play(about, said, asked)
    first = Episode(about, asked)
    first.submit("")
    again = play(about, said, asked)
    assert len(first.steps) == 1
    assert [step.score for step in again.steps] == [step.score for step in alone.steps]
