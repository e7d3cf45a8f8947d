"""`Episode` step by step: order, rewards worked by hand, names of the total, refusals."""

from __future__ import annotations

from typing import get_args

import pytest

from attune_data import UnknownNameError, load
from attune_data.affect import EMOTIONS
from attune_data.constants import Q2_OPTIONS, Q3_OPTIONS
from attune_episodes import Episode, EpisodeOverError, Settings, Unparsed
from attune_rewards import (
    STAGES,
    Assess,
    AssessHP,
    Draft,
    Prediction,
    Prefer,
    Reflect,
    RewardSpec,
    Stage,
    Tag,
)
from tests.episodes.players import PREDICTION_CLASSES, UNREADABLE, example, play, read_back, unannotated
from tests.rewards.builders import gold, summing

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


def test_an_episode_walks_the_protocol_in_order() -> None:
    episode = Episode(example())
    seen: list[tuple[Stage, int | None, bool]] = []
    for reply in REPLIES:
        assert not episode.done
        request = episode.request
        step = episode.submit(reply)
        assert step.request is request
        seen.append((request.stage, request.turn, step.done))
    assert episode.done
    assert seen == [
        ("draft", 1, False), ("assess", 1, False), ("assess_hp", 1, False), ("prefer", 1, False),
        ("reflect", None, True),
    ]  # fmt: skip


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


def test_the_total_grows_step_by_step() -> None:
    episode = Episode(example())
    totals = []
    for reply in REPLIES:
        episode.submit(reply)
        totals.append(episode.total)
    assert totals == pytest.approx([0.0, 0.42375, 0.42375, 0.54625, 0.68125], abs=1e-12)


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


@pytest.mark.parametrize("reply", ["", "I hear you.", "{"])
@pytest.mark.parametrize("stage", ["draft", "assess_hp"])
def test_stages_without_weight_are_not_scored_whatever_is_said(stage: Stage, reply: str) -> None:
    step = Episode(example(), Settings(stages=(stage,))).submit(reply)
    assert (step.score.value, step.score.reason, step.reward) == (None, "not_scored", 0.0)
    assert dict(step.score.parts) == {}


def test_nothing_annotated_is_unscored_not_zero() -> None:
    about = unannotated()
    episode = play(about, gold(about))
    assert len(episode.steps) == 5  # draft and assess twice, reflect; nothing to re-ask or compare
    assert {step.score.value for step in episode.steps} == {None}
    assert {step.status for step in episode.steps} == {"ok"}
    assert episode.total == 0.0
    assert read_back(about, episode.result())["composite_strict"] is None


def test_unanswered_fields_are_wrong_but_leave_the_rest_alone() -> None:
    episode = Episode(example(), Settings(stages=("assess",)))
    step = episode.submit('{"observed": {"B1": "yes", "B2": "no"}, "preferred": {"B1": "perhaps"}}')
    assert step.status == "ok"
    assert dict(step.score.parts) == {
        "emotion_f1": 0.0, "emotion_va": 0.0, "binary_om": 1.0, "binary_hp": 0.0,
    }  # fmt: skip


def test_panas_changes_are_added_to_the_feelings_before() -> None:
    # items before sum to 30 and 20; +1 on every positive item predicts 40: right
    episode = Episode(example(), Settings(stages=("reflect",), panas_strategy="delta"))
    step = episode.submit(Reflect(panas_change=dict.fromkeys(EMOTIONS, 1)))
    assert step.score.parts["panas_pa"] == 1.0
    post = episode.result()["post_conversation"]
    assert post["predicted_panas_delta"] == dict.fromkeys(EMOTIONS, 1)
    assert post["predicted_post_panas"]["totalPositiveAffect"] == 40


def test_a_preset_that_is_unknown_is_named_with_the_nearest() -> None:
    with pytest.raises(
        UnknownNameError, match="no reward preset named \"composit\"; did you mean 'composite'"
    ):
        Episode(example(), reward="composit")


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


def test_every_stage_has_its_class_of_reply() -> None:
    assert {type(reply) for reply in PREDICTION_CLASSES.values()} == set(get_args(Prediction))


def test_a_reward_of_another_kind_is_refused() -> None:
    for wrong in (3, ["composite"], {"pairwise": 1}, False):
        with pytest.raises(TypeError, match="a RewardSpec or the name of a preset"):
            Episode(load("sample")[0], reward=wrong)  # type: ignore[arg-type]
