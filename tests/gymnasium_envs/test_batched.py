"""Answers as numbers, and scoring many at once: what the engine pays, part by part."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversation, load
from attune_data.affect import EMOTIONS, SIMILARITY
from attune_data.constants import BINARY_IDS, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_data.errors import SettingsError
from attune_data.simulate import simulate
from attune_episodes import Settings, plan
from attune_episodes.gymnasium_envs.features import NUMERIC_STAGES
from attune_episodes.gymnasium_envs.features_pool import shown
from attune_rewards import Assess, Draft, Prefer, Reflect, RewardSpec, Tag
from attune_rewards.batched import COLUMNS, BatchedScorer, Place
from attune_rewards.coded import FIELDS_OF, LAYOUT, PICKS, VALUES, WIDTH, asked, coded, option_number, typed
from attune_rewards.reward import scored_requests
from attune_rewards.truth import truth_of
from tests.rewards.builders import comparison, conversation, judgement, panas, summing, turn, wide
from tests.rewards.strategies import conversations

SETTINGS = Settings(stages=NUMERIC_STAGES)
SPECS = {
    "composite+format": RewardSpec.preset("composite").with_format(0.2),
    "skill": RewardSpec.preset("skill"),
    "behaviour": RewardSpec.preset("behaviour"),
}


def places_of(about: Conversation, spec: RewardSpec) -> list[Place]:
    truth, scored = truth_of(about), scored_requests(about, spec, SETTINGS.stages)
    return [
        Place(r.stage, truth, truth.turn(r.turn) if r.turn is not None else None,
              scored.get((r.stage, r.turn)), shown(r))
        for r in plan(about, SETTINGS)
    ]  # fmt: skip


def drawn(generator: np.random.Generator, number: int) -> Any:
    """Answers of every density, from all fields given to none."""
    answers = (generator.random((number, WIDTH)) * VALUES).astype(np.int8)
    density = generator.random((number, 1)) ** generator.choice([0, 1, 4], (number, 1))
    return answers * (generator.random((number, WIDTH)) < density)


def check(data: list[Conversation], spec: RewardSpec, seed: int, number: int) -> None:
    """Holds a batch against the engine, one by one."""
    places = [place for one in data for place in places_of(one, spec)]
    generator = np.random.default_rng(seed)
    rows, answers = generator.integers(len(places) + 1, size=number), drawn(generator, number)
    scorer = BatchedScorer(places)
    rewards, scores, scored = scorer.score(rows, answers)
    assert rewards.shape == (number,)
    assert scores.shape == scored.shape == (number, len(COLUMNS))
    for i, row in enumerate(rows):
        if row == len(places) or (place := places[row]).scored is None:
            assert rewards[i] == 0
            assert not scored[i].any()
            assert not scores[i].any()
            assert scorer.weights[row] == 0
            continue
        questions = place.turn.applicable if place.turn else ()
        wanted = place.scored.score(typed(place.stage, answers[i], questions, place.shown))
        assert rewards[i] == pytest.approx(wanted.reward, abs=1e-9, rel=0)
        assert scorer.weights[row] == pytest.approx(wanted.weight, abs=1e-12)
        found = {name: scores[i, k] for k, name in enumerate(COLUMNS) if scored[i, k]}
        assert found == pytest.approx(dict(wanted.parts), abs=1e-9, rel=0)


# --- the batch against the engine ----------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(conversations(), st.sampled_from(sorted(SPECS)), st.integers(0, 2**32))
def test_a_batch_pays_what_the_engine_pays(about: Conversation, spec: str, seed: int) -> None:
    check([about], SPECS[spec], seed, 40)


@pytest.mark.parametrize("spec", sorted(SPECS))
def test_a_batch_pays_what_the_engine_pays_on_the_sample_and_on_simulated_people(spec: str) -> None:
    check([*load("sample"), *simulate(12, seed=3)], SPECS[spec], 0, 3000)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 6, 7, 12, 20])
def test_tags_in_any_number_are_matched_as_the_engine_matches_them(number: int) -> None:
    generator = np.random.default_rng(number)
    names = [[str(name) for name in generator.permutation(EMOTIONS)[:number]] for _ in range(4)]
    turns = [turn(i + 1, tags=[Tag(name, 3) for name in listed]) for i, listed in enumerate(names)]
    check([conversation(*turns)], SPECS["composite+format"], number, 300)


def test_doubled_tags_and_questions_count_as_often_as_they_stand() -> None:
    tags = [Tag("Upset", 3), Tag("Upset", 5), Tag("Proud", 2)]
    questions = [judgement("B1", "yes", "no"), judgement("B1", "no", "no"), judgement("B2", "yes", "yes")]
    check([conversation(turn(tags=tags, judgements=questions))], SPECS["composite+format"], 0, 500)


def test_comparisons_beyond_the_last_pick_stay_unanswered() -> None:
    many = [comparison(winner="A", question=f"PW{i % 16 + 1}") for i in range(PICKS + 4)]
    about = conversation(turn(comparisons=many))
    (place,) = (place for place in places_of(about, SPECS["composite+format"]) if place.stage == "prefer")
    right = coded(Prefer(dict.fromkeys(range(len(many)), "A")), place.shown)
    _, scores, _ = BatchedScorer([place]).score(np.array([0]), right[None])
    assert scores[0, COLUMNS.index("pairwise")] == PICKS / (PICKS + 4)
    check([about], SPECS["composite+format"], 0, 200)


ASKED = (("B1", "yes", "no"), ("B2", "no", "na"), ("B3", "yes", "na"))


def test_worked_values() -> None:
    about = conversation(
        turn(
            tags=[Tag("Distressed", 6)],
            judgements=[judgement(*said) for said in ASKED],
            comparisons=[comparison(winner="A"), comparison(winner="B"), comparison(winner=None)],
        ),
        pre=panas(summing(30, 20)),
        post=panas(summing(40, 20)),
        questions=wide([Q1_OPTIONS[0], "a goal of my own"], Q2_OPTIONS[1], Q3_OPTIONS[2],
                       branches={"perceiving": 5}),
    )  # fmt: skip
    places = places_of(about, SPECS["composite+format"])
    assert [place.stage for place in places] == ["assess", "prefer", "reflect"]
    answers = np.zeros((3, WIDTH), np.int8)
    answers[0, LAYOUT["emotions"].start + EMOTIONS.index("Upset")] = 7
    answers[0, LAYOUT["observed"].start + BINARY_IDS.index("B1")] = 2
    answers[0, LAYOUT["observed"].start + BINARY_IDS.index("B2")] = 2
    answers[0, LAYOUT["preferred"].start + BINARY_IDS.index("B1")] = 1
    answers[1] = coded(Prefer({0: "A", 1: "A"}), places[1].shown)
    answers[2] = coded(Reflect(panas=summing(36, 20), q1=Q1_OPTIONS[:2], q2=Q2_OPTIONS[1], q3=Q3_OPTIONS[0],
                               branches={"perceiving": 2}))  # fmt: skip
    _, scores, _ = BatchedScorer(places).score(np.arange(3), answers)
    part = {name: scores[:, k] for k, name in enumerate(COLUMNS)}
    assert part["emotion_f1"][0] == 0
    assert part["emotion_va"][0] == SIMILARITY["Distressed", "Upset"] == 0.9233
    assert part["binary_om"][0] == pytest.approx(1 / 3)  # B1 right, B2 wrong, B3 not answered
    assert part["binary_hp"][0] == 1
    assert part["pairwise"][1] == 1 / 2  # A in both, and the winners are A and B
    assert part["panas_pa"][2] == pytest.approx(((10 - 4) / 10 + 1) / 2)
    assert part["q1"][2] == pytest.approx(1 / 3)  # one shared; one goal of one's own, one wrong option
    assert part["q2"][2] == 1
    assert part["q3"][2] == 0
    assert part["branch_perceiving"][2] == pytest.approx(1 - 3 / 6)
    assert part["format"][0] == pytest.approx((1 + 2 + 1) / 7)


@pytest.mark.parametrize("true", [("Upset",), ("Upset", "Proud"), ("Upset", "Guilty", "Afraid")])
@pytest.mark.parametrize("given", [("Upset",), ("Ashamed", "Guilty"), ("Proud", "Upset", "Jittery", "Alert")])
def test_the_matching_is_the_best_of_all(true: tuple[str, ...], given: tuple[str, ...]) -> None:
    long, short = sorted((true, given), key=len, reverse=True)
    best = max(sum(SIMILARITY[pair] for pair in zip(p, short, strict=False)) for p in permutations(long))
    about = conversation(turn(tags=[Tag(name, 3) for name in true]))
    answer = coded(Assess(tuple(Tag(name, 3) for name in given)))
    _, scores, _ = BatchedScorer(places_of(about, SPECS["skill"])).score(np.array([0]), answer[None])
    assert scores[0, COLUMNS.index("emotion_va")] == pytest.approx(best / len(long), abs=1e-12)


def test_no_answer_and_the_answer_none_are_two_things() -> None:
    about = conversation(turn(tags=[]), questions=wide(q1=[]))
    scorer = BatchedScorer(places_of(about, SPECS["skill"]))
    silent, none = np.zeros((2, WIDTH), np.int8), np.zeros((2, WIDTH), np.int8)
    none[0, LAYOUT["emotions_none"]] = none[1, LAYOUT["q1_none"]] = 1
    for answers, worth in ((silent, 0.0), (none, 1.0)):
        _, scores, _ = scorer.score(np.arange(2), answers)
        assert scores[0, COLUMNS.index("emotion_f1")] == scores[0, COLUMNS.index("emotion_va")] == worth
        assert scores[1, COLUMNS.index("q1")] == worth


def test_a_part_of_ones_own_is_refused_and_the_way_out_named() -> None:
    spec = RewardSpec.preset("emotion").with_part("mine", "assess", lambda truth, turn, said: 1.0, 0.5)
    with pytest.raises(SettingsError, match=r"'mine'.*vectorization_mode=\"sync\""):
        BatchedScorer(places_of(load("sample")[0], spec))


def test_nothing_to_score_is_no_error() -> None:
    rewards, scores, scored = BatchedScorer([]).score(np.zeros(3, int), np.zeros((3, WIDTH), np.int8))
    assert not rewards.any()
    assert not scores.any()
    assert not scored.any()


# --- answers as numbers --------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(conversations(), st.integers(0, 2**32))
def test_reading_an_answer_and_writing_it_again_changes_nothing_that_is_asked(
    about: Conversation, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    for request in plan(about, SETTINGS):
        answer = drawn(generator, 1)[0] * asked(request.stage, request.questions, len(request.comparisons))
        for none, values in (("emotions_none", "emotions"), ("q1_none", "q1")):
            answer[LAYOUT[none]] &= not answer[LAYOUT[values]].any()
        said = typed(request.stage, answer, request.questions, shown(request))
        assert coded(said, shown(request)).tolist() == answer.tolist()


@pytest.mark.parametrize("stage", NUMERIC_STAGES)
def test_what_is_not_asked_is_ignored(stage: str) -> None:
    (request, *_) = (r for r in plan(load("sample")[0], SETTINGS) if r.stage == stage)
    counted = asked(request.stage, request.questions, len(request.comparisons))
    answer = np.array(VALUES - 1)
    assert 0 < counted.sum() < WIDTH
    full, cut = (
        typed(request.stage, one, request.questions, shown(request)) for one in (answer, answer * counted)
    )
    assert full == cut


def test_predictions_are_written_as_far_as_numbers_reach() -> None:
    said = Assess((Tag("upset"), Tag("Wistful", 3)), {"B1": "yes", "B999": "yes"}, {"B2": "no"})
    answer = coded(said)
    assert answer[LAYOUT["emotions"]].sum() == 4
    assert typed("assess", answer, ("B1", "B2")) == Assess((Tag("Upset", 4),), {"B1": "yes"}, {"B2": "no"})
    assert coded(Reflect(q2="another text")).sum() == 0
    with pytest.raises(TypeError, match="numbers answer assess, prefer, reflect; got Draft"):
        coded(Draft("I hear you."))


def test_the_layout_covers_an_answer_without_gaps() -> None:
    covered = [i for place in LAYOUT.values() for i in range(place.start, place.stop)]
    assert covered == list(range(WIDTH))
    assert WIDTH == 139
    assert {field for fields in FIELDS_OF.values() for field in fields} == set(LAYOUT)
    assert not VALUES.flags.writeable


def test_options_are_found_without_case() -> None:
    assert option_number(Q2_OPTIONS, f" {Q2_OPTIONS[2].upper()} ") == 3
    assert option_number(Q2_OPTIONS, "another") == -1
    assert option_number(Q2_OPTIONS, None) == 0
