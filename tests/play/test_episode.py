"""`Episode` step by step: order, rewards worked by hand, names of the total, refusals."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attune_data import Conversation
from attune_data.format.constants import Q2_OPTIONS, Q3_OPTIONS
from attune_episodes import Episode, EpisodeOverError, Settings, Unparsed, builtin_policy, rollout
from attune_rewards import (
    STAGES,
    Assess,
    AssessHP,
    ConversationPrediction,
    Draft,
    Prediction,
    Prefer,
    Reflect,
    RewardSpec,
    Stage,
    Tag,
    read_record,
)
from tests.play.players import (
    PLAYED,
    PREDICTION_CLASSES,
    SETTINGS,
    UNREADABLE,
    can_be_said,
    example,
    play,
    read_back,
    unannotated,
)
from tests.rewards.builders import gold, summing
from tests.rewards.specs import REWARDS as SPECS
from tests.rewards.specs import total_of
from tests.rewards.strategies import conversations

REPLIES: list[Prediction] = [
    Draft("I am with you. 🤍"),
    Assess(
        tags=(Tag("upset", 5),),  # right: F1 1, VA 1
        observed={"B1": "yes"},  # B1 right, B2 not answered, so wrong: 1/2
        preferred={"B1": "no", "B2": "yes"},  # both right: 1
    ),
    AssessHP({"B1": "no"}, {}),
    Prefer({0: "B", 1: "B"}),  # one of two right: 1/2
    Reflect(
        # positive 30 -> 40, predicted 35: naive 1 - 10/60, score 1 - 5/60, adjusted (10 - 5)/10 = 1/2,
        # mapped (1/2 + 1)/2 = 3/4; negative 20 -> 20 did not move: no leaf
        panas=summing(35, 20),
        q2=Q2_OPTIONS[1],  # wrong: 0
        q3=Q3_OPTIONS[0],  # not annotated: not scored
        branches={"perceiving": 3},  # 5 is right: 1 - 2/6 = 2/3
    ),
]
# emotion .24 = f1 .12 + va .12; evaluation .49 = om .1225 + hp .1225 + pairwise .245;
# holistic .27 = panas .108 (pa alone) + questions .081 (q2 alone) + branches .081 (perceiving alone)
REWARDS = [
    0.0,
    0.12 + 0.12 + 0.1225 / 2 + 0.1225,  # 0.42375
    0.0,
    0.245 / 2,  # 0.1225
    0.108 * 3 / 4 + 0 + 0.081 * 2 / 3,  # 0.081 + 0.054 = 0.135
]
WEIGHTS = [0.0, 0.485, 0.0, 0.245, 0.27]


def played(settings: Settings | None = None, reward: RewardSpec | str | None = None) -> Episode:
    """The example with the replies above, where the settings ask for them."""
    episode = Episode(example(), settings, reward)
    for stage, reply in zip(STAGES, REPLIES, strict=True):
        if stage in episode.settings.stages:
            episode.submit(reply)
    return episode


def test_rewards_worked_by_hand() -> None:
    episode = played()
    assert [step.reward for step in episode.steps] == pytest.approx(REWARDS, abs=1e-12)
    assert [step.score.weight for step in episode.steps] == pytest.approx(WEIGHTS, abs=1e-12)
    assert episode.total == pytest.approx(0.68125, abs=1e-12)  # .42375 + .1225 + .135
    assert episode.total_name == "composite_strict"
    assert episode.steps[1].score.value == pytest.approx(0.42375 / 0.485)
    assert dict(episode.steps[1].score.parts) == {
        "emotion_f1": 1.0, "emotion_va": 1.0, "binary_om": 0.5, "binary_hp": 1.0,
    }  # fmt: skip
    assert dict(episode.steps[4].score.parts) == pytest.approx(
        {"panas_pa": 0.75, "q2": 0.0, "branch_perceiving": 2 / 3}
    )


def test_a_terminal_reward_pays_everything_with_the_last_step() -> None:
    episode = played(reward=RewardSpec.preset("composite").terminal())
    assert [step.reward for step in episode.steps] == pytest.approx([0, 0, 0, 0, 0.68125], abs=1e-12)
    assert episode.total == pytest.approx(0.68125, abs=1e-12)


@pytest.mark.parametrize(("preset", "want"), [
    ("composite", 0.68125),
    ("emotion", 1.0),  # f1 and va
    ("behaviour", 0.75),  # (1/2 + 1)/2
    ("preference", 0.5),
    ("holistic", 0.5),  # .4 x 3/4 + .3 x 0 + .3 x 2/3
])  # fmt: skip
def test_presets_worked_by_hand(preset: str, want: float) -> None:
    episode = played(reward=preset)
    assert episode.total == pytest.approx(want, abs=1e-12)
    assert episode.total_name == ("composite_strict" if preset == "composite" else preset)


@pytest.mark.parametrize(("stages", "name", "want"), [
    (STAGES, "composite_strict", 0.68125),
    (("assess", "prefer", "reflect"), "composite_strict", 0.68125),  # what is left out carries no weight
    (("assess", "prefer"), "composite_partial", 0.54625 / 0.73),  # .42375 + .1225 of the weight .24 + .49
    # binary alone is evaluation now: .24 + .245/2 + .245 of the weight .24 + .49
    (("assess",), "composite_partial", 0.6075 / 0.73),
    (("prefer", "draft"), "composite_partial", 0.5),
    (("reflect",), "composite_partial", 0.5),  # .135/.27
    (("draft", "assess_hp"), "not_scored", 0.0),
])  # fmt: skip
def test_the_total_of_a_subset_of_stages_is_partial(
    stages: tuple[Stage, ...], name: str, want: float
) -> None:
    episode = played(Settings(stages=stages))
    assert episode.total_name == name
    assert episode.total == pytest.approx(want, abs=1e-12)
    assert {step.request.stage for step in episode.steps} == set(stages)
    scores = read_back(example(), episode.result())
    assert (scores.get(name) or 0) / 100 == pytest.approx(want, abs=1e-12)


def test_a_reply_after_the_end_is_refused_and_changes_nothing() -> None:
    episode = played()
    for late in ("yes", REPLIES[-1]):
        with pytest.raises(EpisodeOverError, match=r"'c1' is over after 5 requests; make a new Episode"):
            episode.submit(late)
    with pytest.raises(EpisodeOverError):
        _ = episode.request
    assert len(episode.steps) == 5
    assert episode.total == pytest.approx(0.68125, abs=1e-12)


@pytest.mark.parametrize(("text", "reason"), sorted(UNREADABLE.items()))
@pytest.mark.parametrize("stage", ["assess", "prefer", "reflect"])
def test_an_unreadable_reply_scores_zero_and_says_why(stage: Stage, text: str, reason: str) -> None:
    if stage == "prefer" and reason == "unparsed:no_fields":
        text = '{"emotions": []}'
    step = Episode(example(), Settings(stages=(stage,))).submit(text)
    assert isinstance(step.outcome, Unparsed)
    assert step.status == step.score.reason == reason
    assert (step.score.value, step.reward, step.reply) == (0.0, 0.0, text)
    assert step.score.weight == pytest.approx(1.0)
    assert step.score.parts
    assert set(step.score.parts.values()) == {0.0}


def test_nothing_annotated_is_unscored_not_zero() -> None:
    about = unannotated()
    episode = play(about, gold(about))
    assert len(episode.steps) == 5  # draft and assess twice, reflect; nothing to re-ask or compare
    assert {step.score.value for step in episode.steps} == {None}
    assert {step.status for step in episode.steps} == {"ok"}
    assert episode.total == 0.0
    assert read_back(about, episode.result())["composite_strict"] is None


@pytest.mark.parametrize("asked", STAGES)
@pytest.mark.parametrize("given", STAGES)
def test_a_typed_reply_of_another_stage_is_a_bug_of_the_caller(asked: Stage, given: Stage) -> None:
    episode = Episode(example(), Settings(stages=(asked,)))
    reply = PREDICTION_CLASSES[given]
    if asked == given:
        assert episode.submit(reply).status == "ok"
        return
    with pytest.raises(TypeError, match=asked):
        episode.submit(reply)
    assert not episode.steps


few = settings(max_examples=20, deadline=None)
some = settings(max_examples=25, deadline=None)
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


@pytest.mark.slow
@some
@given(played=PLAYED)
def test_the_return_of_every_reward_follows_from_the_record(played: Played) -> None:
    for name, spec in SPECS.items():
        if spec.floor is not None:
            continue  # each request has its floor: the return is no function of the parts' means
        episode = play(*played, reward=spec)
        said, warnings = read_record(episode.result(), played[0])
        assert warnings == ()
        near = pytest.approx(total_of(played[0], said, spec), abs=1e-11 if spec.baselines else EXACT)
        assert episode.total == near, name
        assert sum(step.reward for step in episode.steps) == near, name


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
    if "" not in {one.outcome.text.strip() for one in typed.steps if isinstance(one.outcome, Draft)}:
        # an empty draft can be read, but is no reply as text
        assert read_back(played[0], typed.result()) == read_back(played[0], written.result())


@some
@given(about=conversations().filter(can_be_said), asked=SETTINGS, named=st.sampled_from(list(SPECS)))
def test_the_oracle_earns_one_wherever_anything_is_annotated(
    about: Conversation, asked: Settings, named: str
) -> None:
    assume(named != "draft_binary_alignment_read")  # a reader decides, whom not every draft convinces
    # a change from ratings that are not there cannot be said, and this part needs none of them
    assume(named != "panas_item_normalized" or asked.panas_strategy == "absolute")
    for spec in (RewardSpec.preset("composite"), SPECS[named]):
        played = rollout(about, builtin_policy("oracle", [about]), asked, reward=spec)
        values = [step.score.value for step in played.steps if step.score.value is not None]
        assert values == pytest.approx([1.0] * len(values), abs=EXACT)
        assert played.total == pytest.approx(1.0 if values else 0.0, abs=EXACT)
        assert played.parse_rate == 1


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
